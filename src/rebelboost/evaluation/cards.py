"""An evaluation as HTML tables, for reports and notebooks."""

from typing import TYPE_CHECKING

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.markup import Html, join_html, name, note, table, tag
from rebelboost.base.names import printed
from rebelboost.base.text import amount
from rebelboost.costs.report import MOST_TABLED

if TYPE_CHECKING:
    from rebelboost.evaluation.result import Evaluation


def wrong_only(cells: Floats) -> Floats:
    """Return a confusion matrix with correct decisions set to 0."""
    return np.where(np.equal(*np.indices(cells.shape)), 0.0, cells)


def confusion_table(found: "Evaluation") -> Html:
    """Return the confusion matrix in counts and, if costs differ, in costs."""
    confusion = found.confusion
    counts, money = confusion.counts, confusion.money if found.has_costs else confusion.counts
    wrong = wrong_only(money)
    most = float(wrong.max()) or 1.0

    def cell(y: int, k: int) -> Html:
        paid = found.has_costs and y != k
        price = tag("small", amount(float(money[y, k]))) if paid and counts[y, k] else None
        tint = f"background:rgba(var(--wrong),{0.55 * wrong[y, k] / most:.2f})"
        style = tint if wrong[y, k] > 0 else None
        return tag(
            "td", amount(float(counts[y, k])), price, class_="hit" if y == k else None, style=style
        )

    head = [
        tag("th", "true ↓ · decided →", class_="corner"),
        *(name(printed(d)) for d in confusion.decisions),
    ]
    rows = [
        [tag("th", name(printed(c))), *(cell(y, k) for k in range(len(confusion.decisions)))]
        for y, c in enumerate(confusion.classes)
    ]
    below = "Small figures: total cost of these decisions." if found.has_costs else None
    return join_html([table(head, rows, class_="matrix"), note(below) if below else None])


def figures_table(found: "Evaluation") -> Html:
    """Return the figures that are printed, as a table."""
    head, *rows = found.figures()

    def first(text: str) -> Html:
        kind = "quiet inset" if text.startswith(" ") else None
        return tag("span", text.strip(), class_=kind)

    return table(head, [[first(row[0]), *row[1:]] for row in rows])


def evaluation_parts(found: "Evaluation", source: str) -> list[Html]:
    """Return the contents of a card."""
    small = len(found.confusion.decisions) <= MOST_TABLED
    parts = [
        note(f"{found.n:,} samples: {source}"),
        figures_table(found),
        confusion_table(found) if small else None,
        note(found.about_unknown()) if found.unknown else None,
    ]
    return [part for part in parts if part is not None]
