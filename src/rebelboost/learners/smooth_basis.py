"""Smooth similarities as a regression: features of each width, and the coefficients of a penalised fit.

The functions Σ_i k(x, z_i)·a_i + b with the kernel k = 2τ/(τ + ‖x − z‖²) = 1 + f, where f is the one-point
similarity [LOCAL, Sec. 5], are written in features Φ(x) in which the penalty aᵀKa on their roughness is a sum
of squares (the Nyström method). The features are centred, and orthogonal over the training points, which
makes the penalised regression well conditioned.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rebelboost.base.arrays import ByClass, BySample, Distances, Floats, Ints, Outputs

WIDTHS = (0.25, 1.0, 4.0, 16.0)
"""Widths τ, as multiples of the median squared distance. The widest functions are nearly quadratic."""
PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""Penalties, divided by the number of points, on functions with features of variance 1 in total."""
STAGES = tuple((width, penalty) for width in WIDTHS for penalty in PENALTIES)
"""Settings that are compared, by index: all penalties of the first width, and so on."""
LEAST_VALUE = 1e-7
"""Added to the kernel's eigenvalues, times their sum: what is smaller is dominated by rounding."""
LEAST_SHARE = 1e-6
"""Features with less of the largest variance are left out."""
MOST_STEPS = 30
"""Steps of the solver. More change held-out results little."""


class Basis(NamedTuple):
    """Features of one width: Φ(x) = k(x)·mixing − centre, for the (E,) kernels to the examples."""

    tau: float
    features: NDArray[np.float32]
    """(N, r) of the training points. Single precision halves the time of the solver."""
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

    def scores(self, solved: Outputs, points: Ints | slice = slice(None)) -> Floats:
        """(N, K) scores of the training points, or of some of them."""
        # A power of two keeps coefficients of huge targets within single precision.
        unit = np.ldexp(1.0, np.frexp(np.abs(solved[1:]).max(initial=1.0))[1])
        found: Floats = self.features[points] @ (solved[1:] / unit).astype(np.float32)
        return found * unit + solved[0]


def make_basis(width: float, distances: Distances, among: Distances) -> Basis:
    """Features from squared distances: (E, N) of examples to points, and (E, E) among the examples.

    With the kernel among the examples K = LLᵀ, k(x)·L⁻ᵀ are features in which the penalty is a sum of squares.
    They are then turned, in single precision, to be orthogonal.
    """
    from scipy.linalg import cholesky, solve_triangular  # slow to import, and not needed to predict

    present = distances[distances > 0]
    tau = width * float(np.median(present)) if len(present) else 1.0
    kernel = _kernel(tau, among)
    kernel[np.diag_indices_from(kernel)] += LEAST_VALUE * np.trace(kernel)
    root = cholesky(kernel, lower=True, check_finite=False)
    raw = solve_triangular(root, _kernel(tau, distances), lower=True, check_finite=False)
    centre = raw.mean(axis=1)
    centred = (raw - centre[:, np.newaxis]).astype(np.float32)
    squares, turn = np.linalg.eigh(centred @ centred.T / np.float32(len(raw.T)))
    kept = squares > LEAST_SHARE * squares[-1]
    squares = squares[kept].astype(np.float64)
    turn = turn[:, kept] / np.float32(np.sqrt(squares.sum()))
    mixing = solve_triangular(
        root, turn.astype(np.float64), lower=True, trans=1, check_finite=False
    )
    return Basis(tau, centred.T @ turn, mixing, centre @ turn, squares / squares.sum())


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
        doubled = 2 * (features @ solved[1:].astype(np.float32) + solved[0])
        losses = own * np.logaddexp(0.0, -doubled) + rest * np.logaddexp(0.0, doubled)
        P = expit(doubled)
        by_score = 2 * (rest * P - own * (1 - P))
        slope = np.concatenate(
            [by_score.sum(axis=0)[np.newaxis], features.T @ by_score.astype(np.float32)]
        )
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
    features = basis.features.astype(np.float64)
    mean = share @ features
    centred = features - mean
    weighted = centred * share[:, np.newaxis]
    values, vectors = np.linalg.eigh(weighted.T @ centred)
    along = vectors.T @ (weighted.T @ (target - middle))
    for penalty in penalties:
        slopes = vectors @ (along / (np.maximum(values, 0.0) + penalty / len(weight)))
        yield np.append(middle - mean @ slopes, slopes)[:, np.newaxis]
