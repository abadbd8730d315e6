"""Results by group of rows, such as regions or age groups: errors, costs, probabilities and abstentions."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rebelboost.base.arrays import BySample, Ints
from rebelboost.base.findings import GAP, Column, Described, Document, Sentence, Table
from rebelboost.base.names import listed, printed
from rebelboost.base.text import amount, number, percent
from rebelboost.data.encoder import as_frame, is_present
from rebelboost.evaluation.binary import difference
from rebelboost.evaluation.intervals import Estimate, WeightedRows, mean_cost_interval, share
from rebelboost.exceptions import EvaluationError

if TYPE_CHECKING:
    from rebelboost.evaluation.result import Evaluation, Judged

MOST_PARTS = 12
"""Values of more than this number of groups are put together: numbers by quartiles, others if they are rare."""
N_QUANTILES = 4
MISSING, OTHERS = "(missing)", "(other values)"
Measure = tuple[str, Callable[[float], str], Sequence[Estimate]]
"""A title, how to show a value, and the values of the groups."""
DOUBT = 0.05
"""Probability that a difference is reported although there is none, over all comparisons together."""


class Part(NamedTuple):
    """The rows with one value of a column, or with a range of them."""

    name: str
    evaluation: "Evaluation"
    surplus: Estimate
    """Mean probability less the share of rows: of the positive class, or of correct decisions for the most
    probable class if there are more than two classes."""
    called: Estimate | None
    """Share of the rows that are decided as the positive class; None unless there are two classes."""
    abstained: Estimate
    """Share of the rows on which the model abstained."""
    apart: Estimate
    """Accuracy less that of all other rows; the intervals of all parts hold together with 95 %."""


@dataclass(frozen=True, eq=False, repr=False)
class Parts(Described):
    """Results by group of rows; `print` shows them."""

    column: str
    parts: tuple[Part, ...]

    def document(self) -> Document:
        """The results as a document, which `rebelboost.base.findings` renders."""
        rates = [self._table(some) for some in (self._how_good(), self._how_decided()) if some]
        return [*(each for rate in rates for each in (rate, GAP)), Sentence(self.told())]

    def told(self) -> str:
        """Say which groups differ from the other rows by more than chance explains."""
        apart = [each for each in self.parts if each.apart.low > 0 or each.apart.high < 0]
        chance = f"{len(self.parts)} comparisons, false alarm in {percent(DOUBT)} of tables"
        if not apart:
            return f"No group's accuracy differs from that of the other rows by more than chance ({chance})."
        told = [
            f"{each.name}: {_points(each.apart.value)} (95 % interval: {_points(each.apart.low)} to "
            f"{_points(each.apart.high)})"
            for each in apart
        ]
        found = "; ".join(told)
        return f"Accuracy beside that of all other rows, in percentage points: {found} ({chance})."

    def _table(self, measures: Sequence["Measure"]) -> Table:
        names = [each.name for each in self.parts]
        n = [each.evaluation.n for each in self.parts]
        columns: list[Column] = [
            Column("value", names, head=self.column),
            Column("n", n, "{:,}".format, "rows", "number"),
        ]
        for title, show, values in measures:
            columns += [
                Column(title, values, partial(_value, show), kind="number"),
                Column(f"{title} from", values, partial(_range, show), "95 % interval", "number"),
            ]
        return Table(columns)

    def _how_good(self) -> list["Measure"]:
        found = [each.evaluation for each in self.parts]
        measures: list[Measure] = [("accuracy", percent, [each.accuracy for each in found])]
        if any(each.has_costs for each in found):
            measures.append(("mean cost", amount, [each.cost for each in found]))
        if any(each.n_rejected for each in found):
            measures.append(("abstained", percent, [each.abstained for each in self.parts]))
        surplus = [each.surplus for each in self.parts]
        return [*measures, ("probability too high by", _points, surplus)]

    def _how_decided(self) -> list["Measure"]:
        found = [each.evaluation for each in self.parts]
        if not all(each.two_class for each in found):
            return []
        measures: list[Measure] = [
            (rate, percent, [each.two_class[rate] for each in found])
            for rate in ("sensitivity", "specificity")
        ]
        called = [each.called for each in self.parts if each.called is not None]
        return [(f"decided {printed(found[0].positive)}", percent, called), *measures]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {
            "column": self.column,
            "parts": [
                {
                    **each.evaluation.to_dict(),
                    "value": each.name,
                    "surplus": each.surplus.to_dict(),
                    "called": each.called and each.called.to_dict(),
                    "apart": each.apart.to_dict(),
                }
                for each in self.parts
            ],
        }


# ---- making them


def part_of(
    name: str, evaluation: "Evaluation", judged: "Judged", rest: "Judged | None", n_parts: int
) -> Part:
    """Measure one group of rows beside all others."""
    found, sampling = judged, judged.weighted
    code, n_classes = _positive_code(evaluation), judged.posterior.shape[1]
    if code is None:
        stated = found.posterior.max(axis=1)
        hits = found.posterior.argmax(axis=1) == found.true
    else:
        stated, hits = found.posterior[:, code], found.true == code
    called = None
    if code is not None:
        called = sampling.share((found.decided == code).astype(np.float64))
    abstained = sampling.share((found.decided == n_classes).astype(np.float64))
    return Part(
        name,
        evaluation,
        _mean_gap(stated - hits, sampling),
        called,
        abstained,
        apart(found, rest, n_parts),
    )


def _positive_code(evaluation: "Evaluation") -> int | None:
    if evaluation.positive is None:
        return None
    return evaluation.confusion.classes.index(evaluation.positive)


def _mean_gap(gaps: BySample, sampling: WeightedRows) -> Estimate:
    """The mean of values from −1 to 1."""
    found = mean_cost_interval(gaps + 1, sampling.weight, sampling.number(gaps), 2.0)
    return Estimate(*(each - 1 for each in found))


def apart(found: "Judged", rest: "Judged | None", n_parts: int) -> Estimate:
    """Accuracy less that on the rest, with an interval for one of so many comparisons."""
    if rest is None:
        return Estimate(math.nan, -1.0, 1.0)
    z = float(ndtri(1 - DOUBT / n_parts / 2))
    own, others = (_accuracy(each, z) for each in (found, rest))
    return difference(own, others)


def _accuracy(judged: "Judged", z: float) -> Estimate:
    is_decided = judged.decided < judged.posterior.shape[1]
    right = (judged.true == judged.decided)[is_decided].astype(np.float64)
    sampling = judged.weighted.of(is_decided)
    if len(right) == 0:
        return Estimate(math.nan, 0.0, 1.0)
    return share(
        float(right @ sampling.weight),
        float(sampling.weight.sum()),
        sampling.share_number(right),
        z,
    )


# ---- columns


def column_of(X: Any, by: Any, n_rows: int) -> tuple[str, NDArray[Any]]:
    """The name and the values of the column that `by` names or is."""
    if isinstance(by, str):
        frame = as_frame(X)
        if frame is None or by not in frame.columns:
            columns = (
                "has no columns with names" if frame is None else f"has {listed(frame.columns)}"
            )
            raise EvaluationError(
                f"there is no column {by!r}: X {columns}; or give its values as an array"
            )
        return by, np.array(frame[by].to_list(), dtype=object)
    values = np.asarray(by, dtype=object)
    if values.shape != (n_rows,):
        raise EvaluationError(
            f"by has shape {values.shape}: give a value for each of {n_rows} rows"
        )
    return str(getattr(by, "name", None) or "group"), values


def divided(values: NDArray[Any]) -> tuple[list[str], Ints]:
    """Names of the parts, and the number of each row's part."""
    present = np.array([is_present(value) for value in values.tolist()])
    there = values[present].tolist()
    distinct = set(there)
    if len(distinct) > MOST_PARTS and all(_is_number(value) for value in distinct):
        named = _quartiles(np.array(there, dtype=np.float64))
    else:
        named = _commonest(there)
    names = np.full(len(values), MISSING, dtype=object)
    names[present] = named[1]
    order = [*named[0], *([MISSING] if not present.all() else [])]
    place = {name: i for i, name in enumerate(order)}
    return order, np.array([place[name] for name in names.tolist()], dtype=np.int64)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _quartiles(values: BySample) -> tuple[list[str], list[str]]:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, N_QUANTILES + 1), method="lower"))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    names = []
    for k in range(len(edges) - 1):
        last = k == len(edges) - 2
        names.append(
            f"{number(edges[k], 4)} {'to' if last else 'to below'} {number(edges[k + 1], 4)}"
        )
    return names, [names[k] for k in place.tolist()]


def _commonest(values: list[Any]) -> tuple[list[str], list[str]]:
    counts = Counter(printed(value) for value in values)
    kept = [name for name, _ in counts.most_common(MOST_PARTS)]
    if len(counts) > MOST_PARTS:
        kept = kept[: MOST_PARTS - 1]
    known = set(kept)
    named = [name if name in known else OTHERS for name in map(printed, values)]
    return [*sorted(kept), *([OTHERS] if len(counts) > len(kept) else [])], named


def _value(show: Callable[[float], str], found: Estimate) -> str:
    return show(found.value)


def _range(show: Callable[[float], str], found: Estimate) -> str:
    return f"{show(found.low)} to {show(found.high)}"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")
