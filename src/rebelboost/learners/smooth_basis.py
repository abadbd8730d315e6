"""Smooth similarities as a regression: features of each width, and the coefficients of a penalised fit.

The functions Σ_i k(x, z_i)·a_i + b with the kernel k = 2τ/(τ + ‖x − z‖²) = 1 + f, where f is the one-point
similarity [LOCAL, Sec. 5], are written in features Φ(x) in which the penalty aᵀKa on their roughness is a sum
of squares (the Nyström method). The features are centred, and orthogonal over the training points, which
makes the penalised regression well conditioned.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rebelboost.base.arrays import ByClass, BySample, Distances, Floats, Outputs

WIDTHS = (0.25, 1.0, 4.0, 16.0)
"""Widths τ, as multiples of the median squared distance. The widest functions are nearly quadratic."""
PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""Penalties, divided by the number of points, on functions with features of variance 1 in total."""
STAGES = tuple((width, penalty) for width in WIDTHS for penalty in PENALTIES)
"""Settings that are compared, by index: all penalties of the first width, and so on."""
LEAST_VALUE = 1e-6
"""Directions with less of the kernel's largest eigenvalue are left out: they are dominated by rounding."""
MOST_STEPS = 30
"""Steps of the solver. More change held-out results little."""


class Basis(NamedTuple):
    """Features of one width: Φ(x) = k(x)·mixing − centre, for the (E,) kernels to the examples."""

    tau: float
    features: Floats
    """(N, r) of the training points."""
    mixing: Floats
    """(E, r)."""
    centre: Floats
    """(r,)."""
    variances: Floats
    """(r,) mean squares of the features; their sum is 1."""

    def outputs(self, solved: Outputs) -> tuple[Outputs, ByClass]:
        """(E, K) a and (K,) b of Σ f·a + b, from the (1 + r, K) coefficients of constant and features."""
        a = self.mixing @ solved[1:]
        return a, solved[0] - self.centre @ solved[1:] + a.sum(axis=0)

    def scores(self, solved: Outputs) -> Floats:
        """(N, K) scores of the training points."""
        found: Floats = self.features @ solved[1:] + solved[0]
        return found


def make_basis(width: float, distances: Distances, among: Distances) -> Basis:
    """Features from squared distances: (E, N) of examples to points, and (E, E) among the examples."""
    present = distances[distances > 0]
    tau = width * float(np.median(present)) if len(present) else 1.0
    values, vectors = np.linalg.eigh(_kernel(tau, among))
    kept = values > LEAST_VALUE * values[-1]
    mixing = vectors[:, kept] / np.sqrt(values[kept])
    raw = _kernel(tau, distances).T @ mixing
    centre = raw.mean(axis=0)
    centred = raw - centre
    squares, turn = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = squares > LEAST_VALUE * squares[-1]
    turn, squares = turn[:, kept], squares[kept]
    turn = turn / np.sqrt(squares.sum())
    return Basis(tau, centred @ turn, mixing @ turn, centre @ turn, squares / squares.sum())


def _kernel(tau: float, distances: Distances) -> Floats:
    return 2 * tau / (tau + distances.astype(np.float64))


def class_path(basis: Basis, mass: Outputs, penalties: tuple[float, ...]) -> Iterator[Outputs]:
    """Yield (1 + r, K) coefficients for each penalty, largest first; each starts from the one before.

    `mass` (N, K) is the weight of each class at each point. Class k is separated from the others by
    logistic regression: P(k)/(1 − P(k)) = e^{2H_k}, the relation of scores and posterior for uniform costs.
    """
    n_classes = mass.shape[1]
    share = mass / mass.sum()
    own = share[:, :1] if n_classes == 2 else share  # the scores of two classes are opposite
    rest = share.sum(axis=1, keepdims=True) - own
    solved = np.zeros((1 + basis.features.shape[1], own.shape[1]))
    for penalty in penalties:
        solved = _logistic(basis, own, rest, penalty / len(mass), solved)
        yield np.concatenate([solved, -solved], axis=1) if n_classes == 2 else solved


def _logistic(basis: Basis, own: Floats, rest: Floats, penalty: float, start: Outputs) -> Outputs:
    """Minimise Σ own·ln(1 + e^{−2H}) + rest·ln(1 + e^{2H}) + penalty/2·‖coefficients‖² by L-BFGS."""
    from scipy.optimize import minimize  # slow to import, and not needed to predict

    features = basis.features
    # Unit curvature in every direction, by the upper bound of the logistic loss's second derivative.
    unit = np.sqrt(np.append(1.0, basis.variances + penalty))[:, np.newaxis]

    def value_and_slope(point: Floats) -> tuple[float, Floats]:
        solved = point.reshape(start.shape) / unit
        doubled = 2 * (features @ solved[1:] + solved[0])
        losses = own * np.logaddexp(0.0, -doubled) + rest * np.logaddexp(0.0, doubled)
        P = expit(doubled)
        by_score = 2 * (rest * P - own * (1 - P))
        slope = np.concatenate([by_score.sum(axis=0)[np.newaxis], features.T @ by_score])
        slope[1:] += penalty * solved[1:]
        value = float(losses.sum()) + penalty / 2 * float((solved[1:] ** 2).sum())
        return value, (slope / unit).ravel()

    options = {"maxiter": MOST_STEPS, "ftol": 1e-6, "gtol": 1e-5}
    found = minimize(
        value_and_slope, (start * unit).ravel(), jac=True, method="L-BFGS-B", options=options
    )
    solved: Outputs = found.x.reshape(start.shape) / unit
    return solved


def number_path(
    basis: Basis, target: BySample, weight: BySample, penalties: tuple[float, ...]
) -> Iterator[Outputs]:
    """Yield (1 + r, 1) coefficients for each penalty, by least squares. Points have a target and a weight."""
    share = weight / weight.sum()
    middle = float(share @ target)
    mean = share @ basis.features
    centred = basis.features - mean
    weighted = centred * share[:, np.newaxis]
    values, vectors = np.linalg.eigh(weighted.T @ centred)
    along = vectors.T @ (weighted.T @ (target - middle))
    for penalty in penalties:
        slopes = vectors @ (along / (np.maximum(values, 0.0) + penalty / len(weight)))
        yield np.append(middle - mean @ slopes, slopes)[:, np.newaxis]
