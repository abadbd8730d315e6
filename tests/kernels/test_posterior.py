"""Probabilities for uniform costs: compiled = reference, and what they have to be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, round_calls
from kernels.calls import assert_same
from rebelboost.kernels import reference

EXACT = 1e-14


def random_scores(rng, n_rows, n_labels):
    """Doubled scores with ties, from hardly any difference to certainty."""
    size = rng.choice([1e-9, 1.0, 30.0, 2000.0])
    return size * rng.integers(-20, 21, (n_rows, n_labels)) / 10


scores = st.builds(random_scores, builders.rngs, builders.n_samples, builders.n_classes)
precisions = st.sampled_from([EXACT, 1e-3])


@given(scores, precisions)
def test_compiled_posteriors_equal_reference(compiled, doubled, enough):
    ours = round_calls.uniform_posteriors(compiled, doubled, enough)
    assert_same(ours, round_calls.uniform_posteriors(reference, doubled, enough))


@given(scores)
def test_odds_are_those_of_the_scores(either, doubled):
    P = round_calls.uniform_posteriors(either, doubled, EXACT)
    assert np.all(P >= 0)
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-14)
    # ln P/(1 − P) − 2H is the same for all classes, as far as 1 − P has digits.
    middle = np.all((P > 1e-6) & (P < 1 - 1e-6), axis=1)
    shifted = np.log(P[middle] / (1 - P[middle])) - doubled[middle]
    assert np.all(np.ptp(shifted, axis=1) < 1e-8)


@given(builders.rngs, scores, precisions)
def test_samples_that_share_a_call_change_no_bit(either, rng, doubled, enough):
    chosen = rng.permutation(len(doubled))[: rng.integers(1, len(doubled) + 1)]
    part = round_calls.uniform_posteriors(either, doubled[chosen].copy(), enough)
    assert_same(part, round_calls.uniform_posteriors(either, doubled, enough)[chosen])


def random_judgement(rng, doubled):
    n_rows, n_labels = doubled.shape
    weight = rng.random(n_rows) if rng.random() < 0.5 else np.empty(0)
    labels = rng.integers(0, n_labels, n_rows).astype(np.int32)
    return doubled, float(np.exp(rng.normal())), labels, weight


judgements = st.builds(random_judgement, builders.rngs, scores)


@given(judgements, precisions)
def test_compiled_log_losses_equal_reference(compiled, case, enough):
    ours = round_calls.log_loss_and_slope(compiled, *case, enough)
    assert_same(ours, round_calls.log_loss_and_slope(reference, *case, enough))


@given(builders.rngs, judgements)
def test_the_order_of_samples_changes_no_log_loss(either, rng, case):
    doubled, factor, labels, weight = case
    order = rng.permutation(len(labels))
    other = doubled[order], factor, labels[order], weight[order] if len(weight) else weight
    ours = round_calls.log_loss_and_slope(either, *case, EXACT)
    assert_same(round_calls.log_loss_and_slope(either, *other, EXACT), ours)


def test_the_slope_is_the_derivative_by_the_logarithm_of_the_factor(either):
    rng = np.random.default_rng(0)
    doubled, labels = rng.normal(size=(40, 5)), rng.integers(0, 5, 40).astype(np.int32)
    step = 1e-4
    (low, _), (_, slope), (high, _) = (
        round_calls.log_loss_and_slope(either, doubled, factor, labels, np.ones(40), EXACT)
        for factor in (math.exp(-step), 1.0, math.exp(step))
    )
    assert math.isclose(slope, (high - low) / (2 * step), rel_tol=1e-6)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_no_posterior(compiled, n_threads):
    doubled = random_scores(np.random.default_rng(1), 5000, 7)
    alone = round_calls.uniform_posteriors(compiled, doubled, EXACT)
    assert_same(round_calls.uniform_posteriors(compiled, doubled, EXACT, n_threads), alone)
