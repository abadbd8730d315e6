"""Costs → subcosts → weights → outputs → loss."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.base.fixed_point import coarse_scale
from rebelboost.losses.exponential import (
    CAP,
    SUBCOSTS,
    leaf_outputs,
    least_exponential,
    loss_after,
    rebel_subcosts,
    signed_output,
    thesis_subcosts,
)
from rowwise import weights_of


@st.composite
def cost_rows(draw, least=0.0):
    n_classes = draw(st.integers(2, 5))
    shape = draw(st.integers(1, 6)), n_classes
    costs = draw(hnp.arrays(np.float64, shape, elements=st.floats(least, 100)))
    costs[costs < 1e-6] = 0
    labels = draw(hnp.arrays(np.int32, shape[0], elements=st.integers(0, n_classes - 1)))
    costs[np.arange(shape[0]), labels] = 0
    return costs, labels


def both(planes):
    """c⁺ and c⁻."""
    return np.maximum(planes, 0).sum(axis=0), np.maximum(-planes, 0).sum(axis=0)


@given(problem=cost_rows())
def test_thesis_subcosts_bound_the_cost_tightly(problem):
    costs, labels = problem
    plus, minus = both(thesis_subcosts(costs, labels))
    of_label = minus[np.arange(len(labels)), labels]
    np.testing.assert_allclose(2 * np.sqrt(plus * of_label[:, np.newaxis]), costs, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_uniform_costs_have_subcosts_of_one_half(n_classes):
    plus, minus = both(thesis_subcosts(1 - np.eye(n_classes), np.arange(n_classes)))
    np.testing.assert_allclose(plus, (1 - np.eye(n_classes)) / 2)
    np.testing.assert_allclose(minus, np.eye(n_classes) / 2)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_both_schemes_agree_for_uniform_costs(n_classes):
    costs, labels = 1 - np.eye(n_classes), np.arange(n_classes, dtype=np.int32)
    ours, theirs = both(thesis_subcosts(costs, labels)), both(rebel_subcosts(costs, labels))
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("name", SUBCOSTS)
def test_a_row_of_zero_costs_has_no_weight(name):
    planes = SUBCOSTS[name](np.zeros((2, 3)), np.array([0, 2], dtype=np.int32))
    assert not planes.any()
    assert not np.signbit(planes[planes > 0]).any()


@given(problem=cost_rows())
def test_rebel_subcosts_follow_the_formula(problem):
    costs, labels = problem
    plus, minus = rebel_subcosts(costs, labels)
    n_classes = costs.shape[1]
    beta = costs.sum(axis=1) - (n_classes - 1) * costs.max(axis=1)
    np.testing.assert_array_equal(plus, (costs - beta[:, np.newaxis]) / 2)
    np.testing.assert_array_equal(-minus, (costs.max(axis=1, keepdims=True) - costs) / 2)
    assert np.all(plus >= 0)
    assert np.all(minus <= 0)


@given(problem=cost_rows(), seed=st.integers(0, 2**32 - 1))
def test_no_scores_have_a_loss_below_the_floor(problem, seed):
    costs, labels = problem
    plus, minus = np.abs(rebel_subcosts(costs, labels))
    scores = np.random.default_rng(seed).normal(size=costs.shape)
    losses = plus * np.exp(scores) + minus * np.exp(-scores)
    assert losses.sum() >= least_exponential(plus, minus).sum() * (1 - 1e-12)


@given(problem=cost_rows(least=0.1))
def test_the_floor_is_reached_by_the_best_scores(problem):
    costs, labels = problem
    plus, minus = np.abs(rebel_subcosts(costs, labels))
    # Where one of the two is 0 the best score is infinite.
    with np.errstate(divide="ignore"):
        best = np.clip(0.5 * np.log(minus / plus), -30, 30)
    losses = plus * np.exp(best) + minus * np.exp(-best)
    floor = least_exponential(plus, minus).sum()
    assert math.isclose(losses.sum(), floor, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("name", SUBCOSTS)
def test_weights_come_from_scores_of_any_size(name):
    rng = np.random.default_rng(0)
    costs, labels = rng.uniform(0.5, 2, size=(5, 3)), rng.integers(3, size=5).astype(np.int32)
    costs[np.arange(5), labels] = 0
    subcosts = SUBCOSTS[name](costs, labels)
    scores = rng.normal(size=(5, 3))
    near = weights_of(costs, labels, scores, name)
    exact = np.log((np.abs(subcosts) * np.exp(np.where(subcosts > 0, scores, -scores))).sum())
    assert math.isclose(near.log_total, exact, rel_tol=1e-12)
    for shift in (800.0, -800.0):  # beyond e^709 floats end
        far = weights_of(costs, labels, scores + shift, name)
        assert np.isfinite(far.planes).all()
        assert math.isfinite(far.log_total)


def test_no_weights_at_all_have_a_loss_of_zero():
    labels = np.zeros(2, dtype=np.int32)
    assert weights_of(np.zeros((2, 3)), labels, np.zeros((2, 3))).log_total == -math.inf


masses = hnp.arrays(np.float64, (3, 4), elements=st.just(0.0) | st.floats(1e-3, 1e3))


@given(plus=masses, minus=masses, step=st.floats(-1, 1))
def test_the_output_of_a_sign_is_the_best_one_up_to_the_cap(plus, minus, step):
    P, S = (plus - minus).sum(axis=0), (plus + minus).sum(axis=0)
    a = signed_output(P, S)
    lowest = np.sqrt(np.maximum(0, S**2 - P**2)).sum()
    reached = loss_after(plus.sum(axis=0), minus.sum(axis=0), a)
    # Smoothing both sides by e = CAP·S adds √(2e·S) at most (see properties/test_loss).
    assert reached <= lowest + math.sqrt(2 * CAP + CAP**2) * S.sum() + 1e-9 * S.sum()
    assert np.all(np.abs(a) <= 0.5 * math.log((2 + CAP) / CAP) + 1e-9)


@given(plus=masses, minus=masses, smoothing=st.sampled_from([0.0, 0.1, 1.0]))
def test_leaf_outputs_lie_between_zero_and_the_best_ones(plus, minus, smoothing):
    a = leaf_outputs(plus, minus, smoothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.nan_to_num(0.5 * np.log(minus / plus), nan=0.0)
    assert np.all(np.sign(a) * np.sign(best) >= 0)
    assert np.all(np.abs(a) <= np.abs(best) + 1e-12)
    assert loss_after(plus, minus, a) <= (plus + minus).sum() * (1 + 1e-12)


def test_a_class_that_weighs_nothing_has_an_output_of_zero():
    assert leaf_outputs(np.zeros((2, 1)), np.zeros((2, 1)), 0.1).tolist() == [[0], [0]]
    assert signed_output(np.zeros(1), np.zeros(1)).tolist() == [0]


@pytest.mark.parametrize("name", SUBCOSTS)
def test_fixed_weights_are_the_signed_weights_and_their_sizes_in_one_scale(name):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=20).astype(np.int32)
    costs = rng.uniform(1, 5, (20, 3)) * (np.arange(3) != labels[:, np.newaxis])
    weights = weights_of(costs, labels, rng.normal(size=(20, 3)), name)
    signed, mass = weights.fixed()
    plus, minus = both(weights.planes)
    scale = coarse_scale(weights.totals.max())
    # Each is rounded once.
    np.testing.assert_allclose(signed[:, :3], (plus - minus) * scale, rtol=0, atol=0.5)
    np.testing.assert_allclose(mass, (plus + minus) * scale, rtol=0, atol=0.5)
    assert (mass > np.abs(signed[:, :3])).any() == (name == "rebel")
