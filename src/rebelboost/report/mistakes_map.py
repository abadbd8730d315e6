"""A heat map of the confusion matrix, for models with too many classes for a table."""

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.markup import Html, join_html, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount
from rebelboost.costs.report import CostReport
from rebelboost.evaluation.cards import wrong_only
from rebelboost.evaluation.result import Evaluation

MOST_LABELLED = 40
"""Maximum number of classes for which the rows and columns are labelled."""
SIDE = 560.0
"""Maximum width of the map, in pixels."""
LARGEST_CELL, FEWEST_FOR_TEXT = 27.0, 15.0
"""Maximum size of a cell, and minimum size of a cell with a number, in pixels."""
LONGEST_LABEL = 12


def mistakes_map(found: Evaluation) -> Html:
    """Draw the map; darker cells have more mistakes or, with unequal costs, more expensive ones."""
    confusion = found.confusion
    wrong = wrong_only(confusion.money if found.has_costs else confusion.counts)
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
