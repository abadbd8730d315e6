"""Calibration: choose the thresholds and temperatures of a cascade from partial scores."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels, Scores
from rebelboost.cascade.deciding import (
    RISK,
    SIDES,
    at_temperature,
    compare_values,
    final_decisions,
    kind_of_values,
)
from rebelboost.cascade.plan import CascadePlan
from rebelboost.cascade.thresholds import (
    Exits,
    check_agreement_share,
    choose_thresholds,
    follow_thresholds,
)
from rebelboost.model.fitted import FittedClassifier

FEWEST_SAMPLES = 100
"""Fewest calibration samples."""
N_FOLDS = 5
STRICTER = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1)
"""Shares of the budget that are tried, until held-out disagreement is within the whole budget."""
MARGINS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""If a budget of 0 is not strict enough: standard deviations by which thresholds are moved outwards."""
SPENDING = (1.0, 0.5, 0.25)
"""Exponents of the share of the budget that is spent up to a check: low ones spend most of it early."""
FEWEST_TO_FIT = 50
"""Samples that a temperature is fitted to; if fewer leave at a check, those that leave next to it help."""
WIDEST = 4.0
"""Logarithm of the largest factor between a temperature at a check and the model's."""
ROUNDING = 1e-9
"""Expected costs are rounded differently in other batches: thresholds are this much higher."""


class Partial(NamedTuple):
    """Partial scores of calibration samples."""

    scores: NDArray[np.floating]
    """(S, N, K) at the end of each stage; the last has all terms."""
    costs: Floats
    """(K, K), or (N, K, K) where they differ."""
    source: str


class _Case(NamedTuple):
    """Arguments of `choose_thresholds`."""

    values: Floats
    right_above: NDArray[np.bool_]
    right_below: NDArray[np.bool_] | None
    work: Floats

    def take(self, rows: Ints) -> "_Case":
        below = None if self.right_below is None else self.right_below[:, rows]
        return _Case(self.values[:, rows], self.right_above[:, rows], below, self.work)

    def choose(self, way: "_Way") -> Exits:
        """Thresholds for these samples, and the exits that they lead to."""
        n_checks = len(self.values)
        return choose_thresholds(
            self.values,
            self.right_above,
            self.right_below,
            agreement=way.agreement,
            spending=(np.arange(1, n_checks + 1) / max(1, n_checks)) ** way.exponent,
            floor=0.0,  # leads; without a side below
            margins=way.margin * self.values.std(axis=1),
        )

    def follow(self, low: Floats, high: Floats) -> tuple[Ints, NDArray[np.bool_]]:
        """Where these samples leave by given thresholds, and which leave wrongly."""
        stage = follow_thresholds(self.values, low, high)
        wrong = np.zeros(len(stage), dtype=bool)
        rows = np.flatnonzero(stage < len(self.values))
        at = stage[rows]
        right = self.right_above[at, rows]
        if self.right_below is not None:
            above = self.values[at, rows] > high[at]
            right = np.where(above, right, self.right_below[at, rows])
        wrong[rows] = ~right
        return stage, wrong


class _Way(NamedTuple):
    """A way to choose thresholds: the budget, how it is spent, and a margin."""

    agreement: float
    exponent: float = 1.0
    margin: float = 0.0


def calibrate(
    model: FittedClassifier, stage_of_term: Ints, work: Floats, given: Partial, agreement: float
) -> CascadePlan:
    """Choose the thresholds that save most work and leave the share of decisions that must agree.

    `work` (S,) is what a sample costs up to the end of each stage. The thresholds are checked by
    cross-validation: where held-out samples leave wrongly more often than allowed, a smaller budget is
    taken.
    """
    check_agreement_share(agreement)
    n = given.scores.shape[1]
    if n < FEWEST_SAMPLES:
        raise ValueError(
            f"a cascade needs at least {FEWEST_SAMPLES} calibration samples, but there are {n}: give more "
            "rows that were not used in training"
        )
    kind = kind_of_values(model, given.costs)
    full = given.scores[-1].astype(np.float64)
    final = final_decisions(model, full, given.costs)
    early = given.scores[:-1]
    risk_temperatures = np.full(len(early), model.decoder.temperature)
    if kind == RISK:
        goal = model.posterior(full)
        risk_temperatures = np.array([_temperature(model, s, goal) for s in early])
    case = _case(model, kind, early, given.costs, final, risk_temperatures, work)
    exits, n_held_out = _tuned(case, agreement)
    return CascadePlan(
        agreement=float(agreement),
        kind=kind,
        stage_of_term=stage_of_term,
        low=exits.low,
        high=_raised(exits.high) if kind == RISK else exits.high,
        risk_temperatures=risk_temperatures,
        temperatures=_exit_temperatures(model, early, full, exits.stage),
        left=np.bincount(exits.stage, minlength=len(early) + 1),
        n_wrong=int(np.count_nonzero(exits.wrong)),
        n_wrong_held_out=n_held_out,
        source=given.source,
        by_sample=given.costs.ndim == 3,
    )


def _raised(thresholds: Floats) -> Floats:
    finite = np.isfinite(thresholds)
    raised: Floats = np.where(finite, thresholds, 0.0)
    return np.where(finite, raised + ROUNDING * (1 + np.abs(raised)), thresholds)


def _case(
    model: FittedClassifier,
    kind: str,
    early: NDArray[np.floating],
    costs: Floats,
    final: Labels,
    temperatures: Floats,
    work: Floats,
) -> _Case:
    n_checks, n, _ = early.shape
    values, right = np.empty((n_checks, n)), np.empty((n_checks, n), dtype=bool)
    for i, scores in enumerate(early):
        found = compare_values(
            model, kind, scores.astype(np.float64), costs, float(temperatures[i])
        )
        values[i], right[i] = found.values, found.decided == final
    if kind == SIDES:
        above, below = (np.broadcast_to(final == k, values.shape) for k in (1, 0))
        return _Case(values, above, below, work)
    return _Case(values, right, None, work)


# ---- budgets


def _tuned(case: _Case, agreement: float) -> tuple[Exits, int]:
    """Thresholds from all samples, and the number of held-out samples that leave wrongly.

    Of the ways whose held-out disagreement is within 1 − agreement by a standard deviation, the one with
    the least work is taken; if none is, the strictest. Without the deviation, the best of many ways would
    be one that was lucky.
    """
    allowed = (1 - agreement) * case.values.shape[1]
    safe = max(0.0, allowed - math.sqrt(allowed))  # counts of rare events: the variance is the mean
    budgets = [1 - share * (1 - agreement) for share in STRICTER] if agreement < 1 else []
    ways = [_Way(own, exponent) for own in budgets for exponent in SPENDING]
    ways += [_Way(1.0, margin=margin) for margin in (0.0, *MARGINS)]
    parts = _folds(case.values)
    found = [_held_out(case, parts, way) for way in ways]
    good = [i for i, (n_wrong, _) in enumerate(found) if n_wrong <= safe]
    best = min(good, key=lambda i: found[i][1]) if good else len(ways) - 1
    return case.choose(ways[best]), found[best][0]


def _folds(values: Floats) -> Ints:
    """(N,) fold of each sample: neighbours by their first value are in different folds."""
    n = values.shape[1]
    folds = np.empty(n, dtype=np.int64)
    by = values[0] if len(values) else np.zeros(n)
    folds[np.argsort(by, kind="stable")] = np.arange(n) % N_FOLDS
    return folds


def _held_out(case: _Case, parts: Ints, way: _Way) -> tuple[int, float]:
    """Number of samples that leave wrongly by thresholds from the other folds, and the work."""
    n_wrong, spent = 0, 0.0
    for part in range(N_FOLDS):
        exits = case.take(np.flatnonzero(parts != part)).choose(way)
        own = case.take(np.flatnonzero(parts == part))
        stage, wrong = own.follow(exits.low, exits.high)
        n_wrong += int(np.count_nonzero(wrong))
        spent += float(own.work[stage].sum())
    return n_wrong, spent


# ---- temperatures


def _exit_temperatures(
    model: FittedClassifier, early: NDArray[np.floating], full: Scores, stage: Ints
) -> Floats:
    """(B,) temperatures at which samples that leave have the probabilities of the full model."""
    goal = model.posterior(full)
    found = np.empty(len(early))
    for i, scores in enumerate(early):
        apart = np.abs(stage - i)
        nearest = np.partition(apart, min(FEWEST_TO_FIT, len(apart)) - 1)[
            min(FEWEST_TO_FIT, len(apart)) - 1
        ]
        rows = np.flatnonzero(apart <= nearest)
        found[i] = _temperature(model, scores[rows], goal[rows])
    return found


def _temperature(model: FittedClassifier, scores: NDArray[np.floating], goal: Floats) -> float:
    """Temperature with the lowest cross-entropy to the probabilities of the full model."""
    from scipy.optimize import minimize_scalar

    given = scores.astype(np.float64)

    def cross_entropy(log_factor: float) -> float:
        factor = model.decoder.temperature * float(np.exp(log_factor))
        P = at_temperature(model, factor).posterior(given)
        return float(-(goal * np.log(np.maximum(P, 1e-300))).sum())

    bounds = (-WIDEST, WIDEST)
    found = minimize_scalar(cross_entropy, bounds=bounds, method="bounded", options={"xatol": 0.01})
    return float(f"{model.decoder.temperature * np.exp(found.x):.4g}")
