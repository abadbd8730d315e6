"""What the papers prove of the loss, for any data, costs and weights."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import leaf_outputs, learners, one_output, problems, random_problem, subcosts
from rebelboost import RebelClassifier, Stump, Tree
from rebelboost.losses.exponential import CAP

MOST_FACTOR = math.sqrt((2 + CAP) / CAP)
"""By which a round can multiply a weight: e^a at the cap of the outputs."""


def rounding(n_samples):
    """How much the ratio of two losses may be off.

    The fixed point of the new weights has units of 2⁻⁵⁰ of a bound on their sum, which is the sum
    of the old ones times the largest factor; each sample is rounded by half a unit, in both sums.
    """
    return n_samples * MOST_FACTOR * 2.0**-50


@given(problem=problems(), learner=learners, subcosts=subcosts, shrinkage=st.sampled_from([1, 0.3]))
def test_the_loss_never_rises(problem, learner, subcosts, shrinkage):
    model = problem.fit(learner, subcosts=subcosts, shrinkage=shrinkage)
    for record in model.history_:
        assert record.loss_ratio <= 1 + rounding(len(problem.y))


@given(problem=problems(), learner=learners, subsample=st.sampled_from([0.3, 0.7]))
@settings(max_examples=40)
def test_the_loss_never_rises_where_only_a_part_is_searched(problem, learner, subsample):
    # The output is solved on all samples, whatever the hypothesis was sought on.
    model = problem.fit(
        learner, subsample=subsample, feature_subsample=subsample, weight_trimming=0.9
    )
    for record in model.history_:
        assert record.loss_ratio <= 1 + rounding(len(problem.y))


def above_bound(n_leaves):
    """How much smoothing the outputs by e = CAP·S can add to the loss ratio.

    With u = S − P and v = S + P of a leaf, the smoothed output leaves at most √((u + e)(v + e)) ≤
    √(uv) + √(2e·S_leaf) + e; summed over L leaves that is √(2·CAP·L) + CAP·L more, in units of S.
    """
    return math.sqrt(2 * CAP * n_leaves) + CAP * n_leaves


@given(problem=problems(), learner=one_output, subcosts=subcosts)
def test_the_loss_falls_below_its_bound_in_every_round(problem, learner, subcosts):
    for record in problem.fit(learner, subcosts=subcosts).history_:
        assert record.loss_ratio <= record.bound + above_bound(1) + rounding(len(problem.y))


@given(problem=problems(), depth=st.integers(1, 4), subcosts=subcosts)
def test_the_bound_holds_for_leaf_outputs_without_smoothing(problem, depth, subcosts):
    model = problem.fit(Tree(depth, smoothing=0.0), subcosts=subcosts, shrinkage=1.0)
    for record in model.history_:
        allowed = record.bound + above_bound(2**depth) + rounding(len(problem.y))
        assert record.loss_ratio <= allowed


@given(problem=problems(), learner=learners)
def test_a_loss_below_the_least_cost_certifies_zero_training_cost(problem, learner):
    model = problem.fit(learner, n_rounds=20)
    weights = problem.weight[:, np.newaxis] * problem.costs[problem.y]
    least = weights[weights > 0].min() / problem.weight.sum()
    for record in model.history_:
        if record.log_loss < math.log(least):
            assert record.cost == 0


def test_a_loss_below_one_nth_certifies_zero_training_error():
    problem = random_problem(0)
    model = RebelClassifier(Tree(depth=3, outputs="tree"), n_rounds=200).fit(problem.X, problem.y)
    certified = [r.error for r in model.history_ if r.log_loss < -math.log(len(problem.y))]
    assert len(certified) > 10
    assert set(certified) == {0.0}


@given(problem=problems(), learner=learners)
def test_the_thesis_loss_bounds_the_cost_at_argmax(problem, learner):
    for record in problem.fit(learner).history_:
        assert record.cost <= math.exp(record.log_loss) * (1 + 1e-9)


@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
@pytest.mark.parametrize("learner", [Stump(), Tree(2, outputs="tree"), Tree(2)], ids=str)
def test_the_loss_falls_far_below_the_smallest_float_and_stays_a_number(learner, subcosts):
    X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 0, 1, 1, 1]
    model = RebelClassifier(learner, n_rounds=2000, shrinkage=1.0, subcosts=subcosts).fit(X, y)
    log_losses = np.array([record.log_loss for record in model.history_])
    assert np.isfinite(log_losses).all()
    assert np.all(np.diff(log_losses) < 0)
    assert log_losses[-1] < 3 * math.log(1e-300)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1


@given(problem=problems(), learner=leaf_outputs)
@settings(max_examples=30)
def test_the_reported_loss_is_that_of_the_scores(problem, learner):
    model = problem.fit(learner)
    H, c = np.zeros((len(problem.y), len(problem.costs))), problem.costs[problem.y]
    scores = list(model.ensemble_.staged_scores(problem.X))
    for record, H in zip(model.history_, scores, strict=True):
        norm, root = np.linalg.norm(c, axis=1), math.sqrt(len(problem.costs) - 1)
        right = np.take_along_axis(H, problem.y[:, np.newaxis], axis=1)[:, 0]
        wrong = np.divide(c**2, norm[:, np.newaxis], where=norm[:, np.newaxis] > 0, out=0 * c)
        losses = root / 2 * (wrong * np.exp(H)).sum(axis=1) + norm / (2 * root) * np.exp(-right)
        expected = math.log(np.average(losses, weights=problem.weight))
        # Relative to the loss, fixed point and products of weights round by less than this.
        assert math.isclose(record.log_loss, expected, rel_tol=0, abs_tol=1e-6)
