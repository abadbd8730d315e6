"""The section on mistakes: confusion matrix, most expensive mistakes, results by class.

With too many classes for a table, the confusion matrix is a heat map.
"""

from typing import Any

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.findings import as_html
from rebelboost.base.markup import Html, join_html, more, name, note, section, table, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount, percent
from rebelboost.costs.report import MOST_TABLED, Cell, CostReport
from rebelboost.evaluation.result import Evaluation
from rebelboost.report.ranking import saving
from rebelboost.report.subject import Subject

MOST_LISTED = 15
"""Maximum number of kinds of mistakes listed if there is no confusion matrix."""
MOST_UNFOLDED = 12
"""Tables of more classes are collapsed."""
MOST_LABELLED = 40
"""Maximum number of classes for which the rows and columns are labelled."""
SIDE = 560.0
"""Maximum width of the map, in pixels."""
LARGEST_CELL, FEWEST_FOR_TEXT = 27.0, 15.0
"""Maximum size of a cell, and minimum size of a cell with a number, in pixels."""
LONGEST_LABEL = 12


def mistakes(subject: Subject) -> Html | None:
    """Return the section on mistakes."""
    found = subject.decisions
    if found is None or len(found.confusion.classes) < 2:
        return None
    few = len(found.confusion.decisions) <= MOST_TABLED
    return section(
        "Which mistakes does it make?",
        as_html(found.confusion.document(with_costs=found.has_costs)),
        _dearest(found),
        None if few else _map(found),
        _by_class(found),
        as_html(found.prices()),
        saving(subject),
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


# ---- the heat map


def _wrong_only(cells: Floats) -> Floats:
    """A confusion matrix with correct decisions set to 0."""
    return np.where(np.equal(*np.indices(cells.shape)), 0.0, cells)


def _map(found: Evaluation) -> Html:
    """Draw the map; darker cells have more mistakes or, with unequal costs, more expensive ones."""
    confusion = found.confusion
    wrong = _wrong_only(confusion.money if found.has_costs else confusion.counts)
    n_decisions = len(confusion.decisions)
    names = [*map(printed, confusion.decisions)]
    labelled = n_decisions <= MOST_LABELLED
    margin = 8.0 + (6.2 * min(LONGEST_LABEL, max(map(len, names))) if labelled else 0.0)
    side = min(LARGEST_CELL, (SIDE - margin) / n_decisions)
    end, right = margin + side * len(confusion.classes), margin + side * n_decisions
    drawing = tag(
        "svg",
        tag("rect", x=margin, y=margin, width=right - margin, height=end - margin, class_="plain"),
        *_squares(confusion, wrong, margin, side),
        *(_sides(names, len(confusion.classes), margin, side) if labelled else ()),
        viewBox=f"0 0 {right + 2:.0f} {end + 2:.0f}",
        class_="chart",
        style=f"max-width:{1.1 * right:.0f}px",
        role="img",
        aria_label="Confusion matrix as a heat map",
    )
    what = "cost" if found.has_costs else "number"
    told = (
        f"Rows: true classes. Columns: decisions. Red: mistakes; darker means a higher {what}. "
        "Blue: correct decisions." + (" Numbers: counts." if side >= FEWEST_FOR_TEXT else "")
    )
    figure = tag("figure", tag("figcaption", told), drawing, class_="map")
    return join_html([tag("h3", "Confusion matrix"), figure])


def _squares(confusion: CostReport, wrong: Floats, margin: float, side: float) -> list[Html]:
    counts, most = confusion.counts, float(wrong.max()) or 1.0
    squares = []
    for y, k in np.argwhere(counts > 0).tolist():
        # The square root keeps rare mistakes visible.
        strength = counts[y, k] / counts[y].sum() if y == k else np.sqrt(wrong[y, k] / most)
        true, decided = printed(confusion.classes[y]), printed(confusion.decisions[k])
        square = tag(
            "rect",
            tag("title", f"{true} decided as {decided}: {amount(float(counts[y, k]))}"),
            x=f"{margin + k * side:.1f}",
            y=f"{margin + y * side:.1f}",
            width=f"{side:.1f}",
            height=f"{side:.1f}",
            fill_opacity=f"{0.1 + 0.85 * strength:.2f}",
            class_="cell hit" if y == k else "cell",
        )
        squares.append(square)
        if side >= FEWEST_FOR_TEXT and y != k:
            across, down = margin + (k + 0.5) * side, margin + (y + 0.5) * side + 3
            count = f"{counts[y, k]:.0f}"
            squares.append(
                tag(
                    "text",
                    count,
                    x=f"{across:.1f}",
                    y=f"{down:.1f}",
                    text_anchor="middle",
                    class_="count",
                )
            )
    return squares


def _sides(names: list[str], n_rows: int, margin: float, side: float) -> list[Html]:
    labels = []
    for i, text in enumerate(names):
        shown = text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"
        at, near = margin + (i + 0.5) * side + 3, margin - 4
        upright = f"translate({at:.1f} {near:.1f}) rotate(-90)"
        labels.append(tag("text", shown, transform=upright))
        if i < n_rows:
            labels.append(tag("text", shown, x=f"{near:.1f}", y=f"{at:.1f}", text_anchor="end"))
    return labels
