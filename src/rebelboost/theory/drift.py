"""Drift: whether new rows look as the training rows did, from counts of both.

Each column is tested by the χ² statistic of two samples over ranges or categories; cells that are expected to
have fewer than five rows are put together. Probabilities are tested likewise. Training counted them by fits
that did not see the rows, one for each part; how much these fits differ is estimated from the parts and allowed
for, since the whole model differs from them in the same way. Class frequencies are those that agree best with
the probabilities [Saerens et al. 2002]. Probabilities are not exact, and the whole model is an average of the
fits, so small changes of these two (`TOLERATED`) are not counted: the test is whether the change is larger. All
tests together raise a false alarm with the stated probability [Holm 1979].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Labels, Values
from rebelboost.base.estimates import Z, share
from rebelboost.base.findings import (
    GAP,
    Block,
    Column,
    Described,
    Document,
    Sentence,
    Strong,
    Table,
)
from rebelboost.base.names import printed
from rebelboost.base.text import counted as how_many
from rebelboost.base.text import joined, number, percent
from rebelboost.costs.priors import estimated_priors
from rebelboost.model.fitted import FittedClassifier
from rebelboost.model.training_counts import HeldOutCounts, TrainingCounts, counted, judged_of

FEWEST_EXPECTED = 5.0
TOLERATED = 0.01
"""A change of probabilities that is not counted: Σ (difference of shares)²/share over the ranges; of a class
frequency π, the square of its difference over π(1 − π): 5 percentage points of 50 %, 3 of 10 %."""
TOLERATED = 0.01
"""A change of probabilities that is not counted: Σ (difference of shares)²/share over the ranges; of a class
frequency π, the square of its difference over π(1 − π): 5 percentage points of 50 %, 3 of 10 %."""
MOST_SHOWN = 12
PROBABILITIES, FREQUENCIES = "probabilities", "class frequencies"


class DriftTest(NamedTuple):
    """A comparison of new rows with the training rows."""

    of: str
    """Name of the column, or `PROBABILITIES`, or `FREQUENCIES`."""
    p: float
    """Probability of such a difference by chance."""
    adjusted: float
    """The same, allowing for the number of tests."""
    cell: str
    """Range, category or class that differs most."""
    before: float
    """Its share of the training rows."""
    now: float
    """Its share of the new rows."""
    low: float
    """Lower end of the 95 % interval of that share."""
    high: float


@dataclass(frozen=True, repr=False)
class Drift(Described):
    """A comparison of new rows with the training rows; `print` shows it."""

    n: int
    """Number of new rows."""
    n_before: int
    """Number of training rows."""
    alarm: float
    """Probability of an alarm if nothing has changed."""
    tests: tuple[DriftTest, ...]
    """All tests, the clearest first."""
    frequencies: dict[Any, tuple[float, float, float, float]]
    """Class → its frequency in training, and its estimate now with the 95 % interval; empty without held-out
    rows."""

    @property
    def found(self) -> tuple[DriftTest, ...]:
        """The differences that chance does not explain."""
        return tuple(each for each in self.tests if each.adjusted <= self.alarm)

    @property
    def has_drifted(self) -> bool:
        """Whether anything has changed, beyond chance."""
        return bool(self.found)

    def document(self) -> Document:
        """The comparison as a document, which `rebelboost.base.findings` renders."""
        found = self.found
        rows = f"{how_many(self.n, 'new row')} beside {how_many(self.n_before, 'training row')}"
        tests = how_many(len(self.tests), "test")
        said = f"{rows}: {tests}, with a false alarm in {percent(self.alarm)} of cases without a change."
        opening = [
            Strong("No drift was found. " if not found else f"{self._what()} changed. "),
            said,
        ]
        table: list[Block] = [GAP, self._table(found)] if found else []
        classes: list[Block] = [GAP, self._classes()] if self.frequencies else []
        return [Sentence(opening), *table, *classes, GAP, Sentence(self.about_certificate())]

    def _what(self) -> str:
        names = [each.of for each in self.found]
        columns = [each for each in names if each not in {PROBABILITIES, FREQUENCIES}]
        parts = [how_many(len(columns), "column")] if columns else []
        said = joined([*parts, *(each for each in (PROBABILITIES, FREQUENCIES) if each in names)])
        return said[:1].upper() + said[1:]

    def about_certificate(self) -> str:
        """Say whether a certificate of the cost still stands."""
        changed = {each.of for each in self.found}
        if not changed:
            return (
                "A certified cost still stands, as far as these rows tell: nothing shows that they are drawn "
                "otherwise than the training rows. A change of the classes that shows in no column cannot be "
                "seen without true classes."
            )
        advice = "Certify again, on new rows whose classes are known."
        if FREQUENCIES in changed:
            advice += (
                ' If only the number of rows of each class has changed, with_priors("estimate") corrects the '
                "probabilities."
            )
        return f"A certified cost no longer stands for rows like these. {advice}"

    def _table(self, found: Sequence[DriftTest]) -> Table:
        columns = [
            Column("of", [each.of for each in found], head="changed"),
            Column("cell", [each.cell for each in found], head="most"),
            Column("before", [each.before for each in found], percent, "in training", "number"),
            Column("now", [each.now for each in found], percent, "now", "number"),
            Column("interval", found, _interval, "95 % interval", "number"),
            Column("adjusted", [each.adjusted for each in found], _small, "by chance", "number"),
        ]
        return Table(columns, key="drift", n_shown=MOST_SHOWN, noun="change")

    def _classes(self) -> Table:
        told = list(self.frequencies.items())
        columns = [
            Column("class", [printed(name) for name, _ in told]),
            Column("before", [each[0] for _, each in told], percent, "in training", "number"),
            Column("now", [each[1] for _, each in told], percent, "estimated now", "number"),
            Column(
                "interval",
                [each[2:] for _, each in told],
                lambda each: f"{percent(each[0])} to {percent(each[1])}",
                "95 % interval",
                "number",
            ),
        ]
        return Table(columns, key="classes", n_shown=MOST_SHOWN, noun="class")

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {
            "n": self.n,
            "n_before": self.n_before,
            "alarm": self.alarm,
            "has_drifted": self.has_drifted,
            "tests": [each._asdict() for each in self.tests],
            "frequencies": [
                {"class": name, "before": before, "now": now, "low": low, "high": high}
                for name, (before, now, low, high) in self.frequencies.items()
            ],
            "certificate": self.about_certificate(),
        }


def _interval(found: DriftTest) -> str:
    return f"{percent(found.low)} to {percent(found.high)}"


def _small(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def drift_of(
    model: FittedClassifier, seen: TrainingCounts, X: Values, posterior: Floats, alarm: float
) -> Drift:
    """Compare encoded rows, and their probabilities at training's frequencies, with what training saw."""
    tests, names = [], model.shown_names
    for f, (edges, before) in enumerate(zip(seen.edges, seen.counts, strict=True)):
        levels = model.encoder.levels.get(f)
        now = counted(
            np.asarray(X[:, f], dtype=np.float64), edges, None if levels is None else len(levels)
        )
        cells = _ranges(edges) if levels is None else [printed(level) for level in levels]
        tests.append(_test(names[f], before, now, [*cells, "missing"]))
    frequencies: dict[Any, tuple[float, float, float, float]] = {}
    if seen.held_out is not None:
        tests.append(_probabilities(seen.held_out, posterior))
        test, frequencies = _frequencies(model, seen.held_out, posterior)
        tests.append(test)
    return Drift(len(X), seen.n_rows, alarm, _adjusted(tests), frequencies)


def _adjusted(tests: Sequence[DriftTest]) -> tuple[DriftTest, ...]:
    """Holm's probabilities, the clearest first."""
    ordered, highest, found = sorted(tests, key=lambda each: each.p), 0.0, []
    for i, each in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - i) * each.p))
        found.append(each._replace(adjusted=highest))
    return tuple(found)


def _ranges(edges: Floats) -> list[str]:
    ends = [number(end, 4) for end in edges.tolist()]
    if not ends:
        return ["any value"]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"below {ends[0]}", *between, f"above {ends[-1]}"]


# ---- columns


def _test(
    of: str,
    before: Labels,
    now: Labels,
    cells: Sequence[str],
    more: float = 1.0,
    tolerated: float = 0.0,
) -> DriftTest:
    """Compare two samples, cell by cell; `more` is the variance beside that of independent rows."""
    statistic, freedom, worst = chi_squared(before, now)
    n_both = 1 / (1 / max(before.sum(), 1) + 1 / max(now.sum(), 1))
    p = _beyond(statistic / more, freedom, n_both * tolerated / more)
    found = share(float(now[worst]), float(now.sum()), float(now.sum()))
    return DriftTest(of, p, p, cells[worst], float(before[worst] / max(before.sum(), 1)), *found)


def _beyond(statistic: float, freedom: int, offset: float) -> float:
    """Probability of a larger statistic, if the true change is the tolerated one."""
    from scipy.special import chdtrc, chndtr  # slow to import

    if freedom == 0:
        return 1.0
    if offset == 0:
        return float(chdtrc(freedom, statistic))
    found = 1 - float(chndtr(statistic, freedom, offset))
    return found if 0 <= found <= 1 else 0.0  # far out, the series fails


def chi_squared(before: Labels, now: Labels) -> tuple[float, int, int]:
    """The statistic of two samples, its degrees of freedom, and the cell that differs most."""
    table = np.array([before, now], dtype=np.float64)
    n, both = table.sum(axis=1), table.sum(axis=0)
    if n.min() == 0:
        return 0.0, 0, int(np.argmax(both))
    order = np.argsort(both, kind="stable")
    expected = both[order] * n.min() / n.sum()
    n_rare = int((expected < FEWEST_EXPECTED).sum())
    while n_rare < len(order) and 0 < expected[:n_rare].sum() < FEWEST_EXPECTED:
        n_rare += 1
    rare, kept = order[:n_rare], order[n_rare:]
    cells = np.column_stack([table[:, kept], table[:, rare].sum(axis=1)])
    cells = cells[:, cells.sum(axis=0) > 0]
    fit = np.outer(n, cells.sum(axis=0)) / n.sum()
    gaps = np.abs(table[1] / n[1] - table[0] / n[0]) / np.sqrt(np.maximum(both, 1))
    return float(((cells - fit) ** 2 / fit).sum()), cells.shape[1] - 1, int(np.argmax(gaps))


# ---- probabilities


def _probabilities(held: HeldOutCounts, posterior: Floats) -> DriftTest:
    now = counted(judged_of(posterior, held.code), held.edges, None)[:-1]
    before = held.counts.sum(axis=0)
    cells = [f"{low} to {high}" for low, high in _percents(held.edges)]
    more = _more_variance(held, float(now.sum()))
    return _test(PROBABILITIES, before, now, cells, more, TOLERATED)


def _percents(edges: Floats) -> list[tuple[str, str]]:
    ends = [percent(end) for end in (0.0, *edges.tolist(), 1.0)]
    return list(pairwise(ends))


def _more_variance(held: HeldOutCounts, n: float) -> float:
    """Variance of the difference of two samples, beside that of independent rows, as fits differ."""
    n_parts = len(held.counts)
    if n_parts < 2:
        return 1.0
    sizes = held.counts.sum(axis=1).astype(np.float64)
    shares = held.counts.sum(axis=0) / sizes.sum()
    fit = np.outer(sizes, shares)
    some = fit > 0
    statistic = float((((held.counts - fit) ** 2)[some] / fit[some]).sum())
    freedom = (n_parts - 1) * (held.counts.shape[1] - 1)
    between = max(0.0, statistic / freedom - 1) / float(sizes.mean())
    return 1 + between * (1 + 1 / n_parts) / (1 / n + 1 / sizes.sum())


def _frequencies(
    model: FittedClassifier, held: HeldOutCounts, posterior: Floats
) -> tuple[DriftTest, dict[Any, tuple[float, float, float, float]]]:
    from scipy.special import ndtr

    before: ByClass = model.frequencies
    now = estimated_priors(posterior, before)
    deviation = np.sqrt(_variances(held, posterior, before, now))
    own = np.sqrt(np.maximum(_sampling_variances(posterior, before, now), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(deviation > 0, np.abs(now - before) / deviation, 0.0)
        tolerated = np.sqrt(TOLERATED * before * (1 - before)) / np.maximum(deviation, 1e-300)
    p_each = ndtr(tolerated - z) + ndtr(-tolerated - z)
    k = int(np.argmin(p_each))
    p = min(1.0, max(1, len(before) - 1) * float(p_each[k]))
    low, high = np.clip(now - Z * own, 0, 1), np.clip(now + Z * own, 0, 1)
    names = model.class_names
    told = {
        name: (float(before[j]), float(now[j]), float(low[j]), float(high[j]))
        for j, name in enumerate(names)
    }
    return DriftTest(FREQUENCIES, p, p, printed(names[k]), *told[names[k]]), told


def _sampling_variances(posterior: Floats, before: ByClass, now: ByClass) -> ByClass:
    """(K,) variances of the estimated frequencies: of the likelihood's curvature."""
    ratio = posterior / np.maximum(before, 1e-300)
    mixed = ratio @ now
    slopes = (ratio[:, :-1] - ratio[:, -1:]) / np.maximum(mixed, 1e-300)[:, np.newaxis]
    curvature = slopes.T @ slopes
    inverse = np.linalg.pinv(curvature, hermitian=True)
    return np.append(np.diagonal(inverse), inverse.sum())


def _variances(held: HeldOutCounts, posterior: Floats, before: ByClass, now: ByClass) -> ByClass:
    """(K,) variances of the change: of the new rows, of the training rows, and of the fits."""
    sizes = held.counts.sum(axis=1).astype(np.float64)
    n_rows, n_parts = float(sizes.sum()), len(sizes)
    chance = before * (1 - before) / n_rows
    fits = np.zeros_like(before)
    if n_parts > 1:
        spread = posterior.var(axis=0)
        between = held.means.var(axis=0, ddof=1) - spread / float(sizes.mean())
        # A change of the mean probability is a larger one of the frequency, if the model is unsure.
        lever = np.maximum(before * (1 - before), 1e-12) / np.maximum(spread, 1e-12)
        fits = np.maximum(between, 0.0) * (1 + 1 / n_parts) * lever**2
    found: ByClass = _sampling_variances(posterior, before, now) + chance + fits
    return found
