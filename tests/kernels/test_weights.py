import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost import RebelClassifier
from rebelboost.base.arrays import Projection
from rebelboost.base.fixed_point import coarse_scale, fine_scales
from rebelboost.kernels import reference

weights = st.builds(
    builders.random_weights,
    builders.rngs,
    builders.n_planes,
    builders.n_samples,
    builders.n_classes,
)
n_regions = st.sampled_from([1, 2, 5, 64])


@given(builders.rngs, weights)
def test_compiled_projections_equal_reference(compiled, rng, weights):
    projection = builders.random_projection(rng, weights)
    ours = calls.project(compiled, weights, projection)
    assert_same(ours, calls.project(reference, weights, projection))


@given(builders.rngs, weights)
def test_compiled_fixed_weights_equal_reference(compiled, rng, weights):
    samples = builders.random_samples(rng, weights.shape[1])
    case = weights, samples, 2.0**12
    assert_same(calls.fix_weights(compiled, *case), calls.fix_weights(reference, *case))


@given(builders.rngs, weights, n_regions)
def test_compiled_sums_of_regions_equal_reference(compiled, rng, weights, n_regions):
    regions = builders.random_regions(rng, weights.shape[1], n_regions)
    case = (weights, regions, builders.fine_scales(weights), n_regions)
    assert_same(calls.region_sums(compiled, *case), calls.region_sums(reference, *case))


@given(builders.rngs, weights, n_regions)
def test_compiled_steps_equal_reference(compiled, rng, weights, n_regions):
    scores = rng.integers(-4, 5, weights.shape[1:]) / 2
    regions = builders.random_regions(rng, len(scores), n_regions)
    case = (weights, scores, regions, builders.random_step(rng, weights, n_regions))
    assert_same(calls.advance(compiled, *case), calls.advance(reference, *case))


@given(builders.rngs, weights, n_regions)
def test_compiled_logistic_sums_equal_reference(compiled, rng, weights, n_regions):
    regions = builders.random_regions(rng, weights.shape[1], n_regions)
    case = (builders.random_line(rng, weights, n_regions), regions)
    ours = calls.logistic_sums(compiled, *case)
    np.testing.assert_array_equal(ours, calls.logistic_sums(reference, *case))
    np.testing.assert_array_equal(ours, calls.logistic_sums(compiled, *case, n_threads=3))


@given(builders.rngs, weights)
def test_a_projection_packs_what_its_formula_says(either, rng, weights):
    # Small integers as weights and directions: floats are exact, in whatever order they are added.
    weights = rng.integers(-3, 4, weights.shape).astype(np.float64)
    direction = rng.integers(-3, 4, weights.shape[2]).astype(np.float64)
    values = calls.project(either, weights, Projection(direction, direction**2, 0.5, 4.0))
    np.testing.assert_array_equal(values >> 32, np.rint((weights @ direction).sum(axis=0) / 2))
    mass = (np.abs(weights) @ direction**2).sum(axis=0)
    np.testing.assert_array_equal(values & 0xFFFFFFFF, 4 * mass)


@given(builders.rngs, weights, n_regions)
def test_the_totals_of_a_step_are_the_sums_of_the_new_weights(either, rng, weights, n_regions):
    scores = np.zeros(weights.shape[1:])
    regions = builders.random_regions(rng, len(scores), n_regions)
    step = builders.random_step(rng, weights, n_regions)
    moved, _, totals, decided = calls.advance(either, weights, scores, regions, step)
    sums = calls.region_sums(either, moved, regions, step.scales, n_regions) - calls.RUBBISH
    np.testing.assert_array_equal(totals - calls.RUBBISH, sums[:, 1].sum(axis=0))
    np.testing.assert_array_equal(decided, step.outputs[regions].argmax(axis=1))


def test_weights_too_small_to_count_become_zero(either):
    weights = np.array([[[2.0**-899, -(2.0**-899), 2.0**-898, 0.0, 1.0]]])
    less = np.full((1, 5), 2.0**-2)
    step = builders.Step(np.zeros((1, 5)), less, less, np.ones(5))
    regions = np.zeros(1, dtype=np.uint16)
    moved, *_ = calls.advance(either, weights, np.zeros((1, 5)), regions, step)
    assert moved.ravel().tolist() == [0.0, 0.0, 2.0**-900, 0.0, 0.25]


def test_weights_that_vanish_have_finite_sums():
    """The sum of the last weights is below 2⁻⁹⁷⁴, so that its scale was infinite, and 0 times it NaN."""
    rng = np.random.default_rng(27)
    y = np.r_[0, 1, 2, rng.integers(3, size=17)]
    X = np.c_[y + 0.01 * rng.normal(size=20), rng.normal(size=20)]
    weight = 10.0 ** rng.uniform(-200, 0, 20)
    model = RebelClassifier("stump", n_rounds=400, tol=0, cross_fit=None, shrinkage=1.0)
    model.fit(X, y, sample_weight=weight)
    losses = np.array([record.log_loss for record in model.history_])
    assert (np.diff(losses) <= 0).all()
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("total", [2.0**-974, 2.0**-1000, 5e-324])
def test_scales_of_vanishing_totals_are_finite_powers_of_two(total):
    (fine,) = fine_scales(np.array([total]))
    for scale, bits in ((fine, 50), (coarse_scale(total), 30)):
        assert np.isfinite(scale)
        assert np.frexp(scale)[0] == 0.5
        assert total * scale <= 2.0**bits
