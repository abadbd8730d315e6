"""Coverage and mean width of the 95 % intervals of `evaluate`, by simulation.

python benchmarks/intervals.py [costs|groups|methods] [--trials 1000]

`costs`: intervals of the mean cost, through `rebelboost.evaluation.evaluate`, beside the earlier
intervals, which knew only the costs that had occurred. `groups`: intervals of accuracy and mean cost with
grouped rows, likewise. `methods`: other intervals of the mean cost, on the same draws.
"""

import argparse
import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rebelboost import RebelClassifier
from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.evaluation import Evaluation, evaluate
from rebelboost.evaluation.intervals import mean_cost_interval, share

LEAST = 0.94
"""Every coverage should be at least this, within the error of the simulation."""
NUMBERS = (30, 50, 100, 200, 400)


class Case(NamedTuple):
    """Costs, and how often each class is decided as each."""

    costs: Floats
    """(K, K) costs[true, decided]."""
    chances: Floats
    """(K, K) probability of each true class and decision; they add up to 1."""
    own: bool = False
    """Whether each row has its own costs: these, times a factor from 0.2 to 1."""

    @property
    def mean(self) -> float:
        """The true mean cost."""
        return float((self.costs * self.chances).sum()) * (0.6 if self.own else 1)


def _case(costs: list[list[float]], wrong: list[list[float]], *, own: bool = False) -> Case:
    chances = np.array(wrong)
    K = len(chances)
    chances[np.diag_indices(K)] = (1 - chances.sum()) / K
    return Case(np.array(costs, dtype=np.float64), chances, own)


THREE = [[0, 1, 20], [2, 0, 50], [1, 5, 0]]
CASES = {
    "1 and 50": _case([[0, 1], [50, 0]], [[0, 0.08], [0.02, 0]]),
    "1 and 50, rare": _case([[0, 1], [50, 0]], [[0, 0.05], [0.005, 0]]),
    "1 and 50, often": _case([[0, 1], [50, 0]], [[0, 0.2], [0.1, 0]]),
    "0 and 100": _case([[0, 0], [100, 0]], [[0, 0.1], [0.03, 0]]),
    "0 and 100, rare": _case([[0, 0], [100, 0]], [[0, 0.1], [0.005, 0]]),
    "3 × 3": _case(THREE, [[0, 0.05, 0.02], [0.04, 0, 0.01], [0.05, 0.04, 0]]),
    "3 × 3, rare": _case(THREE, [[0, 0.02, 0.004], [0.02, 0, 0.002], [0.02, 0.01, 0]]),
    "by row": _case([[0, 10], [100, 0]], [[0, 0.08], [0.03, 0]], own=True),
    "by row, rare": _case([[0, 10], [100, 0]], [[0, 0.04], [0.005, 0]], own=True),
}


def classifier(n_classes: int, costs: Any) -> RebelClassifier:
    """A model that decides for the class whose number is in the only column."""
    y = np.repeat(np.arange(n_classes), 50)
    # Fitted without costs, which would decide for what costs nothing.
    model = RebelClassifier("tree", n_rounds=50, cross_fit=None).fit(y[:, np.newaxis], y)
    return model if costs is None else model.with_costs(costs).set_params(decision="argmax")


class Drawn(NamedTuple):
    """One table, evaluated."""

    found: Evaluation
    paid: BySample
    weight: BySample | None


def tables(case: Case, n: int, trials: int, *, weighted: bool) -> Iterator[Drawn]:
    """Draw tables, and evaluate the model on each."""
    K = len(case.costs)
    model = classifier(K, None if case.own else case.costs)
    for trial in range(trials):
        rng = np.random.default_rng([trial, n])
        cells = rng.choice(K * K, n, p=case.chances.ravel())
        true, decided = cells // K, cells % K
        weight = rng.choice([1.0, 5.0], n) if weighted else None
        paid, own = case.costs[true, decided], None
        if case.own:
            factor = rng.uniform(0.2, 1, n)
            paid, own = paid * factor, case.costs * factor[:, np.newaxis, np.newaxis]
        found = evaluate(model, decided[:, np.newaxis], true, sample_weight=weight, costs=own)
        counts = np.zeros((K, K))
        np.add.at(counts, (true, decided), 1.0 if weight is None else weight)
        assert np.array_equal(counts, found.confusion.counts), "another decision was made"
        yield Drawn(found, paid, weight)


def before(paid: BySample, weight: BySample | None) -> tuple[float, float]:
    """The interval of earlier versions: Wilson's, for mistakes of a mean cost among those that occurred."""
    weight = np.ones(len(paid)) if weight is None else weight
    return scored(paid, weight, float(paid.max()))


def scored(paid: BySample, weight: BySample, greatest: float) -> tuple[float, float]:
    """Wilson's interval for mistakes of cost Σx²/Σx, with one more of the greatest cost."""
    if greatest == 0:
        return 0.0, 0.0
    n = float(weight.sum() ** 2 / np.sum(weight**2))
    value, square = (float(np.average(x, weights=weight)) for x in (paid, paid**2))
    each = max((square + greatest**2 / n) / (value + greatest / n), value)
    found = share(value, each, n)
    return each * found.low, each * found.high


def betting(paid: BySample, greatest: float) -> tuple[float, float]:
    """The interval by betting [Waudby-Smith and Ramdas 2024], which depends on the order of the rows."""
    x, n, level = paid / greatest, len(paid), 0.025
    t = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = np.append(0.25, ((0.25 + np.cumsum((x - mean) ** 2)) / (t + 1))[:-1])
    bets = np.minimum(1, np.sqrt(2 * math.log(1 / level) / (n * variance)))[:, np.newaxis]
    at = np.linspace(0, 1, 1001)
    apart = 0.999999 * bets * (x[:, np.newaxis] - at)
    wealth = [np.cumsum(np.log1p(s * apart), axis=0).max(axis=0) for s in (-1, 1)]
    held = at[np.maximum(*wealth) <= math.log(1 / level)]
    return greatest * float(held.min()), greatest * float(held.max())


def line(name: str, n: object, truth: float, intervals: dict[str, list[Any]]) -> str:
    """Coverage and mean width of each kind of interval."""
    told = []
    for kind, found in intervals.items():
        low, high = np.array(found).T
        covered = np.mean((low <= truth + 1e-12) & (truth <= high + 1e-12))
        told.append(f"{kind} {100 * covered:5.1f} % width {np.mean(high - low):8.4g}")
    return f"{name:28} n = {n!s:>9}   " + "   ".join(told)


def costs(trials: int) -> None:
    """Intervals of the mean cost."""
    for weighted in (False, True):
        for name, case in CASES.items():
            for n in NUMBERS:
                drawn = list(tables(case, n, trials, weighted=weighted))
                intervals = {
                    "now": [each.found.cost[1:] for each in drawn],
                    "before": [before(each.paid, each.weight) for each in drawn],
                }
                label = f"{name}, weights" if weighted else name
                print(line(label, n, case.mean, intervals), flush=True)


def methods(trials: int) -> None:
    """Other intervals of the mean cost."""
    rng = np.random.default_rng(0)
    for name, case in CASES.items():
        greatest = float(case.costs.max())
        for n in NUMBERS:
            intervals: dict[str, list[Any]] = {
                kind: [] for kind in ("occurred", "possible", "Gaffke", "betting")
            }
            for _ in range(trials):
                paid = case.costs.ravel()[rng.choice(case.costs.size, n, p=case.chances.ravel())]
                paid = paid * (rng.uniform(0.2, 1, n) if case.own else 1.0)
                one = np.ones(n)
                intervals["occurred"].append(scored(paid, one, float(paid.max())))
                intervals["possible"].append(scored(paid, one, greatest))
                intervals["Gaffke"].append(mean_cost_interval(paid, one, n, greatest)[1:])
                intervals["betting"].append(betting(paid, greatest))
            print(line(name, n, case.mean, intervals), flush=True)


def _results(
    rng: np.random.Generator, sizes: Ints, right: float, correlation: float
) -> tuple[Ints, Ints]:
    """Groups, and whether each decision is wrong; each group has its own share of mistakes."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    strength = (1 - correlation) / max(correlation, 1e-9)
    shares = rng.beta(strength * (1 - right), strength * right, len(sizes))
    if correlation == 0:
        shares[:] = 1 - right
    return groups, (rng.random(len(groups)) < shares[groups]).astype(np.int64)


def groups(trials: int) -> None:
    """Intervals with groups."""
    priced = np.array([[0, 1.0], [50.0, 0]])
    model = classifier(2, priced)
    for n_groups in (5, 10, 20, 40):
        for size in ("5", "20", "100", "1–40"):
            for correlation in (0.0, 0.1, 0.3, 0.6):
                for right in (0.7, 0.9, 0.95):
                    accuracy, cost, old = [], [], []
                    for trial in range(trials):
                        rng = np.random.default_rng(
                            [trial, n_groups, *map(ord, size), int(100 * right)]
                        )
                        sizes = (
                            rng.integers(1, 41, n_groups)
                            if "–" in size
                            else np.full(n_groups, int(size))
                        )
                        group, wrong = _results(rng, sizes, right, correlation)
                        decided = (rng.random(len(wrong)) < 0.5).astype(np.int64)
                        true = np.where(wrong, 1 - decided, decided)
                        table = decided[:, np.newaxis]
                        found = evaluate(model, table, true, groups=group)
                        accuracy.append(found.accuracy[1:])
                        cost.append(found.cost[1:])
                        old.append(_old_share(1.0 - wrong, group))
                    name = f"{n_groups} groups of {size}, ρ = {correlation}"
                    kinds = {"accuracy now": accuracy, "before": old}
                    print(line(name, right, right, kinds), flush=True)
                    mean = (1 - right) * 25.5
                    print(line(name, right, mean, {"cost now": cost}), flush=True)


def _old_share(right: BySample, groups: Ints) -> tuple[float, float]:
    """The interval of earlier versions: Wilson's, with the observed design effect."""
    n, n_groups = len(right), int(groups.max()) + 1
    apart = right - right.mean()
    by_row = float(np.sum(apart**2))
    if by_row == 0:
        n_effective = float(min(n, n_groups))
    else:
        by_group = float(np.sum(np.bincount(groups, apart) ** 2)) * n_groups / (n_groups - 1)
        n_effective = n / max(1.0, by_group / by_row)
    found = share(float(right.sum()), n, n_effective)
    return found.low, found.high


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["costs", "groups", "methods"])
    parser.add_argument("--trials", type=int, default=1000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    {"costs": costs, "groups": groups, "methods": methods}[given.what](given.trials)
