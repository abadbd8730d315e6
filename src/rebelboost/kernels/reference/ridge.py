"""Least squares with a penalty, on features: sums of products, Cholesky's factor, triangular systems."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats
from rebelboost.base.kernel_arrays import Features

Real = TypeVar("Real", np.float32, np.float64)


def in_eight_lanes(values: NDArray[Real]) -> NDArray[Real]:
    """Sums along the last axis: the i-th number is added in lane i mod 8."""
    *others, n = values.shape
    n_groups = max(1, -(-n // 8))
    padded = np.zeros_like(values, shape=(*others, 8 * n_groups))
    padded[..., :n] = values
    lanes = np.add.accumulate(padded.reshape(*others, n_groups, 8), axis=-2)[..., -1, :]
    halves = lanes[..., :4] + lanes[..., 4:]
    pairs = halves[..., :2] + halves[..., 2:]
    return pairs[..., 0] + pairs[..., 1]


def weighted_gram(features: Features, weight: BySample, gram: Floats) -> None:
    """Fill (R, R) Σ_n weight·φᵢ·φⱼ, in the order of the points."""
    gram[:] = 0.0
    for row, share in zip(features.astype(np.float64), weight, strict=True):
        gram += np.multiply.outer(share * row, row)
    upper = np.triu(gram)
    gram[:] = upper + np.triu(upper, 1).T


def feature_sums(features: Features, values: Floats, sums: Floats) -> None:
    """Fill (m, R) Σ_n value·φ for each column of the (N, m) values, in the order of the points."""
    sums[:] = 0.0
    for row, value in zip(features.astype(np.float64), values, strict=True):
        sums += np.multiply.outer(value, row)


def ridge_factor(gram: Floats, ridge: float, factor: Floats) -> None:
    """Fill the upper triangular U with UᵀU = G + ridge·I, for the first rows and columns of G.

    No pivot is below `ridge`, but for rounding errors in G.
    """
    n = len(factor)
    factor[:] = 0.0
    left = gram[:n, :n] + ridge * np.eye(n)
    for k in range(n):
        root = np.sqrt(max(left[k, k], ridge))
        factor[k, k] = root
        factor[k, k + 1 :] = left[k, k + 1 :] / root
        left[k + 1 :, k + 1 :] -= np.multiply.outer(factor[k, k + 1 :], factor[k, k + 1 :])


def solve_lower(factor: Floats, values: Floats) -> None:
    """Replace (R, m) values by U⁻ᵀ·values."""
    for k in range(len(factor)):
        values[k] /= factor[k, k]
        values[k + 1 :] -= factor[k, k + 1 :, np.newaxis] * values[k]


def solve_upper(factor: Floats, values: Floats) -> None:
    """Replace (R, m) values by U⁻¹·values."""
    for k in range(len(factor) - 1, -1, -1):
        values[k] /= factor[k, k]
        values[:k] -= factor[:k, k, np.newaxis] * values[k]
