"""The candidates of a model selection as an HTML table, for reports and notebooks."""

from typing import TYPE_CHECKING, Any

from rebelboost.base.markup import Html, name, table, tag
from rebelboost.base.text import amount, percent, whole_percent

if TYPE_CHECKING:
    from rebelboost.selection.race import Selection
    from rebelboost.selection.runner import Standing

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
    before = [each for each in found.standings if found.is_of_fewer_rows(each)]
    ranked = sorted(
        (each for each in found.standings if each not in before),
        key=lambda each: (-each.share, not found.is_comparable(each), each.cost),
    )

    def row(each: "Standing", *, has_figures: bool) -> list[Any]:
        return [
            name(each.name),
            whole_percent(each.share) if each.share else "–",
            shown(each.cost) if has_figures else "dropped early",
            *([f"{each.log_loss:.3f}" if has_figures else ""] if of_classes else []),
            f"{each.rounds:,}" if has_figures else "",
        ]

    rows = [row(each, has_figures=found.is_comparable(each)) for each in ranked]
    rows.append([tag("strong", "weighted average"), "", tag("strong", shown(found.cost)), "", ""])
    if before:
        rows.append([tag("em", "compared before, on fewer rows"), "", "", "", ""])
        rows += [row(each, has_figures=True) for each in sorted(before, key=lambda s: s.cost)]
    if not of_classes:
        return table(["candidate", "weight", found.measure, "rounds"], [row[:4] for row in rows])
    what = "error" if found.percent else "mean cost"
    return table(["candidate", "weight", what, "log-loss", "rounds"], rows)
