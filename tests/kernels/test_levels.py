"""Outputs of responses that take many levels: compiled = reference, and both are the best."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from kernels import builders, pair_calls
from kernels.calls import assert_same
from rebelboost.base.kernel_arrays import AFFINE, CONSTANT, LEVELS, SIGN, SLOPE
from rebelboost.kernels import reference
from rebelboost.losses.exponential import CAP, signed_output

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
n_classes = st.integers(1, 5)
rules = st.sampled_from([AFFINE, SLOPE, SIGN])


def solved(module, plus, minus, rule):
    """(2, K) outputs: every level has a sample with w⁺, and one with w⁻."""
    weights = np.concatenate([plus, -minus])[np.newaxis]
    levels = np.tile(np.arange(len(LEVELS), dtype=np.uint16), 2)
    totals = np.abs(weights).sum(axis=(0, 1))
    _, _, _, outputs = pair_calls.solve_levels(module, weights, totals, levels, rule)
    return outputs


def level_loss(plus, minus, by_level):
    """Σ w⁺e^h + w⁻e^{−h} over all levels and classes, for (L, K) h."""
    growth = np.exp(by_level)
    return float((plus * growth + minus / growth).sum())


@given(rngs, builders.n_planes, builders.n_samples, st.integers(1, 12), rules)
def test_compiled_outputs_equal_reference(compiled, rng, planes, n_rows, n_labels, rule):
    weights, totals = builders.balanced_weights(rng, planes, n_rows, n_labels)
    chosen = [0, CONSTANT] if rule == SIGN else np.arange(len(LEVELS))
    regions = rng.choice(chosen, n_rows).astype(np.uint16)
    case = (weights, totals, regions, rule)
    assert_same(pair_calls.solve_levels(compiled, *case), pair_calls.solve_levels(reference, *case))


@given(rngs, builders.n_planes, builders.n_samples, st.integers(1, 12), rules)
def test_the_loss_is_that_of_the_outputs(either, rng, planes, n_rows, n_labels, rule):
    weights, totals = builders.balanced_weights(rng, planes, n_rows, n_labels)
    regions = rng.choice([0, 7, 90, CONSTANT], n_rows).astype(np.uint16)
    loss, plus, minus, (a, b) = pair_calls.solve_levels(either, weights, totals, regions, rule)
    # Fixed point rounds sums to 2⁻⁴⁹ of the totals.
    np.testing.assert_allclose((plus + minus).sum(axis=0), totals, rtol=0, atol=1e-12)
    np.testing.assert_allclose((plus - minus).sum(axis=0), weights.sum(axis=(0, 1)), atol=1e-12)
    expected = level_loss(plus, minus, LEVELS[:, np.newaxis] * a + b)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)


def random_sums(rng, n_classes):
    """(levels, K) w⁺ and w⁻: many levels without weight, weights over orders of magnitude.

    They are multiples of 2⁻⁴⁰, which fixed point represents exactly.
    """
    shape = (len(LEVELS), n_classes)
    plus, minus = np.exp(rng.normal(0, rng.choice([0.3, 3]), (2, *shape)))
    used = rng.random((2, len(LEVELS), 1)) < rng.choice([0.05, 0.5, 1.0])
    used[0, rng.integers(len(LEVELS))] = used[1, rng.integers(len(LEVELS))] = True
    plus, minus = plus * used[0], minus * used[1]
    plus, minus = plus / plus.sum(axis=0), minus / minus.sum(axis=0) * np.exp(rng.normal(0, 1))
    return np.rint(plus * 2.0**40) / 2.0**40, np.rint(minus * 2.0**40) / 2.0**40


def smoothed(plus, minus, a):
    """What the rule SLOPE minimises for one class."""
    total = (plus + minus).sum()
    grown = (plus * np.exp(LEVELS * a) + minus * np.exp(-LEVELS * a)).sum()
    return grown / total + CAP * np.cosh(a)


@given(rngs, n_classes)
def test_an_output_by_levels_leaves_no_slope(either, rng, n_classes):
    plus, minus = random_sums(rng, n_classes)
    a, b = solved(either, plus, minus, SLOPE)
    assert not b.any()
    grown = np.exp(LEVELS[:, np.newaxis] * a)
    f, total = LEVELS[:, np.newaxis], (plus + minus).sum(axis=0)
    slope = (f * (plus * grown - minus / grown)).sum(axis=0) / total + CAP * np.sinh(a)
    curvature = (f * f * (plus * grown + minus / grown)).sum(axis=0) / total + CAP * np.cosh(a)
    # The last step promised to lower the loss by less than 1e-12 = slope²/curvature, and left less.
    assert (slope**2 <= 1e-12 * curvature).all()


@given(rngs)
@settings(max_examples=20)
def test_an_output_by_levels_is_that_of_scipy(either, rng):
    plus, minus = random_sums(rng, 1)
    (a,), _ = solved(either, plus, minus, SLOPE)
    found = minimize(lambda a: smoothed(plus[:, 0], minus[:, 0], a), 0.0, bounds=[(-12, 12)])
    assert smoothed(plus[:, 0], minus[:, 0], a) <= found.fun * (1 + 1e-9) + 1e-11


@given(rngs, n_classes)
def test_an_affine_output_leaves_no_slope(either, rng, n_classes):
    plus, minus = random_sums(rng, n_classes)
    a, b = solved(either, plus, minus, AFFINE)
    f, grown = LEVELS[:, np.newaxis], np.exp(LEVELS[:, np.newaxis] * a)
    up, down = plus * grown, minus / grown
    A, B = up.sum(axis=0), down.sum(axis=0)
    slope = (f * up).sum(axis=0) / A - (f * down).sum(axis=0) / B + CAP * np.sinh(a)
    curvature = (f * f * up).sum(axis=0) / A + (f * f * down).sum(axis=0) / B + CAP * np.cosh(a)
    assert (slope**2 <= 1e-12 * curvature).all()
    # b: A·e^b = B·e^−b, but for smoothing of CAP·(A + B) on both sides.
    np.testing.assert_allclose(
        (A + CAP * (A + B)) * np.exp(b), (B + CAP * (A + B)) * np.exp(-b), rtol=1e-12
    )


@given(rngs)
@settings(max_examples=20)
def test_an_affine_output_loses_no_more_than_that_of_scipy(either, rng):
    plus, minus = random_sums(rng, 1)

    def loss(x):
        return level_loss(plus, minus, LEVELS[:, np.newaxis] * x[0] + x[1])

    found = minimize(loss, np.zeros(2), bounds=[(-9, 9), (-20, 20)])
    # With a bounded by 9, the cap on a is worth at most CAP·cosh 9 of ln A + ln B, which is twice the
    # logarithm of the loss; that on b raises a loss by far less.
    assert loss(solved(either, plus, minus, AFFINE)) <= found.fun * (1 + CAP * np.cosh(9) + 1e-9)


@given(rngs, n_classes)
def test_an_offset_never_raises_the_loss(either, rng, n_classes):
    plus, minus = random_sums(rng, n_classes)
    a, b = solved(either, plus, minus, AFFINE)
    with_offset = level_loss(plus, minus, LEVELS[:, np.newaxis] * a + b)
    without = level_loss(plus, minus, LEVELS[:, np.newaxis] * solved(either, plus, minus, SLOPE)[0])
    # The cap on a: where the loss without an offset has a smaller a, as above.
    assert with_offset <= without * (1 + CAP * np.cosh(9.6) + 1e-9)


@given(rngs, n_classes)
def test_signs_have_the_closed_form(either, rng, n_classes):
    plus, minus = np.zeros((2, len(LEVELS), n_classes))
    plus[[0, CONSTANT]], minus[[0, CONSTANT]] = rng.uniform(0.1, 2, (2, 2, n_classes))
    P = (LEVELS[:, np.newaxis] * (plus - minus)).sum(axis=0)
    S = (plus + minus).sum(axis=0)
    a, _ = solved(either, plus, minus, SLOPE)
    # Both are smoothed by CAP·S: here S·cosh a, there S on either side of the ratio, ½ of each.
    np.testing.assert_allclose(a, signed_output(P, S), rtol=0, atol=1e-6)
    # With an offset each of the two levels has an output of its own.
    a, b = solved(either, plus, minus, AFFINE)
    best = 0.5 * np.log(minus[[0, CONSTANT]] / plus[[0, CONSTANT]])
    np.testing.assert_allclose([b - a, b + a], best, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rule", [SLOPE, AFFINE])
def test_perfect_responses_have_finite_outputs(either, rule):
    plus, minus = np.zeros((2, len(LEVELS), 3))
    plus[0, 0] = minus[CONSTANT, 0] = 1.0  # told apart; class 1 has no weight; class 2 no minus
    plus[CONSTANT, 2] = 1.0
    with np.errstate(all="raise"):
        outputs = solved(either, plus, minus, rule)
    assert np.isfinite(outputs).all()
    assert outputs[0, 0] > 5
    assert not outputs[:, 1].any()
    before = level_loss(plus, minus, np.zeros((len(LEVELS), 3)))
    after = level_loss(plus, minus, LEVELS[:, np.newaxis] * outputs[0] + outputs[1])
    assert after < 1e-3 * before


@pytest.mark.parametrize("rule", [SLOPE, AFFINE])
@given(rngs, n_classes)
def test_no_output_raises_the_loss(either, rule, rng, n_classes):
    plus, minus = random_sums(rng, n_classes)
    if rng.random() < 0.5:  # a class that one side has all of
        (plus if rng.random() < 0.5 else minus)[:, 0] = 0.0
    a, b = solved(either, plus, minus, rule)
    by_level = LEVELS[:, np.newaxis] * a + b
    after = (plus * np.exp(by_level) + minus * np.exp(-by_level)).sum(axis=0)
    assert (after <= (plus + minus).sum(axis=0) * (1 + 1e-9)).all()
