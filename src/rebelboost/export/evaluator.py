"""What a model needs to run elsewhere, as plain arrays. Each language writes them in its own way.

Arrays are those of the model, in the order in which Python computes with them: programs that add, multiply and
divide in this order, without fused multiply-add, get the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rebelboost.base.arrays import Floats
from rebelboost.base.names import plain, printed
from rebelboost.cascade.plan import CascadePlan
from rebelboost.export.cascading import Checks, checks_of
from rebelboost.export.decoding import DecoderArrays, decoder_arrays
from rebelboost.export.explaining import Explaining, explaining_of
from rebelboost.export.reading import Reading, readings_of
from rebelboost.export.terms import Sum, sum_arrays
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, FittedTerms


class CostSource(NamedTuple):
    """A cell of the cost matrix, or with `decided` = −1 a factor of a row, that differs between samples."""

    true: int
    decided: int
    feature: int
    """Feature that holds the cost; −1 if it is computed."""
    sum: int
    """Position among the sums, if it is computed; else −1."""
    baseline: float


class Deciding(NamedTuple):
    """How a classifier decides."""

    classes: tuple[Any, ...]
    """Labels, as JSON values."""
    decoder: DecoderArrays
    costs: Floats
    """(K, K)"""
    sources: tuple[CostSource, ...]
    """Cells of the costs that differ from sample to sample."""
    by_cost: bool
    """Whether the decision is the one of least expected cost; otherwise it is the highest score."""
    reject_cost: float | None
    reject_label: Any


@dataclass(frozen=True, eq=False)
class Evaluator:
    """A model as plain arrays."""

    names: tuple[str, ...]
    """Names of the features."""
    readings: tuple[Reading, ...]
    """How cells become features."""
    sums: tuple[Sum, ...]
    """Sums of terms: first the model's own, then those of learned costs."""
    deciding: Deciding | None
    """None in a regression."""
    baseline: float
    """What a regression adds to its sum."""
    explaining: Explaining
    """What reasons need beyond the scores."""
    checks: Checks | None = None
    """How decisions are taken early; None without a cascade."""

    @property
    def n_scores(self) -> int:
        """Number of classes, K; 1 in a regression."""
        return self.sums[0].n_outputs


def evaluator_of(
    model: FittedTerms,
    columns: Sequence[Mapping[str, Any]] | None = None,
    *,
    rows: bool = True,
    row_names: bool = True,
    plan: CascadePlan | None = None,
) -> Evaluator:
    """The arrays of a fitted model.

    `columns` describe the table that the command trained it on, as in its model file. `rows` and `row_names`
    say whether reasons give values and names of training rows. `plan` is that of its cascade.

    Raises `ExportError` for terms that other languages cannot compute.
    """
    names = model.shown_names
    readings = readings_of(model.encoder, names, columns)
    own = sum_arrays(model.ensemble)  # refuses what cannot be exported
    explaining = explaining_of(model, rows=rows, names=row_names)
    if isinstance(model, FittedRegressor):
        return Evaluator(names, readings, (own,), None, float(model.baseline), explaining)
    assert isinstance(model, FittedClassifier)
    learned = () if model.learned is None else tuple(model.learned.cells)
    sums = [own, *(sum_arrays(cell.ensemble) for cell in learned)]
    paid = () if model.columns is None else model.columns.cells
    sources = [CostSource(*cell, -1, 0.0) for cell in paid] or [
        CostSource(cell.true, cell.decided, -1, 1 + i, float(cell.baseline))
        for i, cell in enumerate(learned)
    ]
    rule = model.rule
    deciding = Deciding(
        tuple(map(_json, model.classes)),
        decoder_arrays(model.decoder),
        model.costs,
        tuple(sources),
        rule.by_cost,
        None if rule.reject_cost is None else float(rule.reject_cost),
        _json(rule.reject_label),
    )
    checks = checks_of(model.ensemble, plan)
    return Evaluator(names, readings, tuple(sums), deciding, 0.0, explaining, checks)


def _json(value: Any) -> Any:
    """A label as JSON can represent it; others as text."""
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else printed(value)
