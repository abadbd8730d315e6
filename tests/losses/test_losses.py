"""The losses: derivatives, best outputs, floors; and the line search by which outputs are found."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rebelboost.base.fixed_point import FINE_BITS
from rebelboost.costs.posterior import Decoder
from rebelboost.losses.classes import CLASS_LOSSES, Logistic, Squared
from rebelboost.losses.exponential import CAP, rebel_subcosts, thesis_subcosts
from rebelboost.losses.line_search import Precision, rising_root
from rebelboost.losses.regression import Huber, LeastAbsolute, LeastSquares
from rebelboost.losses.regression import medians_by_region as medians
from rowwise import slopes_of

N, K, L = 40, 3, 4
RNG = np.random.default_rng(0)
LABELS = RNG.integers(K, size=N).astype(np.int32)
COSTS = RNG.uniform(0.5, 2, size=(K, K)) * (1 - np.eye(K))
TARGET, WEIGHT = RNG.normal(size=N), RNG.uniform(0.5, 2, size=N)
REGIONS = RNG.integers(L, size=N).astype(np.uint16)

# A new loss is tested by being added here.
LOSSES = {
    "logistic": Logistic(thesis_subcosts(COSTS[LABELS], LABELS)),
    "logistic, two planes": Logistic(rebel_subcosts(COSTS[LABELS], LABELS)),
    "squared": Squared(thesis_subcosts(COSTS[LABELS], LABELS)),
    "squared, two planes": Squared(rebel_subcosts(COSTS[LABELS], LABELS)),
    "least squares": LeastSquares(TARGET, WEIGHT),
    "Huber": Huber(TARGET, WEIGHT, 0.7),
    "absolute": LeastAbsolute(TARGET, WEIGHT),
}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@every_loss
def test_slopes_are_finite_differences_of_values(loss):
    scores, step = RNG.normal(size=loss.shape), 1e-6
    slope, _ = loss.derivatives(scores)
    difference = (loss.values(scores + step) - loss.values(scores - step)) / (2 * step)
    # No score is within a step of a kink; curvatures are below 10, third derivatives too.
    np.testing.assert_allclose(slope, difference, rtol=0, atol=1e-8)


@every_loss
def test_curvatures_are_differences_of_slopes_or_bound_them(loss):
    scores, step = RNG.normal(size=loss.shape), 1e-6
    _, curvature = loss.derivatives(scores)
    difference = (loss.derivatives(scores + step)[0] - loss.derivatives(scores - step)[0]) / (
        2 * step
    )
    assert np.all(difference <= curvature + 1e-8)
    if not isinstance(loss, Huber | LeastAbsolute):
        np.testing.assert_allclose(curvature, difference, rtol=0, atol=1e-8)


@every_loss
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_no_other_output_of_a_leaf_has_a_lower_loss(loss, smoothing):
    slopes = slopes_of(loss, RNG.normal(size=loss.shape))
    plus, minus = slopes.sums(REGIONS, L)
    outputs = slopes.leaf_outputs(REGIONS, plus, minus, smoothing)
    if isinstance(loss, LeastAbsolute) and smoothing:
        return  # its medians are drawn to 0 by a factor, not by a ridge
    ridge = max(smoothing / L, 1e-8) * slopes.totals

    def penalised(outputs):
        values = loss.values(slopes.scores + outputs[REGIONS])
        by_leaf = np.stack([values[leaf == REGIONS].sum(axis=0) for leaf in range(L)])
        return by_leaf + ridge * outputs**2 / 2

    for other in (outputs - 1e-3, outputs + 1e-3, outputs * 0.5, np.zeros_like(outputs)):
        assert np.all(penalised(outputs) <= penalised(other) + 1e-12)


@every_loss
def test_no_other_output_of_a_response_has_a_lower_loss(loss):
    if isinstance(loss, LeastAbsolute):
        return  # the regressor refuses it
    slopes = slopes_of(loss, RNG.normal(size=loss.shape))
    signs = np.array([1, -1, -1, 1], dtype=np.int8)
    plus, minus = slopes.sums(REGIONS, L)
    output = slopes.signed_output(REGIONS, signs, plus, minus)
    least = slopes.loss_after(REGIONS, plus, minus, signs[:, np.newaxis] * output)
    for k in range(loss.shape[1]):
        for step in (-1e-3, 1e-3):
            other = output + step * np.eye(loss.shape[1])[k]
            outputs = signs[:, np.newaxis] * other
            # The ridge, which this loss leaves out, moves the minimum by about CAP.
            assert least <= slopes.loss_after(REGIONS, plus, minus, outputs) + 1e-9


@pytest.mark.parametrize("name", ["squared", "squared, two planes", "least squares"])
def test_the_output_of_a_response_to_parabolas_is_their_minimum_with_the_ridge(name):
    loss = LOSSES[name]
    slopes = slopes_of(loss, RNG.normal(size=loss.shape))
    signs = np.array([1, -1, -1, 1], dtype=np.int8)
    slope, curvature = loss.derivatives(slopes.scores)
    total = curvature.sum(axis=0)
    expected = -(signs[REGIONS, np.newaxis] * slope).sum(axis=0) / ((1 + CAP) * total)
    output = slopes.signed_output(REGIONS, signs, *slopes.sums(REGIONS, L))
    # Slopes and curvatures are each rounded to half a unit: N times their largest, in 50 bits.
    rounded = N * np.maximum(np.abs(slope), curvature).max() * N * 2.0**-FINE_BITS / total
    assert np.all(np.abs(output - expected) <= rounded)
    assert np.all(rounded < 1e-3 * CAP * np.abs(expected))  # too little to hide the ridge


@pytest.mark.parametrize("kind", [Logistic, Squared])
def test_no_scores_have_a_loss_below_the_floor_and_some_reach_it(kind):
    loss = kind(rebel_subcosts(COSTS[LABELS], LABELS))
    slopes = slopes_of(loss, np.zeros((N, K)))
    everyone = np.arange(N, dtype=np.uint16)  # a leaf for each sample
    scores = slopes.best_outputs(everyone, np.full((N, K), 1e-12))
    assert loss.values(scores).sum() == pytest.approx(loss.floor(), rel=1e-6)
    assert kind(thesis_subcosts(COSTS[LABELS], LABELS)).floor() == 0


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("costs", [1 - np.eye(K), COSTS], ids=["uniform", "unequal"])
def test_the_posterior_is_decoded_from_the_best_scores(loss, costs):
    P = np.array([0.5, 0.3, 0.2])
    labels = np.arange(K, dtype=np.int32)
    subcosts = thesis_subcosts(costs[labels], labels) * P[:, np.newaxis]
    risk = {"logistic": Logistic, "squared": Squared}[loss](subcosts)
    slopes = slopes_of(risk, np.zeros((K, K)))
    together = np.zeros(K, dtype=np.uint16)
    scores = slopes.best_outputs(together, np.full((1, K), 1e-12))
    decoded = Decoder(costs, loss=loss).posterior(scores)
    np.testing.assert_allclose(decoded[0], P, atol=1e-6)


def test_squared_scores_beyond_one_have_finite_ratios():
    ratios = CLASS_LOSSES["squared"].log_ratios(np.array([[-5.0, -1.0, 0.0, 1.0, 5.0]]))
    assert np.all(np.isfinite(ratios))
    assert np.all(np.diff(ratios) >= 0)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2), st.integers(1, 3)), min_size=1))
def test_medians_split_the_weight_of_each_region_in_halves(rows):
    values, regions, weight = (np.array(column) for column in zip(*rows, strict=True))
    found = medians(values.astype(float), weight.astype(float), regions.astype(np.uint16), 3)
    for region, median in enumerate(found):
        own = regions == region
        expected = np.sort(np.repeat(values[own], weight[own]))
        assert median == (expected[(len(expected) - 1) // 2] if own.any() else 0)


@given(st.floats(-30, 30), st.floats(1e-8, 10), st.floats(0.1, 5))
@example(13.0, 0.25, 3.0)  # Newton's steps go to and fro between the ends of the bracket
@example(9.0, 0.34375, 2.0)  # they do, and the bracket shrinks by a hundredth at a time
def test_the_line_search_finds_a_minimum_that_newtons_method_alone_overshoots(at, ridge, reach):
    def derivatives(a):
        slope = np.tanh(a - at) + ridge * (a - at)
        return slope, np.cosh(np.clip(a - at, -300, 300)) ** -2 + ridge

    precision = Precision(reach, growth=2.0, step=1e-6 * reach)
    found = rising_root(derivatives, np.zeros(3), precision)
    np.testing.assert_allclose(found, at, atol=max(1e-6, 1e-6 * reach))
    assert not math.isnan(found[0])


@pytest.mark.parametrize("scale", [2.0**20, 2.0**-20])
def test_outputs_of_the_huber_loss_scale_with_the_targets_bit_for_bit(scale):
    scores, ridge = RNG.normal(size=(N, 1)), np.full((L, 1), 0.5)

    def outputs(by):
        loss = Huber(by * TARGET, WEIGHT, by * 0.7)
        return slopes_of(loss, by * scores).best_outputs(REGIONS, ridge)

    np.testing.assert_array_equal(outputs(scale), scale * outputs(1.0))
