"""Calibration: choose the thresholds and temperatures of a cascade from partial scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebelboost.base.arrays import Floats, Ints, Labels, Scores
from rebelboost.cascade.checks import (
    RISK,
    SIDES,
    at_temperature,
    compare_values,
    final_decisions,
    kind_of_values,
)
from rebelboost.cascade.plan import BY_HAND, CascadePlan
from rebelboost.cascade.thresholds import (
    Exits,
    check_agreement_share,
    choose_thresholds,
    follow_thresholds,
    most_wrong,
)
from rebelboost.kernels.elementary import exp_of, portable_log, portable_power
from rebelboost.model.fitted import FittedClassifier

FEWEST_SAMPLES = 100
"""Fewest calibration samples."""
N_FOLDS = 5
MARGINS = tuple(step / 10 for step in range(20, -1, -1))
"""By how much thresholds are moved outwards, from the strictest on; see `choose_thresholds`."""
SPENDING = 0.25
"""Exponent of the share of the budget that is spent up to a check: most of it is spent early."""
DOUBT = 0.05
"""Largest probability of so few held-out disagreements, if new samples had more than allowed."""
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
    labels: Labels | None = None
    """(N,) true classes, with which samples must leave instead of the decisions of the full model."""


class _Case(NamedTuple):
    """Arguments of `choose_thresholds`."""

    values: Floats
    right_above: NDArray[np.bool_]
    right_below: NDArray[np.bool_] | None

    def take(self, rows: Ints) -> "_Case":
        below = None if self.right_below is None else self.right_below[:, rows]
        return _Case(self.values[:, rows], self.right_above[:, rows], below)

    def choose(self, agreement: float, margin: float, *, at_once: bool = False) -> Exits:
        """Thresholds for these samples, and the exits that they lead to.

        The first check may spend the whole budget `at_once`.
        """
        n_checks = len(self.values)
        exponent = 0.0 if at_once else SPENDING
        return choose_thresholds(
            self.values,
            self.right_above,
            self.right_below,
            agreement=agreement,
            spending=portable_power(np.arange(1, n_checks + 1) / max(1, n_checks), exponent),
            floor=0.0,  # leads; without a side below
            margin=margin,
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


def calibrate(
    model: FittedClassifier, stage_of_term: Ints, given: Partial, agreement: float
) -> CascadePlan:
    """Choose thresholds that leave the share of decisions that must agree.

    They are checked by cross-validation: so few held-out samples must leave wrongly that more than
    1 − agreement of new ones are unlikely to do so. With labels, the share of samples that are decided
    rightly is the target instead, and thresholds are those of the calibration samples [THESIS 2.2].
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
    labels = given.labels
    final = final_decisions(model, full, given.costs) if labels is None else labels
    early = given.scores[:-1]
    risk_temperatures = np.full(len(early), model.decoder.temperature)
    if kind == RISK:
        goal = model.posterior(full)
        risk_temperatures = np.array([_temperature(model, s, goal) for s in early])
    case = _case(model, kind, early, given.costs, final, risk_temperatures)
    if labels is None:
        exits, n_held_out = _tuned(case, agreement)
    else:
        exits = case.choose(agreement, 0.0, at_once=True)
        n_held_out = _held_out(case, _folds(case.values), agreement, 0.0, at_once=True)
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


def plan_by_hand(
    model: FittedClassifier, stage_of_term: Ints, thresholds: tuple[ArrayLike, ArrayLike]
) -> CascadePlan:
    """Take thresholds as they are: leave at h ≤ lower or h ≥ upper [THESIS 2.2, steps 0–3].

    The lower threshold is compared first. Probabilities have the temperature of the full model.
    """
    n_checks = int(stage_of_term.max(initial=0))
    kind = kind_of_values(model, model.costs)
    lower, upper = _given_thresholds(thresholds, n_checks)
    if kind != SIDES and not np.all(np.isneginf(lower)):
        raise ValueError(
            f"the model has {len(model.classes)} classes, or decisions that depend on costs: only a lead "
            "above a threshold decides; give −inf for all lower thresholds"
        )
    warm = np.full(n_checks, model.decoder.temperature)
    left = np.zeros(n_checks + 1, dtype=np.int64)
    return CascadePlan(
        agreement=1.0,
        kind=kind,
        stage_of_term=stage_of_term,
        low=_moved(lower, np.inf),  # a value that equals a threshold leaves
        high=np.maximum(_moved(upper, -np.inf), lower),
        risk_temperatures=warm,
        temperatures=warm,
        left=left,
        n_wrong=0,
        n_wrong_held_out=0,
        source=BY_HAND,
    )


def _given_thresholds(
    thresholds: tuple[ArrayLike, ArrayLike], n_checks: int
) -> tuple[Floats, Floats]:
    try:
        lower, upper = (np.array(own, dtype=np.float64) for own in thresholds)
    except (TypeError, ValueError) as error:
        raise ValueError("thresholds must be two arrays of numbers: (lower, upper)") from error
    for name, own in (("lower", lower), ("upper", upper)):
        if own.shape != (n_checks,):
            raise ValueError(
                f"{name} thresholds have shape {own.shape}, but there are {n_checks} checks: give "
                f"{n_checks} numbers, or another `every`"
            )
    wrong = np.flatnonzero(~(lower <= upper))
    if len(wrong):
        i = wrong[0]
        raise ValueError(
            f"the thresholds at check {i} are {lower[i]:g} and {upper[i]:g}: give numbers, lower ≤ upper"
        )
    return lower, upper


def _moved(thresholds: Floats, towards: float) -> Floats:
    moved: Floats = np.where(np.isinf(thresholds), thresholds, np.nextafter(thresholds, towards))
    return moved


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
        return _Case(values, above, below)
    return _Case(values, right, None)


# ---- margins


def _tuned(case: _Case, agreement: float) -> tuple[Exits, int]:
    """Thresholds from all samples, and the number of held-out samples that leave wrongly.

    Margins are tried from the widest on. Each must be proven by held-out samples, and the first that is
    not ends the search: so no correction is needed for trying several. If even the widest is not proven, it
    is taken. An agreement of 1 cannot be proven; then no held-out sample may leave wrongly.
    """
    parts = _folds(case.values)
    most = most_wrong(case.values.shape[1], 1 - agreement, DOUBT) if agreement < 1 else 0
    margin = MARGINS[0]
    n_wrong = _held_out(case, parts, agreement, margin)
    for narrower in MARGINS[1:]:
        found = _held_out(case, parts, agreement, narrower)
        if max(n_wrong, found) > most:
            break
        margin, n_wrong = narrower, found
    return case.choose(agreement, margin), n_wrong


def _folds(values: Floats) -> Ints:
    """(N,) fold of each sample: neighbours by their first value are in different folds."""
    n = values.shape[1]
    folds = np.empty(n, dtype=np.int64)
    by = values[0] if len(values) else np.zeros(n)
    folds[np.argsort(by, kind="stable")] = np.arange(n) % N_FOLDS
    return folds


def _held_out(
    case: _Case, parts: Ints, agreement: float, margin: float, *, at_once: bool = False
) -> int:
    """Number of samples that leave wrongly by thresholds from the other folds."""
    n_wrong = 0
    for part in range(N_FOLDS):
        others = case.take(np.flatnonzero(parts != part))
        exits = others.choose(agreement, margin, at_once=at_once)
        _, wrong = case.take(np.flatnonzero(parts == part)).follow(exits.low, exits.high)
        n_wrong += int(np.count_nonzero(wrong))
    return n_wrong


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
        factor = model.decoder.temperature * exp_of(log_factor)
        P = at_temperature(model, factor).posterior(given)
        return float(-(goal * portable_log(np.maximum(P, 1e-300))).sum())

    bounds = (-WIDEST, WIDEST)
    found = minimize_scalar(cross_entropy, bounds=bounds, method="bounded", options={"xatol": 0.01})
    return float(f"{model.decoder.temperature * exp_of(found.x):.4g}")
