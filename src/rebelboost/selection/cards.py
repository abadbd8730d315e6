"""The candidates of a model selection as a document, from which text and HTML are rendered."""

from typing import TYPE_CHECKING

from rebelboost.base.findings import (
    IN_TEXT,
    ON_PAGE,
    Block,
    Cell,
    Column,
    Document,
    Heading,
    Only,
    Sentence,
    Table,
)
from rebelboost.base.text import amount, percent, whole_percent

if TYPE_CHECKING:
    from rebelboost.selection.race import Selection
    from rebelboost.selection.result import Standing

HOW_SELECTED = (
    "Each candidate was fitted without a part of the samples and evaluated on that part (cross-validation). "
    "The model is a weighted average of the best. Candidates that were clearly worse on the first parts were "
    "dropped early, and have no figures that could be compared."
)


def selection_document(found: "Selection") -> Document:
    """The composition of the model in a sentence; on a page, a table of the candidates."""
    page: list[Block] = [
        Heading("Model selection"),
        Sentence(HOW_SELECTED, "note"),
        standings_table(found),
    ]
    return [Only(IN_TEXT, [Sentence(_composition(found))]), Only(ON_PAGE, page)]


def _composition(found: "Selection") -> str:
    chosen = [each for each in _ranked(found) if each.share > 0]
    others = sorted((s for s in found.standings if s.share == 0), key=lambda s: s.cost)
    fewer = [s for s in others if found.is_of_fewer_rows(s)]
    compared = [s for s in others if s not in fewer and found.is_comparable(s)]
    early = [s.name for s in others if s not in fewer and s not in compared]
    if len(chosen) == 1:
        text = f"{chosen[0].name}: {found.shown(chosen[0].cost)}"
    else:
        parts = [f"{whole_percent(s.share)} {s.name} ({found.shown(s.cost)} alone)" for s in chosen]
        text = f"{' + '.join(parts)}: {found.shown(found.cost)} together"
    rest = {
        "not used": _with_costs(found, compared),
        "dropped early": early,
        "compared before, on fewer rows": _with_costs(found, fewer),
    }
    return "; ".join([text, *(f"{what}: {', '.join(own)}" for what, own in rest.items() if own)])


def _with_costs(found: "Selection", standings: "list[Standing]") -> list[str]:
    return [f"{each.name} ({found.shown(each.cost)})" for each in standings]


def _ranked(found: "Selection") -> "list[Standing]":
    """Those with the highest weight first; without those of a comparison on fewer rows."""
    return sorted(
        (each for each in found.standings if not found.is_of_fewer_rows(each)),
        key=lambda each: (-each.share, not found.is_comparable(each), each.cost),
    )


def standings_table(found: "Selection") -> Table:
    """Results of the candidates, of their average, and of those compared before on fewer rows."""
    before = sorted(filter(found.is_of_fewer_rows, found.standings), key=lambda each: each.cost)
    rows: list[Standing | str] = [*_ranked(found), AVERAGE]
    if before:
        rows += [BEFORE, *before]

    def has_figures(each: "Standing") -> bool:
        return each in before or found.is_comparable(each)

    def named(each: "Standing | str") -> str | Cell:
        return Cell(each, "total") if isinstance(each, str) else each.name

    def weight(each: "Standing | str") -> str:
        return "" if isinstance(each, str) else whole_percent(each.share) if each.share else "–"

    def cost(each: "Standing | str") -> str | Cell:
        if isinstance(each, str):
            return Cell(_cost(found, found.cost), "n total") if each == AVERAGE else ""
        return _cost(found, each.cost) if has_figures(each) else "dropped early"

    def log_loss(each: "Standing | str") -> str:
        return "" if isinstance(each, str) or not has_figures(each) else f"{each.log_loss:.3f}"

    def rounds(each: "Standing | str") -> str:
        return "" if isinstance(each, str) or not has_figures(each) else f"{each.rounds:,}"

    what = ("error" if found.percent else "mean cost") if found.of_classes else found.measure
    columns = [
        Column("candidate", rows, named),
        Column("weight", rows, weight, kind="number"),
        Column("cost", rows, cost, what, "number"),
        Column("log-loss", rows, log_loss, kind="number"),
        Column("rounds", rows, rounds, kind="number"),
    ]
    return Table([c for c in columns if found.of_classes or c.key != "log-loss"])


AVERAGE, BEFORE = "weighted average", "compared before, on fewer rows"
"""Rows of the table that are not candidates."""


def _cost(found: "Selection", cost: float) -> str:
    return percent(cost) if found.percent else amount(float(f"{cost:.3g}"))
