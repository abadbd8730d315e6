"""Class probabilities from scores.

At the optimum of the loss, scores and posterior are related by e^{2H_k} = P_k θ_k / Σ_y P_y c_yk²/(4θ_y)
[THESIS Sec. 4.3]: P is the eigenvector of A_ky = (e^{2H_k}/θ_k)·c_yk²/(4θ_y) with positive entries. It is
computed from any scores, for the costs used in training. The decision is then argmin_k Σ_y P_y c_yk, for the
current costs. Scores trained with REBEL's subcosts have another optimum; see `costs/mixture.py`.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Floats, Labels, Scores
from rebelboost.base.cached import cached_property
from rebelboost.base.triangular import ordered_product, ordered_sum, solved
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.mixture import mixture_of, mixture_posterior
from rebelboost.costs.priors import reweighted
from rebelboost.kernels.elementary import exp_of, log_of, portable_exp, portable_log
from rebelboost.losses.classes import CLASS_LOSSES
from rebelboost.losses.convex import ClassLossKind

SOON = 60
"""Maximum number of power iterations before samples that have not converged go to `_finish`."""
MOST_IN_LOGS = 500
"""Maximum number of power iterations in the log domain."""
MOST_STEPS = 30
"""Maximum number of Noda iterations."""
SHIFT = 0.5
"""Multiple of the identity added to A, in units of A's largest eigenvalue. All other eigenvalues lie mostly
between −1 and 0 in these units (always so for uniform costs), and ½ brings them furthest below 1.
"""
UNIFORM_STEP = 1e-14
"""Last step of Newton's method for probabilities, relative to ln λ."""
ROUGHLY = 1e-6
"""Precision that is sufficient to compare temperatures, which are found to 1 %."""
LEAST_TEMPERATURE, MOST_TEMPERATURE = 1e-3, 10.0
STRIDE = 0.7
"""Step of that search, in the logarithm, until the lowest log-loss lies between two temperatures."""
TINY = np.finfo(np.float64).tiny
LARGEST_RANGE = 600.0
"""Largest range of 2H within a sample for which e^{2H} is computed directly, without logarithms."""


class Search(NamedTuple):
    """How a temperature is searched for."""

    precision: float = 0.01
    """Of its logarithm."""
    near: float = 0.5
    """Where the search begins."""


@dataclass(frozen=True)
class Decoder:
    """Computes posteriors from scores that were trained with `costs`, multiplied by a temperature."""

    costs: Floats
    """(K, K) costs used in training."""
    temperature: float = 1.0
    """Factor of the scores."""
    precision: float = 1e-12
    """Iterate until no probability changes by more."""
    loss: str = "exponential"
    """Loss that the scores were trained on."""
    subcosts: str = "thesis"
    """Scheme that turned the costs into weights, "thesis" or "rebel"."""
    shift: tuple[float, ...] | None = None
    """(K,) how much more frequent each class is than in training, π′/π; None: as in training."""

    @cached_property
    def is_uniform(self) -> bool:
        """Whether all mistakes cost the same in training."""
        return is_uniform(self.costs)

    @property
    def kind(self) -> ClassLossKind:
        """What is to be known of the loss."""
        return CLASS_LOSSES[self.loss]

    def posterior(self, scores: Scores) -> Floats:
        """(N, K) class probabilities."""
        posterior = self._as_trained(scores)
        if self.shift is None:
            return posterior
        return reweighted(posterior, np.array(self.shift))

    def _as_trained(self, scores: Scores) -> Floats:
        doubled = self.kind.log_ratios(self.temperature * scores)
        if self.is_uniform:
            return uniform_posterior(doubled, self.precision)
        if self.subcosts == "rebel":
            return mixture_posterior(
                uniform_posterior(doubled, self.precision), self.costs, self.precision
            )
        return np.minimum(self._perron(doubled), 1.0)  # logarithms are rounded

    def scores_of(self, posterior: ByClass) -> ByClass:
        """(K,) scores that have this posterior, with positive entries, at a temperature of 1."""
        if self.is_uniform:
            ratios = portable_log(posterior) - portable_log(1 - posterior)
        elif self.subcosts == "rebel":
            mixed = mixture_of(posterior, self.costs)
            ratios = portable_log(mixed) - portable_log(1 - mixed)
        else:
            costs, theta = _scaled_costs(self.costs)
            paid = ordered_product((posterior / (4 * theta))[np.newaxis], costs**2)[0]
            ratios = portable_log(posterior * theta) - portable_log(np.maximum(paid, TINY))
        return self.kind.scores_with(ratios)

    def _perron(self, doubled: Floats) -> Floats:
        log_theta, B, log_B = perron_arrays(self.costs)
        log_d = doubled - log_theta
        wide = np.ptp(log_d, axis=1) > LARGEST_RANGE
        posterior = np.empty_like(doubled)
        posterior[~wide] = _iterate(log_d[~wide], B, self.precision)
        posterior[wide] = _iterate_logs(log_d[wide], log_B, self.precision)
        return posterior


def perron_arrays(costs: Floats) -> tuple[ByClass, Floats, Floats]:
    """(K,) ln θ, (K, K) B_yk = c_yk²/(4θ_y), and ln B."""
    costs, theta = _scaled_costs(costs)
    with np.errstate(divide="ignore"):
        log_B = 2 * portable_log(costs) - portable_log(4 * theta)[:, np.newaxis]
    return portable_log(theta), portable_exp(log_B), log_B


def _scaled_costs(costs: Floats) -> tuple[Floats, ByClass]:
    """Costs whose squares do not overflow, and (K,) θ."""
    costs = np.ldexp(costs, -int(np.frexp(costs.max())[1]))
    norm = np.linalg.norm(costs, axis=1)
    # A class whose mistakes cost nothing had no weight in training: any positive θ works.
    return costs, np.where(norm > 0, norm / (2 * np.sqrt(len(costs) - 1)), 1.0)


def _log_sum(x: Floats) -> Floats:
    """Ln Σeˣ over the last axis."""
    top = x.max(axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    return top + portable_log(ordered_sum(portable_exp(x - top[..., np.newaxis])))


def uniform_posterior(doubled: Floats, precision: float = 1e-12) -> Floats:
    """P_k = σ(2H_k − ln λ) with the λ for which they sum to 1, for uniform costs."""
    posterior = np.ones(doubled.shape)
    if doubled.shape[1] > 1:
        doubled = np.ascontiguousarray(doubled)
        kernels.active.uniform_posteriors(doubled, _enough(precision), posterior, 1)
    return posterior


def _enough(precision: float) -> float:
    """Last step of Newton's method, which converges quadratically: a rough answer can stop one earlier."""
    return UNIFORM_STEP if precision < ROUGHLY else math.sqrt(precision)


def _iterate(log_d: Floats, B: Floats, precision: float) -> Floats:
    """P ← (A/‖AP‖₁ + I/2)P with A = diag(d)·Bᵀ; the identity breaks the cycles of A (K = 2 is one).

    A sample leaves when it has converged, so that it does not depend on the others. This converges slowly
    if classes form groups with almost no costs between them. Samples that have not converged after `SOON`
    steps are passed to `_finish`, unless a rough answer is sufficient.
    """
    # P = √d ⊙ Q: Q spans half of the range of P, in logarithms.
    half = portable_exp((log_d - log_d.max(axis=1, keepdims=True)) / 2)
    Q = np.full_like(half, 1.0)
    Q /= ordered_sum(half * Q)[:, np.newaxis]
    left = np.arange(len(Q))
    for _ in range(SOON):
        if len(left) == 0:
            break
        now, own = Q[left], half[left]
        AQ = own * ordered_product(own * now, B)
        size = ordered_sum(own * AQ)[:, np.newaxis]
        following = SHIFT * now + np.divide(AQ, size, out=np.zeros_like(AQ), where=size > 0)
        following /= ordered_sum(own * following)[:, np.newaxis]
        Q[left] = following
        left = left[np.abs(own * (following - now)).max(axis=1) >= precision]
    if precision >= ROUGHLY:
        return half * Q
    for rows in np.array_split(left, len(Q) * B.size // 10**7 + 1):
        # With zero costs, entries of Q can vanish; `_finish` divides by them.
        heard = rows[np.all(Q[rows] > 0, axis=1)]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            Q[heard] = _finish(half[heard], B, Q[heard])
    return half * Q


def _finish(half: Floats, B: Floats, Q: Floats) -> Floats:
    """Noda's iteration: Q ← (ρI − A)⁻¹Q with ρ = max_k (AQ)_k/Q_k. It is quadratic and keeps Q positive.

    Steps that leave the range of floating point are skipped.
    """
    A = half[:, :, np.newaxis] * B.T * half[:, np.newaxis]
    identity = np.eye(len(B))
    left = np.arange(len(Q))
    for _ in range(MOST_STEPS):
        ratio = ordered_sum(A[left] * Q[left, np.newaxis]) / Q[left]
        rho, least = ratio.max(axis=1), ratio.min(axis=1)
        wide = ~(rho - least <= 1e-13 * rho)
        left, rho = left[wide], rho[wide]
        if len(left) == 0:
            break
        # Slightly above ρ, so that the last step does not divide by zero.
        shifted = (rho * (1 + 1e-14))[:, np.newaxis, np.newaxis] * identity - A[left]
        following = solved(shifted, Q[left])
        size = ordered_sum(half[left] * following)[:, np.newaxis]
        fine = np.all(np.isfinite(following) & (following > 0), axis=1, keepdims=True) & (size > 0)
        Q[left] = np.where(fine, following / np.where(fine, size, 1.0), Q[left])
    return Q


def _iterate_logs(log_d: Floats, log_B: Floats, precision: float) -> Floats:
    """The same iteration in the log domain, for scores too far apart for floating point."""
    P = np.empty_like(log_d)
    left, log_P = np.arange(len(log_d)), log_d / 2 - _log_sum(log_d / 2)[:, np.newaxis]
    for _ in range(MOST_IN_LOGS):
        if len(left) == 0:
            break
        log_AP = log_d[left] + _log_sum(log_P[:, np.newaxis] + log_B.T)
        log_AP -= _log_sum(log_AP)[:, np.newaxis]
        following = _log_sum(np.stack([log_AP, log_P + log_of(SHIFT)], axis=-1))
        following -= _log_sum(following)[:, np.newaxis]
        P[left] = portable_exp(following)
        moved = np.abs(P[left] - portable_exp(log_P)).max(axis=1) >= precision
        left, log_P = left[moved], following[moved]
    return P


def mean_log_loss(
    decoder: Decoder, scores: Scores, labels: Labels, weight: BySample | None
) -> float:
    """Mean of −ln P of the true class. Sums are exact: the order of the samples does not matter."""
    own = decoder.posterior(scores)[np.arange(len(labels)), labels]
    losses = -portable_log(np.maximum(own, 1e-300))
    if weight is None:
        return math.fsum(losses) / len(losses)
    return math.fsum(losses * weight) / math.fsum(weight)


def fit_temperature(
    scores: Scores,
    labels: Labels,
    costs: Floats,
    weight: BySample | None = None,
    loss: str = "exponential",
    subcosts: str = "thesis",
    *,
    search: Search = Search(),  # noqa: B008  (never changed)
) -> tuple[float, float]:
    """Find the factor of held-out scores that minimises the log-loss of the posterior.

    Return the factor and the log-loss. `loss` and `subcosts` are those of the training; see `Decoder`.
    """
    kind = CLASS_LOSSES[loss]
    if is_uniform(costs) and kind.is_linear and scores.shape[1] > 1:
        found = _uniform_temperature(kind.log_ratios(scores), labels, weight, search)
        return float(f"{found[0]:.4g}"), found[1]

    from scipy.optimize import minimize_scalar

    def log_loss(log_temperature: float) -> float:
        decoder = Decoder(costs, exp_of(log_temperature), ROUGHLY, loss, subcosts)
        return mean_log_loss(decoder, scores, labels, weight)

    bounds = log_of(LEAST_TEMPERATURE), log_of(MOST_TEMPERATURE)
    found = minimize_scalar(
        log_loss, bounds=bounds, method="bounded", options={"xatol": search.precision}
    )
    # Four digits exceed the search's precision, and hide differences due to the order of samples.
    return float(f"{exp_of(found.x):.4g}"), float(found.fun)


def cooler(
    decoder: Decoder, scores: Scores, labels: Labels, weight: BySample | None, least: float
) -> float:
    """Find the largest factor, below the decoder's, at which the log-loss is at least `least`."""
    low, high = log_of(LEAST_TEMPERATURE), log_of(decoder.temperature)
    while high - low > Search().precision:
        middle = (low + high) / 2
        at_middle = replace(decoder, temperature=exp_of(middle), precision=ROUGHLY)
        if mean_log_loss(at_middle, scores, labels, weight) < least:
            high = middle
        else:
            low = middle
    return float(f"{exp_of(low):.4g}")


def _uniform_temperature(
    ratios: Floats, labels: Labels, weight: BySample | None, search: Search
) -> tuple[float, float]:
    """The factor with the lowest log-loss, and the log-loss, for uniform costs.

    The slope of the log-loss, which comes with it at little cost, tells on which side its minimum is. Steps
    go that way until the minimum lies between two points, and then to where a line through their slopes is 0.
    """
    lowest, highest = log_of(LEAST_TEMPERATURE), log_of(MOST_TEMPERATURE)
    x = min(max(log_of(search.near), lowest), highest)
    below, above = (lowest, math.nan), (highest, math.nan)
    ratios, enough = np.ascontiguousarray(ratios), _enough(ROUGHLY)
    weight = np.empty(0) if weight is None else weight
    while True:
        log_loss, slope = kernels.active.log_loss_and_slope(
            ratios, exp_of(x), labels, weight, enough, 1
        )
        if slope > 0:
            above = (x, slope)
        else:
            below = (x, slope)
        if math.isnan(below[1]):
            following = max(x - STRIDE, lowest)
        elif math.isnan(above[1]):
            following = min(x + STRIDE, highest)
        else:
            width = above[0] - below[0]
            share = -below[1] / (above[1] - below[1])
            following = below[0] + width * min(max(share, 0.1), 0.9)
        if abs(following - x) < search.precision:  # on the way there the slope falls to 0
            return exp_of(following), log_loss + slope * (following - x) / 2
        x = following
