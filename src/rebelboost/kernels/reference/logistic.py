"""Logistic regression of each class on features, by L-BFGS [Liu and Nocedal 1989] on whitened coefficients."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats
from rebelboost.base.kernel_arrays import DescentOptions, Features
from rebelboost.kernels.reference.descent import Descent
from rebelboost.kernels.reference.elementary import exponentials
from rebelboost.kernels.reference.ridge import in_eight_lanes

ROWS_AT_ONCE = 128
"""Points whose slopes are added in single precision."""
BLOCK = 8
"""Unknowns of a triangular system that are solved together."""

Singles = NDArray[np.float32]


class _Block(NamedTuple):
    """Some rows of a triangular matrix: its columns left of the diagonal, and the inverse on the diagonal."""

    place: slice
    before: Singles
    """(8, n) the columns of the unknowns that are solved already."""
    inverse: Singles
    """(8, 8)"""


def solve_logistic(
    features: Features, mass: Floats, factor: Floats, options: DescentOptions, solved: Floats
) -> None:
    """Minimise Σ own·ln(1 + e^{−2H}) + rest·ln(1 + e^{2H}) + ridge/2·‖c‖² for each class, H = b + ⟨c, φ⟩.

    `mass` (2, K, N) is the weight of the class and that of the others at each point. Rows (b, c) of `solved`
    are the start, and become the result. Only the first features are used; other coefficients stay as they are.
    The upper triangular factor U whitens: in terms of U·c, the curvature is at most about 1.
    """
    n = options.n_features
    factor = factor[:n, :n]
    kept = np.flatnonzero(mass[0, 0] + mass[1, 0] > 0)
    here = np.ascontiguousarray(features[kept, :n])
    forward, backward = _blocks(factor.T), _blocks(factor[::-1, ::-1])
    for own, rest, row in zip(mass[0][:, kept], mass[1][:, kept], solved, strict=True):
        coefficients = row[1 : 1 + n]
        whitened = in_eight_lanes(factor * coefficients)
        descent = Descent(np.concatenate([whitened, row[:1]]), options)
        going_on = True
        while going_on:
            constant = descent.trial[-1]
            c = _substitute(backward, descent.trial[-2::-1].astype(np.float32))[::-1]
            by_feature, by_constant = _slopes(here, (own, rest), c, constant)
            slope = by_feature + options.ridge * c.astype(np.float64)
            white = _substitute(forward, slope.astype(np.float32))
            going_on = descent.take(np.append(white.astype(np.float64), by_constant))
        row[0], coefficients[:] = constant, c


def _slopes(
    features: Features, mass: tuple[BySample, BySample], c: Singles, constant: float
) -> tuple[Floats, float]:
    """Derivatives of the loss by the coefficients and by the constant."""
    own, rest = mass
    products: Singles = features * c
    doubled = 2 * (in_eight_lanes(products).astype(np.float64) + constant)
    e = np.empty_like(doubled)
    exponentials(-np.abs(doubled), e)
    larger = 1 / (1 + e)
    smaller = e * larger
    P, Q = np.where(doubled < 0, (smaller, larger), (larger, smaller))
    by_score = 2 * (rest * P - own * Q)
    weighted = by_score.astype(np.float32)[:, np.newaxis] * features
    found = np.zeros(len(c))
    for first in range(0, len(features), ROWS_AT_ONCE):
        part = np.add.accumulate(weighted[first : first + ROWS_AT_ONCE], axis=0)[-1]
        found += part.astype(np.float64)
    return found, float(in_eight_lanes(by_score))


# ---- triangular systems in single precision


def _blocks(lower: Floats) -> list[_Block]:
    """Blocks of a lower triangular matrix, in the order in which they are solved."""
    found = []
    for first in range(0, len(lower), BLOCK):
        place = slice(first, first + BLOCK)
        before = lower[place, :first].astype(np.float32)
        found.append(_Block(place, before, _inverse(lower[place, place]).astype(np.float32)))
    return found


def _inverse(lower: Floats) -> Floats:
    """The inverse of a small lower triangular matrix."""
    found = np.zeros_like(lower)
    for j in range(len(lower)):
        found[j, j] = 1 / lower[j, j]
        for i in range(j + 1, len(lower)):
            total = 0.0
            for k in range(j, i):
                total += lower[i, k] * found[k, j]
            found[i, j] = -total / lower[i, i]
    return found


def _substitute(blocks: list[_Block], values: Singles) -> Singles:
    """Solve a lower triangular system, block by block."""
    found = np.zeros_like(values)
    for block in blocks:
        products: Singles = block.before * found[: block.place.start]
        left = values[block.place] - in_eight_lanes(products)
        terms = block.inverse * left
        found[block.place] = np.add.accumulate(terms, axis=1)[:, -1]
    return found
