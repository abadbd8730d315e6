"""The candidates of a model selection as an HTML table, for reports and notebooks."""

from typing import TYPE_CHECKING

from rebelboost.base.markup import Html, name, table, tag
from rebelboost.base.text import amount, percent, whole_percent

if TYPE_CHECKING:
    from rebelboost.selection.race import Selection

HOW_SELECTED = (
    "Each candidate was fitted without a part of the samples and evaluated on that part (cross-validation). "
    "The model is a weighted average of the best. Candidates that were clearly worse on the first parts were "
    "dropped early, and have no figures that could be compared."
)


def standings_table(found: "Selection") -> Html:
    """Return the results of the candidates, those with the highest weight first."""

    def shown(cost: float) -> str:
        return percent(cost) if found.percent else amount(float(f"{cost:.3g}"))

    of_classes = found.measure == "cost"
    ranked = sorted(
        found.standings, key=lambda each: (-each.share, not found.is_comparable(each), each.cost)
    )
    rows = [
        [
            name(each.name),
            whole_percent(each.share) if each.share else "–",
            shown(each.cost) if found.is_comparable(each) else "dropped early",
            *([f"{each.log_loss:.3f}" if found.is_comparable(each) else ""] if of_classes else []),
            f"{each.rounds:,}" if found.is_comparable(each) else "",
        ]
        for each in ranked
    ]
    rows.append([tag("strong", "weighted average"), "", tag("strong", shown(found.cost)), "", ""])
    if not of_classes:
        return table(["candidate", "weight", found.measure, "rounds"], [row[:4] for row in rows])
    what = "error" if found.percent else "mean cost"
    return table(["candidate", "weight", what, "log-loss", "rounds"], rows)
