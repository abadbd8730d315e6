import numpy as np
import pytest

from rebelboost.base.triangular import inverse_factor, ordered_product, right_inverse


@pytest.mark.parametrize("width", [1, 2, 7, 40])
def test_the_factor_whitens_and_is_triangular(width):
    rng = np.random.default_rng(width)
    X = rng.standard_normal((4 * width, width)) * rng.uniform(0.01, 100, width)
    covariance = X.T @ X
    T = inverse_factor(covariance)
    assert (np.tril(T, -1) == 0).all()
    # Backward stable: errors grow with the condition number, here about 10⁹ at most.
    np.testing.assert_allclose(T.T @ covariance @ T, np.eye(width), rtol=0, atol=1e-6)


def test_small_integers_give_the_factor_by_hand():
    # C = LLᵀ with L = [[2, 0], [6, 1]], L⁻¹ = [[½, 0], [−3, 1]].
    T = inverse_factor(np.array([[4.0, 12.0], [12.0, 37.0]]))
    np.testing.assert_array_equal(T, [[0.5, -3.0], [0.0, 1.0]])


def test_products_of_integers_are_exact():
    rng = np.random.default_rng(0)
    left, right = rng.integers(-99, 99, (7, 4)), rng.integers(-99, 99, (4, 3))
    np.testing.assert_array_equal(ordered_product(left, right), left @ right)


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (6, 6)])
def test_the_right_inverse_is_the_pseudo_inverse(shape):
    D = np.random.default_rng(1).uniform(size=shape)
    np.testing.assert_allclose(right_inverse(D, 1e-9), np.linalg.pinv(D), rtol=0, atol=1e-11)


def test_dependent_rows_have_no_right_inverse():
    assert right_inverse(np.array([[1.0, 2, 3], [4, 5, 6], [5, 7, 9]]), 1e-9) is None
