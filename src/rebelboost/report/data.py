"""The section on the data: classes, columns, missing values, ignored columns."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.base.markup import (
    Html,
    bar,
    join_html,
    more,
    name,
    note,
    quoted,
    section,
    table,
    tag,
)
from rebelboost.base.names import printed
from rebelboost.base.text import counted, number, percent
from rebelboost.estimators.base import encode_table
from rebelboost.report.subject import Subject

MOST_UNFOLDED = 20
"""Tables of more columns or classes are collapsed."""
MOST_COLUMNS = 1000
"""Maximum number of columns listed."""


def facts(subject: Subject) -> Html:
    """Return a one-line summary of the data, shown below the title."""
    parts: list[Any] = []
    if subject.data.get("source"):
        parts.append(name(subject.data["source"]))
    if subject.data.get("target"):
        parts.append(join_html(["target ", quoted(subject.data["target"])]))
    parts.append(counted(len(subject.y), "training row" if subject.is_of_training else "test row"))
    if subject.is_precomputed:
        parts.append("precomputed distances")
    else:
        kinds = _kinds(subject)
        told = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
        columns = counted(subject.clf.n_features_in_, "column")
        parts.append(f"{columns} ({told})" if len(kinds) > 1 else columns)
    if not subject.predicts_numbers:
        parts.append(counted(len(subject.classes), "class"))
    return tag("p", join_html(parts, " · "), class_="facts")


def _kinds(subject: Subject) -> dict[str, int]:
    n_categorical = int(subject.clf.model_.encoder.categorical.sum())
    kinds = {"numbers": subject.clf.n_features_in_ - n_categorical, "categories": n_categorical}
    return {kind: n for kind, n in kinds.items() if n}


def data(subject: Subject) -> Html:
    """Return the section on the data."""
    whose = (
        "The training table, as it was interpreted."
        if subject.is_of_training
        else "The test table, as it was interpreted."
    )
    return section(
        "Data",
        _numbers(subject) if subject.predicts_numbers else _classes(subject),
        None if subject.is_precomputed else _columns(subject),
        _ignored(subject.data),
        _notes(subject.data),
        lead=whose,
    )


def _classes(subject: Subject) -> Html:
    by_name = Counter(printed(label) for label in subject.y.tolist())
    listed = subject.classes + sorted(set(by_name) - set(subject.classes))
    trained = dict(zip(subject.classes, _trained(subject), strict=True))
    most = max(by_name.values())

    def row(each: str) -> list[Any]:
        n = by_name.get(each, 0)
        told = [name(each), f"{n:,}", percent(n / len(subject.y)), bar(n / most)]
        return told if subject.is_of_training else [*told, percent(trained.get(each, 0.0))]

    head = ["class", "rows", "share", ""]
    if not subject.is_of_training:
        head.append("share in training")
    body = table(head, [row(each) for each in listed])
    if len(listed) > MOST_UNFOLDED:
        told = f"Each class has between {min(by_name.values()):,} and {most:,} rows."
        return join_html(
            [tag("h3", f"{len(listed)} classes"), note(told), more("All classes", body)]
        )
    return join_html([tag("h3", "Classes"), body])


def _numbers(subject: Subject) -> Html:
    target = subject.data.get("target")
    told = ["Target: ", name(target), ", "] if target else ["Targets "]
    _, spread = _described(np.asarray(subject.y, dtype=np.float64), None)
    return note(*told, spread, ".")


def _trained(subject: Subject) -> list[float]:
    mass = np.asarray(subject.clf.class_weight_, dtype=np.float64)
    shares: list[float] = (mass / mass.sum()).tolist()
    return shares


def _columns(subject: Subject) -> Html:
    values, n_columns = encode_table(subject.clf, subject.X), len(subject.columns)
    missing = np.isnan(values).mean(axis=0)
    some = int((missing > 0).sum())
    share = percent(float(np.isnan(values).mean()))
    told = f"{counted(n_columns, 'column')}. " + (
        f"{counted(some, 'column')} with missing values ({share} of all cells)."
        if some
        else "No missing values."
    )
    levels = subject.clf.model_.encoder.levels
    head = ["column", "kind", "values", "missing"][: 4 if some else 3]

    def row(f: int) -> list[Any]:
        told = [name(subject.columns[f]), *_described(values[:, f], levels.get(f))]
        return [*told, percent(missing[f]) if missing[f] else ""][: len(head)]

    body = table(head, [row(f) for f in range(min(n_columns, MOST_COLUMNS))], left=3)
    if n_columns > MOST_COLUMNS:
        body = join_html([body, note(f"… and {n_columns - MOST_COLUMNS:,} more.")])
    if n_columns > MOST_UNFOLDED:
        body = more(
            f"All {n_columns:,} columns"
            if n_columns <= MOST_COLUMNS
            else f"The first {MOST_COLUMNS:,} columns",
            body,
        )
    return join_html([tag("h3", "Columns"), note(told), body])


def _described(column: Values, levels: tuple[Any, ...] | None) -> tuple[str, Any]:
    there = column[~np.isnan(column)]
    if len(there) == 0:
        return ("category" if levels is not None else "number"), "all missing"
    if levels is None:
        low, high = float(there.min()), float(there.max())
        if np.all((there == low) | (there == high)):
            return "number", " or ".join(number(value, 4) for value in sorted({low, high}))
        middle = number(float(np.median(there)), 4)
        return "number", f"{number(low, 4)} to {number(high, 4)}, median {middle}"
    counts = np.bincount(there.astype(np.int64), minlength=len(levels))
    common = [name(printed(levels[i]), 20) for i in np.argsort(-counts, kind="stable")[:3].tolist()]
    rest = f" and {len(levels) - 3:,} more" if len(levels) > 3 else ""
    return "category", join_html([join_html(common, ", "), rest])


def _ignored(told: Mapping[str, Any]) -> Html | None:
    ignored = told.get("ignored") or {}
    if not ignored:
        return None
    rows = [[name(column), str(reason)] for column, reason in list(ignored.items())[:MOST_COLUMNS]]
    return join_html([tag("h3", "Ignored columns"), table(["column", "reason"], rows, left=2)])


def _notes(told: Mapping[str, Any]) -> Html | None:
    notes = list(told.get("notes") or ())
    if told.get("n_unlabelled"):
        notes.append(f"{told['n_unlabelled']:,} rows without a class were skipped.")
    if told.get("form"):
        notes.insert(0, f"File format: {told['form']}.")
    return tag("ul", *(tag("li", each) for each in notes), class_="note") if notes else None
