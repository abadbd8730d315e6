"""Binarization: merge many classes into two sides [LOCAL, Sec. 4; THESIS 5.3].

Binary learners need it. With U = G/√S, the leading eigenvector v = U·q₁ of UUᵀ gives each sample a label,
sign(v_n), and a weight, |v_n|. q₁ is the leading eigenvector of the K × K matrix UᵀU.
"""

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Floats
from rebelboost.base.fixed_point import exact_gram
from rebelboost.learners.base import AnyWeights
from rebelboost.losses.convex import along


def binarize(weights: AnyWeights) -> BySample:
    """(N,) v = U·q₁: label sign(v_n), weight |v_n|."""
    root = np.sqrt(weights.totals)
    U = np.divide(weights.signed, root, out=np.zeros_like(weights.signed), where=root > 0)
    return along(U, _leading(U))


def leading_direction(weights: AnyWeights) -> ByClass:
    """(K,) q₁/√S, so that v = G·q₁/√S."""
    unit = inverse_roots(weights.totals)
    return _leading(weights.signed * unit) * unit


def sides_of(sums: Floats, totals: ByClass) -> BySample:
    """(m,) the same of sums of G over m parts of the samples, such as categories or leaves [ADA, 3.4.2]."""
    U = sums * inverse_roots(totals)
    return along(U, _leading(U))


def inverse_roots(totals: ByClass) -> ByClass:
    """(K,) 1/√S; 0 where S is 0."""
    roots = np.sqrt(totals)
    return np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)


def leading_eigenvector(symmetric: Floats) -> Floats:
    """Eigenvector of the largest eigenvalue, with its largest entry positive."""
    vector = np.empty(len(symmetric))
    kernels.active.leading_eigenvector(np.ascontiguousarray(symmetric), vector)
    return vector


def _leading(U: Floats) -> ByClass:
    """Leading eigenvector of UᵀU.

    The sums are exact, so they do not depend on the order of the samples.
    """
    return leading_eigenvector(exact_gram(U))
