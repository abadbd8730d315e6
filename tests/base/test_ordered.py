"""Sums, products and solutions that are the same in every language: term by term."""

import numpy as np
import pytest

from rebelboost.base.fixed_point import exact_product, product_factors
from rebelboost.base.triangular import ordered_sum, solved


@pytest.mark.parametrize("n", [1, 7, 8, 9, 200])
def test_sums_are_added_one_term_after_the_other(n):
    rows = np.random.default_rng(n).normal(size=(5, n)) * 10.0 ** np.arange(5)[:, np.newaxis]
    for row, total in zip(rows, ordered_sum(rows), strict=True):
        expected = 0.0
        for value in row.tolist():
            expected += value
        assert total == expected


def test_elimination_solves_what_noda_iterates():
    rng = np.random.default_rng(0)
    A = rng.uniform(0, 1, size=(20, 6, 6))
    matrices = 1.1 * A.sum(axis=2).max(axis=1)[:, np.newaxis, np.newaxis] * np.eye(6) - A
    right = rng.uniform(0, 1, size=(20, 6))
    # Condition numbers are about 10, so that 14 digits agree.
    np.testing.assert_allclose(
        np.einsum("nij,nj->ni", matrices, solved(matrices, right)), right, rtol=1e-13
    )


def test_rows_whose_sums_are_not_exact_are_multiplied_term_by_term():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(9, 30)), rng.normal(size=(30, 30))
    left[::2] *= 1e60
    factors, exponent = product_factors(right)
    for row, found in zip(left, exact_product(left, right), strict=True):
        units = np.rint(np.ldexp(row, 14))
        for k in range(30):
            total = 0.0
            for unit, factor in zip(units.tolist(), factors[:, k].tolist(), strict=True):
                total += unit * factor
            assert found[k] == np.ldexp(total, exponent)
