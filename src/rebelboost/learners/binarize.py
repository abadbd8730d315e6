"""Binarization: the classes as two sides, for learners that know but two [LOCAL, Sec. 4; THESIS 5.3]."""

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Floats
from rebelboost.base.exact_sums import exact_gram
from rebelboost.losses.smooth import AnyWeights, along


def binarize(weights: AnyWeights) -> BySample:
    """V = U·q₁, U = G/√S, q₁ the leading eigenvector of UᵀU: label sign(v_n), weight |v_n|."""
    signed = weights.signed
    root = np.sqrt(weights.totals)
    U = np.divide(signed, root, out=np.zeros_like(signed), where=root > 0)
    return along(U, leading(U))


def leading(U: Floats, squares: ByClass | None = None) -> ByClass:
    """The leading eigenvector of UᵀU, its largest entry positive; `squares` bound Σ U² of each class.

    The sums are exact, so that they do not depend on the order of samples.
    """
    q: ByClass = np.linalg.eigh(exact_gram(U, squares))[1][:, -1]
    return q * np.sign(q[np.argmax(np.abs(q))])
