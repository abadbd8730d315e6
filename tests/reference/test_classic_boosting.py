"""Two classes with uniform costs: the loss family is LogitBoost and L₂Boost [REBEL, S.8], round by round."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree
from rebelboost.losses.exponential import CAP

ROUNDS = 20


def logit_slope(y, F, weight):
    """Slope and curvature of Σ ln(1 + e^{−yF}), by sample."""
    p = expit(F)
    return weight * (p - (y > 0)), weight * p * (1 - p)


def square_slope(y, F, weight):
    """Slope and curvature of Σ ½(y − F)²."""
    return weight * (F - y), weight


def stumps(X):
    """The two sides of every stump, as columns; the constant response has one side."""
    yield np.ones((len(X), 1))
    for x in X.T:
        values = np.unique(x)
        for tau in (values[:-1] + values[1:]) / 2:
            yield np.column_stack([x <= tau, x > tau]).astype(float)


def one_output(sides):
    """A stump as a response of ±1."""
    return sides @ [[-1.0], [1.0]] if sides.shape[1] == 2 else sides


def boost(X, y, weight, slope_of, response_of, rounds, ridge=0.0):
    """Textbook boosting: yields F after each round. The package has a `ridge` of CAP, textbooks none.

    The response that fits the working response −slope/curvature best by least squares weighted with
    the curvature; then a line search along each of its columns.
    """
    F = np.zeros(len(y))
    responses = [response_of(sides) for sides in stumps(X)]
    for _ in range(rounds):
        slope, curvature = slope_of(y, F, weight)
        gains = [((slope @ f) ** 2 / (curvature @ f**2)).sum() for f in responses]
        f = responses[int(np.argmax(np.round(gains, 12)))]
        pull = ridge * curvature.sum()
        for column in f.T.copy():

            def along(a, column=column, F=F, pull=pull):
                return column @ slope_of(y, F + a * column, weight)[0] + pull * a

            F = F + brentq(along, -50, 50, xtol=1e-14, rtol=1e-14) * column
        yield F


def noisy(seed):
    rng = np.random.default_rng(seed)
    X = np.clip(np.round(rng.normal(size=(60, 3))), -1, 1)  # no side of a stump is pure
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * rng.normal(size=60) > 0, 1, -1)
    return X, y, rng.uniform(0.5, 2, size=60)


SLOPES = {"logistic": logit_slope, "squared": square_slope}
RESPONSES = {"stump": (Stump(), one_output), "leaves": (Tree(1, smoothing=0.0), lambda f: f)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("loss", SLOPES)
def test_two_classes_with_uniform_costs_are_the_textbooks_boosting(loss, kind, seed):
    X, y, weight = noisy(seed)
    learner, response_of = RESPONSES[kind]
    model = RebelClassifier(learner, loss=loss, n_rounds=ROUNDS, shrinkage=1.0)
    model.fit(X, y, sample_weight=weight)
    stages = model.ensemble_.staged_scores(X)
    textbook = boost(X, y, weight, SLOPES[loss], response_of, ROUNDS)
    for H, F in zip(stages, textbook, strict=True):
        # The ridge of CAP·W moves an output a by CAP·a·W/W_leaf; W_leaf is above W/100 here.
        np.testing.assert_allclose(H[:, 1], F, rtol=0, atol=ROUNDS * 100 * CAP)
        # Both classes are computed alike, from mirrored numbers: up to the rounding of fixed point.
        np.testing.assert_allclose(H[:, 0], -H[:, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", SLOPES)
def test_the_reported_loss_is_that_of_the_scores(loss):
    X, y, weight = noisy(7)
    model = RebelClassifier(Tree(2), loss=loss, n_rounds=ROUNDS)
    model.fit(X, y, sample_weight=weight)
    for record, lead in zip(model.history_, model.staged_decision_function(X), strict=True):
        margin = y * lead / 2
        values = np.logaddexp(0, -margin) / np.log(2) if loss == "logistic" else (1 - margin) ** 2
        # Fixed point rounds each of 60 values by 2⁻⁵⁰ of 60 times the largest.
        assert record.log_loss == pytest.approx(
            np.log(np.average(values, weights=weight)), abs=1e-10
        )


@pytest.mark.parametrize("seed", range(3))
def test_regression_is_l2boost_round_by_round(seed):
    X, _, weight = noisy(seed)
    y = X[:, 0] * X[:, 1] + np.random.default_rng(seed).normal(size=60)
    learner = Tree(1, smoothing=0.0)
    model = RebelRegressor(learner, n_rounds=ROUNDS, shrinkage=1.0, subsample=1.0)
    model.fit(X, y, sample_weight=weight)
    mean = np.average(y, weights=weight)
    textbook = boost(X, y - mean, weight, square_slope, lambda f: f, ROUNDS)
    for predicted, F in zip(model.staged_predict(X), textbook, strict=True):
        np.testing.assert_allclose(predicted, mean + F, rtol=0, atol=ROUNDS * 100 * CAP)
