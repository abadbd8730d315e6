"""Small linear algebra by elementwise + − × / and √ in a fixed order.

The routines of BLAS and LAPACK differ in their last bits from one type of processor to another.
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


def ordered_product(left: Floats, right: Floats) -> Floats:
    """(N, M) matrix product of (N, K) and (K, M), term by term."""
    product = np.zeros((len(left), right.shape[1]))
    for k in range(len(right)):
        product += left[:, k, np.newaxis] * right[k]
    return product


def ordered_sum(x: Floats) -> Floats:
    """Sums over the last axis, term by term. NumPy adds eight terms or more in an order of its own."""
    total: Floats = np.add.accumulate(x, axis=-1)[..., -1]
    return total


def solved(matrices: Floats, right: Floats) -> Floats:
    """(N, K) solutions for (N, K, K) matrices, by elimination without exchanging rows.

    This is stable for matrices that are positive on the diagonal and nowhere else, with a positive inverse.
    """
    left, found = matrices.copy(), right.copy()
    n = found.shape[1]
    for k in range(n):
        share = left[:, k + 1 :, k] / left[:, k, k, np.newaxis]
        left[:, k + 1 :, k + 1 :] -= share[:, :, np.newaxis] * left[:, k, np.newaxis, k + 1 :]
        found[:, k + 1 :] -= share * found[:, k, np.newaxis]
    for k in reversed(range(n)):
        found[:, k] /= left[:, k, k]
        found[:, :k] -= left[:, :k, k] * found[:, k, np.newaxis]
    return found


def right_inverse(D: Floats, least: float) -> Floats | None:
    """(K, M) R with D·R = I and columns in the span of D's rows: the pseudo-inverse, if these are independent.

    None if less than the share `least` of a row is independent of those before. Gram and Schmidt, each
    row twice, give D = LQ with orthonormal rows of Q; then R = QᵀL⁻¹.
    """
    n_rows = len(D)
    Q, L, inverse = D.copy(), np.zeros((n_rows, n_rows)), np.eye(n_rows)
    for i in range(n_rows):
        for _ in range(2):
            along = (Q[:i] * Q[i]).sum(axis=1)
            Q[i] -= (along[:, np.newaxis] * Q[:i]).sum(axis=0)
            L[i, :i] += along
        L[i, i] = np.sqrt((Q[i] ** 2).sum())
        if not L[i, i] > least * np.sqrt((D[i] ** 2).sum()):
            return None
        Q[i] /= L[i, i]
    for k in range(n_rows):
        inverse[k] /= L[k, k]
        inverse[k + 1 :] -= L[k + 1 :, k, np.newaxis] * inverse[k]
    return ordered_product(np.ascontiguousarray(Q.T), inverse)
