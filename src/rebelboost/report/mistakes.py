"""The section on mistakes: confusion matrix, most expensive mistakes, results by class."""

from typing import Any

import numpy as np

from rebelboost.base.markup import Html, join_html, more, name, note, section, table, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount, percent
from rebelboost.costs.report import MOST_TABLED, Cell
from rebelboost.evaluation.cards import confusion_table
from rebelboost.evaluation.result import Evaluation
from rebelboost.report.mistakes_map import mistakes_map
from rebelboost.report.subject import Subject

MOST_LISTED = 15
"""Maximum number of kinds of mistakes listed if there is no confusion matrix."""
MOST_UNFOLDED = 12
"""Tables of more classes are collapsed."""


def mistakes(subject: Subject) -> Html | None:
    """Return the section on mistakes."""
    found = subject.decisions
    if found is None or len(found.confusion.classes) < 2:
        return None
    few = len(found.confusion.decisions) <= MOST_TABLED
    return section(
        "Which mistakes does it make?",
        confusion_table(found) if few else None,
        _dearest(found),
        None if few else mistakes_map(found),
        _by_class(found),
        lead=_in_all(found),
    )


def _in_all(found: Evaluation) -> str:
    confusion = found.confusion
    n_classes = len(confusion.classes)
    wrong = confusion.counts[:, :n_classes].sum() - np.trace(confusion.counts[:, :n_classes])
    text = f"{amount(float(wrong))} of {amount(confusion.n_decisions)} decisions are wrong."
    if not found.has_costs:
        return f"{text} All mistakes cost the same."
    return f"{text} The total cost is {amount(confusion.total)}."


def _dearest(found: Evaluation) -> Html | None:
    cells = found.confusion.worst(
        MOST_LISTED if len(found.confusion.decisions) > MOST_TABLED else 5
    )
    if not cells:
        return None
    of_class = dict(zip(found.confusion.classes, found.confusion.counts.sum(axis=1), strict=True))
    total = found.confusion.total

    def row(cell: Cell) -> list[Any]:
        counted = [
            name(printed(cell.true)),
            name(printed(cell.decided)),
            amount(cell.count),
            percent(cell.count / of_class[cell.true]),
        ]
        if not found.has_costs:
            return counted
        return [*counted, amount(cell.cost), amount(cell.total), percent(cell.total / total)]

    head = ["true class", "decided as", "count", "share of class"]
    if found.has_costs:
        head += ["cost each", "total cost", "share of total"]
    kinds = "expensive" if found.has_costs else "frequent"
    return join_html(
        [tag("h3", f"Most {kinds} mistakes"), table(head, [row(c) for c in cells], left=2)]
    )


def _by_class(found: Evaluation) -> Html:
    confusion = found.confusion
    n_classes = len(confusion.classes)
    of_class, decided = confusion.counts.sum(axis=1), confusion.counts.sum(axis=0)
    right = np.diagonal(confusion.counts[:, :n_classes])

    def row(y: int) -> list[Any]:
        recalled = found.recalls[y]
        trusted = right[y] / decided[y] if decided[y] else float("nan")
        cells = [
            name(printed(confusion.classes[y])),
            amount(float(of_class[y])),
            percent(recalled.value),
            f"{percent(recalled.low)} – {percent(recalled.high)}" if of_class[y] else "",
            percent(trusted),
        ]
        paid = float(confusion.money[y].sum() / of_class[y]) if of_class[y] else float("nan")
        return (
            [*cells, amount(float(f"{paid:.3g}")) if of_class[y] else "–"]
            if found.has_costs
            else cells
        )

    head = ["class", "samples", "recall", "95 % interval", "precision"]
    if found.has_costs:
        head.append("mean cost")
    body = table(head, [row(y) for y in range(n_classes)])
    terms = note(
        "Recall: share of the class that was recognised. Precision: share of correct decisions among "
        "the decisions for the class."
    )
    if n_classes > MOST_UNFOLDED:
        return more(f"Results by class ({n_classes})", terms, body)
    return join_html([tag("h3", "Results by class"), terms, body])
