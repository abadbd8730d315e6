"""The section with the model itself: type or pick a case, and move prices."""

import base64
import hashlib
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.markup import Html, note, section, tag
from rebelboost.base.text import counted
from rebelboost.estimators.base import encode_table
from rebelboost.exceptions import ExportError
from rebelboost.export import columns_of
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.javascript import as_page_script
from rebelboost.export.sources import source
from rebelboost.report.cases import pick
from rebelboost.report.subject import Subject

PLACE = "rebel-case"
"""Id of the element in which the model is shown."""
MOST_BYTES = 20_000_000
"""Larger models are left out: browsers would be slow."""
N_CASES = 10
"""Maximum number of rows to begin with, in a regression."""


class Live(NamedTuple):
    """A section, and the script that it needs."""

    section: Html
    script: str
    """Empty if the model is left out."""

    @property
    def policy(self) -> str:
        """What the content security policy allows: this script, known by its hash."""
        if not self.script:
            return ""
        digest = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        return f"; script-src 'sha256-{digest}'"

    @property
    def style(self) -> str:
        """Style of the section."""
        return source("page.css") if self.script else ""


def live(subject: Subject) -> Live | None:
    """Return the section; None if there is nothing to try."""
    if subject.is_constant or not hasattr(subject.clf, "model_"):
        return None
    model = subject.clf.model_
    compared = len(model.ensemble.example_rows)
    if compared and not subject.shows_rows:
        return _left_out(
            f"it compares cases with {counted(compared, 'training row')}, and this report shows no rows"
        )
    try:
        evaluator = evaluator_of(model, columns_of(subject.clf.metadata_))
    except ExportError as error:
        return _left_out(str(error).rstrip("."))
    keeps = model.provenance.example_values is not None
    script = as_page_script(evaluator, {"cases": _cases(subject)}, PLACE)
    size = len(script.encode())
    if size > MOST_BYTES:
        return _left_out(f"it takes {size / 1e6:.0f} MB")
    return Live(
        section(
            "Try a case",
            tag("div", note("This part needs JavaScript."), id=PLACE),
            lead=f"The model is in this page ({size / 1e6:.1f} MB), and nothing that you type leaves it. "
            f"{_on_rows(compared, keeps=keeps)}",
        ),
        script,
    )


def _left_out(reason: str) -> Live:
    return Live(section("Try a case", note(f"The model is not in this page: {reason}.")), "")


def _on_rows(compared: int, *, keeps: bool) -> str:
    """Say what the page has of training rows."""
    if not compared:
        return "It has no training rows."
    rows = counted(compared, "training row")
    if keeps:
        return f"It has {rows}, with the values that cases are compared with."
    return f"It has {rows} without values, but these can be computed from the comparisons."


def _cases(subject: Subject) -> list[dict[str, Any]]:
    """Rows to begin with: those whose decisions are explained."""
    if not subject.shows_rows:
        return []
    if subject.predicts_numbers:
        rows = list(range(min(N_CASES, len(subject.y))))
        names = [f"row {subject.row_name(row)}" for row in rows]
    else:
        picked = pick(subject)
        rows = [each.row for each in picked]
        names = [
            f"row {subject.row_name(each.row)}, which is {subject.classes[each.true]}"
            for each in picked
        ]
    if not rows:
        return []
    values = encode_table(subject.clf, subject.rows(np.array(rows)))
    return [
        {"name": name, "x": [None if np.isnan(v) else v for v in x]}
        for name, x in zip(names, values.tolist(), strict=True)
    ]
