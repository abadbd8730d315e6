"""Which scales a table allows."""

import warnings

import numpy as np
import pytest

from rebelboost.data.spaces import SCALES, scales_for, unmeasurable

X = np.random.default_rng(0).normal(size=(20, 3))
NUMBERS = np.zeros(3, dtype=np.uint8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_usual_values_are_measured_without_a_warning(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unmeasurable(X.astype(dtype)) is None
        assert scales_for(X.astype(dtype), NUMBERS) == SCALES


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_the_first_feature_out_of_range_is_named(unit):
    assert unmeasurable(X * [1, unit, unit]) == 1
    assert scales_for(X * [1, unit, unit], NUMBERS) == ()


def test_constants_and_missing_values_are_measured():
    table = X.copy()
    table[:, 1] = 1e-200
    table[:5, 2] = np.nan
    assert unmeasurable(table) is None
