"""Factors of covariance matrices, by elementwise + − × / and √ in a fixed order.

LAPACK's routines differ in their last bits from one type of processor to another.
"""

import numpy as np

from rebelboost.base.arrays import Floats


def inverse_factor(covariance: Floats) -> Floats:
    """(D, D) upper triangular T with T·Tᵀ = C⁻¹, for a positive definite C: Cholesky's factor, inverted.

    Gaussian elimination of C beside the identity: what turns C into a triangle turns the identity into the
    inverse of its factor.
    """
    left, right = covariance.copy(), np.eye(len(covariance))
    for k in range(len(left)):
        share = left[k + 1 :, k, np.newaxis] / left[k, k]
        left[k + 1 :, k + 1 :] -= share * left[k, k + 1 :]
        right[k + 1 :, : k + 1] -= share * right[k, : k + 1]
        right[k, : k + 1] /= np.sqrt(left[k, k])
    return np.ascontiguousarray(right.T)
