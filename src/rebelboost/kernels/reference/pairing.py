"""What the search for similarities asks of the weights and distances of all samples."""
# ruff: noqa: ARG001  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Distances, Ints, Planes
from rebelboost.kernels.reference.weights import together


def nearest_rivals(
    distances: Distances, anchor_values: Ints, values: Ints, nearest: NDArray[np.int32]
) -> None:
    """Fill nearest[i] with the nearest samples whose value has the other sign than that of anchor i.

    Not with those at its own place; with −1 where there are no more. Of those that are as far away
    the first comes first.
    """
    opposed = np.sign(anchor_values)[:, np.newaxis] * np.sign(values) < 0
    to_rivals = np.where(opposed & (distances > 0), distances, np.inf)
    first = np.argsort(to_rivals, axis=1, kind="stable")[:, : nearest.shape[1]]
    found = np.isfinite(np.take_along_axis(to_rivals, first, axis=1))
    nearest[:] = -1
    nearest[:, : first.shape[1]] = np.where(found, first, -1)


def least_isolated(
    weights: Planes, totals: ByClass, signed_totals: ByClass, n_threads: int
) -> float:
    """The least loss that a response of 1 at one sample and −1 at all others can leave.

    min_n Σ_k √(S_k² − P_nk²), P_n = 2·G_n − ΣG. Class k is added to the (k mod 4)-th of four sums.
    """
    P = 2 * weights.sum(axis=0) - signed_totals
    left = np.sqrt(np.maximum(totals * totals - P * P, 0.0))
    lanes = np.zeros((4, len(left)))
    for k in range(left.shape[1]):
        lanes[k % 4] += left[:, k]
    return float(together(lanes).min(initial=np.inf))
