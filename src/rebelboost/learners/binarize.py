"""Binarization: the classes as two sides, for learners that know but two [LOCAL, Sec. 4; THESIS 5.3]."""

import numpy as np

from rebelboost import kernels
from rebelboost.risk import fine_scales
from rebelboost.shapes import BySample, Floats
from rebelboost.slopes import AnyWeights, Slopes, along, largest


def binarize(weights: AnyWeights) -> BySample:
    """V = U·q₁, U = G/√S, q₁ the leading eigenvector of UᵀU: label sign(v_n), weight |v_n|.

    Of ±v, that one whose q₁ has a positive largest entry. Sums are in fixed point, so that UᵀU does
    not depend on the order of samples.
    """
    signed = weights.signed if isinstance(weights, Slopes) else weights.planes.sum(axis=0)
    root = np.sqrt(weights.totals)
    U = np.divide(signed, root, out=np.zeros_like(signed), where=root > 0)
    _, vectors = np.linalg.eigh(_gram(U, weights.n_threads))
    q = vectors[:, -1]
    return along(U, q * np.sign(q[np.argmax(np.abs(q))]))


def _gram(U: Floats, n_threads: int) -> Floats:
    """UᵀU, row by row."""
    n_classes = U.shape[1]
    gram = np.zeros((n_classes, n_classes))
    everywhere = np.zeros(len(U), dtype=np.uint16)
    for k in range(n_classes):
        products = U[:, k : k + 1] * U[:, k:]
        scales = fine_scales(largest(products) * len(U))
        sums = np.zeros((1, 2, n_classes - k), dtype=np.int64)
        kernels.active.region_sums(products[np.newaxis], everywhere, scales, sums, n_threads)
        gram[k, k:] = gram[k:, k] = sums[0, 0] / scales
    return gram
