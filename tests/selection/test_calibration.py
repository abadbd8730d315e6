"""How held-out scores are judged, for classes and for numbers."""

import numpy as np
import pytest

from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.costs.matrix import uniform
from rebelboost.data.samples import Samples
from rebelboost.selection.calibration import SLOPE_ERROR, ClassScorer, RegressionScorer, neutral

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
TARGET = RNG.normal(size=60)
LABELS = RNG.integers(0, 3, 60).astype(np.int32)
COSTS = np.array([[0.0, 1, 5], [2, 0, 1], [1, 1, 0]])


def numbers(weight=None):
    return RegressionScorer(Samples.of_targets(X, TARGET, weight))


def classes(weight=None):
    samples = Samples(X, LABELS, COSTS, weight=weight)
    return ClassScorer(neutral(samples), samples)


def test_numbers_are_judged_by_their_squared_error_at_the_slope_of_the_targets():
    scores = 0.5 * TARGET[:, np.newaxis] + 0.05 * RNG.normal(size=(60, 1))
    found = numbers().best_factor(scores)
    slope = (scores[:, 0] @ TARGET) / (scores[:, 0] @ scores[:, 0])
    # The prior 1 ± 0.2 weighs (mean squared residual)/0.2² beside Σs².
    prior = np.mean((scores[:, 0] - TARGET) ** 2) / SLOPE_ERROR**2
    size = scores[:, 0] @ scores[:, 0]
    np.testing.assert_allclose(found.factor, (slope * size + prior) / (size + prior))
    rmse = np.sqrt(np.mean((found.factor * scores[:, 0] - TARGET) ** 2))
    np.testing.assert_allclose(found.log_loss, np.log(rmse))
    np.testing.assert_allclose(numbers().cost(scores, found.factor), rmse)


def test_predictions_that_are_wrong_in_sign_count_for_nothing():
    assert numbers().best_factor(-TARGET[:, np.newaxis]).factor == 0


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_robust_losses_keep_the_size_of_predictions(loss):
    scores = 0.5 * TARGET[:, np.newaxis]
    judging = RegressionScorer(numbers().samples, RegressionObjective(loss, delta=0.3))
    found = judging.best_factor(scores)
    distance = np.abs(scores[:, 0] - TARGET)
    huber = np.where(distance < 0.3, distance**2, 0.6 * distance - 0.09)
    expected = np.mean(distance) if loss == "absolute" else np.sqrt(np.mean(huber))
    assert found.factor == 1
    np.testing.assert_allclose(found.log_loss, np.log(expected))
    np.testing.assert_allclose(judging.cost(scores, 1.0), np.mean(distance))


def test_differences_of_the_log_loss_do_not_depend_on_the_unit_of_the_target():
    one, other = RNG.normal(size=(2, 60, 1))
    large = RegressionScorer(Samples.of_targets(X, TARGET * 1e200))
    expected = numbers().best_factor(one).log_loss - numbers().best_factor(other).log_loss
    found = large.best_factor(one * 1e200).log_loss - large.best_factor(other * 1e200).log_loss
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("make", [numbers, classes])
def test_a_weight_of_two_counts_as_the_sample_twice(make):
    weight = RNG.integers(1, 3, 60).astype(float)
    twice = np.repeat(np.arange(60), weight.astype(int))
    scores = RNG.normal(size=(60, make().n_outputs))
    weighted, repeated = make(weight), make().take(twice)
    factor = weighted.best_factor(scores).factor
    assert weighted.log_loss(factor * scores) == pytest.approx(
        repeated.log_loss(factor * scores[twice]), rel=1e-12
    )
    np.testing.assert_allclose(
        weighted.cost(scores, 0.7), repeated.cost(scores[twice], 0.7), rtol=1e-12
    )


@pytest.mark.parametrize("make", [numbers, classes])
def test_a_heavy_sample_is_one_sample(make):
    assert make().n_effective == 60
    assert make(np.full(60, 7.0)).n_effective == pytest.approx(60)
    assert make(np.append(np.ones(59), 1e9)).n_effective == pytest.approx(1)


@pytest.mark.parametrize("make", [numbers, classes])
def test_the_order_of_samples_does_not_matter(make):
    scores = RNG.normal(size=(60, make().n_outputs))
    order = np.append(np.arange(30, 60), np.arange(30))
    assert make().take(order).best_factor(scores[order]) == make().best_factor(scores)
    one, other = make().take(order).calibrated(scores[order]), make().calibrated(scores)
    assert (one.factor, one.log_loss) == (other.factor, other.log_loss)
    np.testing.assert_array_equal(one.offset, other.offset)


def test_a_perfect_prediction_has_the_lowest_log_loss():
    found = numbers().best_factor(TARGET[:, np.newaxis])
    assert found.log_loss < -700
    assert np.isfinite(found.log_loss)


def test_classes_are_decided_with_the_costs_of_deciding_and_decoded_with_those_of_training():
    scores = RNG.normal(size=(60, 3))
    judging = classes()
    posterior = judging.decoder(2.0).posterior(scores)
    decided = (posterior @ COSTS).argmin(axis=1)
    np.testing.assert_allclose(judging.cost(scores, 2.0), COSTS[LABELS, decided].mean())
    np.testing.assert_array_equal(judging.decoder(2.0).costs, uniform(3))
