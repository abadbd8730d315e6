"""Binarization: many classes merged into two sides [LOCAL, Sec. 4; THESIS 5.3]."""

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Pairs, Planes, Projection
from rebelboost.base.fixed_point import coarse_scale
from rebelboost.kernels.reference.weights import project

MOST_SQUARINGS = 20
UNCHANGED = 2.0**-40
NEGLIGIBLE = 2.0**-400


def leading_eigenvector(matrix: Floats, q: ByClass) -> None:
    """Fill q with the leading eigenvector of a symmetric positive semidefinite matrix; 0 if that is 0.

    Repeated squaring leaves only the leading eigenspace. q is the column of the result with the largest
    diagonal entry, of length 1. If the leading eigenvalue is multiple, or nearly, this is the projection of
    a unit vector on its space. Sums are in the order of the classes.
    """
    q[:] = 0.0
    B, before = matrix, 0.0
    trace = _in_order(np.diag(B))
    if not trace > 0:
        return
    for _ in range(MOST_SQUARINGS):
        B = _square(B / trace)
        trace = _in_order(np.diag(B))
        if abs(trace - before) <= UNCHANGED * trace:
            break
        before = trace
    column = B[:, np.argmax(np.diag(B))]
    q[:] = column / np.sqrt(_in_order(column * column))


def _square(B: Floats) -> Floats:
    found = np.zeros_like(B)
    for k in range(len(B)):
        found += np.multiply.outer(B[:, k], B[k])
    return np.where(np.abs(found) < NEGLIGIBLE, 0.0, found)


def binarize(weights: Planes, totals: ByClass, values: Pairs, n_threads: int) -> None:
    """Fill `values` with pairs v·2³² + mass: v = U·q₁, U = G/√S, and mass = Σ_k W_k/S_k, in fixed point."""
    roots = np.sqrt(totals)
    unit = np.divide(1.0, roots, out=np.zeros_like(roots), where=totals > 0)
    # Σ G²/S ≤ S, since no |G| exceeds its sum: squares of the integers sum to less than 2⁵².
    exponent = 25 - (np.frexp(totals)[1] + 1) // 2
    integers = np.rint(np.ldexp(weights.sum(axis=0) * unit, exponent))
    gram = np.ldexp(integers.T @ integers, -(exponent[:, np.newaxis] + exponent))
    direction = np.empty_like(unit)
    leading_eigenvector(gram, direction)
    direction *= unit
    squares = unit * unit
    scales = (_in_order(totals * np.abs(direction)), _in_order(totals * squares))
    projection = Projection(direction, squares, *map(coarse_scale, scales))
    project(weights, projection, values, n_threads)


def _in_order(values: Floats) -> float:
    """Sum, one after the other."""
    return float(np.add.accumulate(values)[-1])
