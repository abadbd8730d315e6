"""The guarantee holds: bounds are above what is achieved, and certificates do not lie."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from problems import Problem, learners, one_output, problems
from rebelboost import RebelClassifier, Similarity, Stump, load
from rebelboost.base.fixed_point import exact_total
from rebelboost.datasets import spirals
from rebelboost.estimators.base import table_scores
from rebelboost.losses.exponential import CAP
from rebelboost.theory.bounds import (
    edges,
    loss_ratio_bound,
    margins,
    rebel_similarity_rate,
    rounds_to_no_error,
    similarity_rounds,
)
from rebelboost.theory.weak_learnability import weak_learnability
from rebelboost.theory.zero_cost import rebel_levels, zero_cost_level

similarities = st.sampled_from([Similarity(scale="none"), Similarity("none", response="sign")])


def assert_true(problem, model):
    """What the guarantee says of the training cost holds."""
    stated = model.guarantee_
    decided = np.argmax(table_scores(model, problem.X), axis=1)
    paid = np.average(problem.costs[problem.y, decided], weights=problem.weight)
    assert paid <= stated.bound * (1 + 1e-6) + 1e-12
    if not stated.of_errors:
        assert stated.achieved == pytest.approx(paid, abs=1e-9)
    if stated.certified:
        assert paid == 0


@settings(max_examples=60)
@given(problems(), learners | similarities, st.sampled_from([1.0, 0.3]))
def test_the_training_cost_is_within_its_bound(problem, learner, shrinkage):
    model = problem.fit(learner, shrinkage=shrinkage)
    assert model.guarantee_.applies
    assert_true(problem, model)


@settings(max_examples=60)
@given(problems(), learners, st.sampled_from(["exponential", "logistic", "squared"]))
def test_so_it_is_with_the_subcosts_of_rebel_for_every_loss(problem, learner, loss):
    model = problem.fit(learner, subcosts="rebel", loss=loss, n_rounds=25)
    assert model.guarantee_.applies
    assert_true(problem, model)


@settings(max_examples=40)
@given(problems(), similarities)
def test_so_it_is_for_similarities_with_the_subcosts_of_rebel(problem, learner):
    # Coincident samples that differ in costs are merged into one with other costs: nothing is said then.
    model = problem.fit(learner, subcosts="rebel", n_rounds=40)
    assert_true(problem, model)


def test_the_certificate_of_rebel_is_reached_on_unequal_costs():
    X, y = np.arange(6.0)[:, np.newaxis], np.arange(6) // 2
    costs = np.array([[0, 2, 3], [3, 0, 2], [2, 3, 0]])
    options = {"costs": costs, "subcosts": "rebel", "decision": "argmax"}
    model = RebelClassifier(Similarity("none"), tol=0.0, n_rounds=300, **options).fit(X, y)
    stated = model.guarantee_
    assert stated.floor > 0
    assert stated.certified
    assert stated.achieved == 0
    assert "The loss above its minimum is below" in str(stated)
    assert stated.similarity.rounds > 300


def test_a_fit_to_parts_of_the_samples_certifies_nothing():
    # Folds divide heavy samples: a mistake on a part of one adds less than one on the whole.
    X, y, _, _ = spirals(0, n_train=60)
    whole, parts = (RebelClassifier("tree", cross_fit=folds).fit(X, y) for folds in (None, 3))
    assert whole.guarantee_.certified
    assert not parts.guarantee_.certified


@settings(max_examples=60)
@given(problems(max_samples=8), st.sampled_from(["exponential", "logistic", "squared"]))
def test_the_levels_of_rebel_are_the_least_of_any_scores(problem, loss):
    levels = rebel_levels(problem.costs, problem.weight, problem.y, loss)
    rows = problem.costs[problem.y]
    by_row = rebel_levels(rows, problem.weight, loss=loss)
    np.testing.assert_allclose(by_row, levels, rtol=1e-9, atol=1e-12)
    # Any scores with a costly mistake have a loss at least that far above its minimum.
    rng = np.random.default_rng(0)
    total = problem.weight.sum()
    for _ in range(50):
        n = rng.choice(np.flatnonzero((rows.max(axis=1) > 0) & (problem.weight > 0)))
        scores = rng.normal(size=rows.shape[1]) * rng.choice([0.1, 1.0, 3.0])
        if loss == "squared":
            scores = np.clip(scores, -1, 1)
        wrong = rng.choice(np.flatnonzero(rows[n] > 0))
        scores[wrong] = max(scores[wrong], scores[problem.y[n]])
        above = surrogate(rows[n], scores, loss) - least_surrogate(rows[n], loss)
        assert problem.weight[n] * above / total >= levels.zero_level * (1 - 1e-9) - 1e-15
    least = np.average([least_surrogate(row, loss) for row in rows], weights=problem.weight)
    assert levels.least_loss == pytest.approx(least, abs=1e-6 * (1 + least))


G = {
    "exponential": np.exp,
    "logistic": lambda x: np.logaddexp(0, x) / np.log(2),
    "squared": lambda x: (1 + x) ** 2,
}


def rebel_parts(row):
    """c⁺ and c⁻ of one sample [REBEL, Eq. 2], by hand."""
    beta = row.sum() - (len(row) - 1) * row.max()
    return (row - beta) / 2, (row.max() - row) / 2


def surrogate(row, scores, loss):
    plus, minus = rebel_parts(row)
    return float(plus @ G[loss](scores) + minus @ G[loss](-scores))


def least_surrogate(row, loss):
    """By a grid that is refined around its minimum, score by score."""
    total = 0.0
    for plus, minus in zip(*rebel_parts(row), strict=True):
        centre, width = 0.0, 20.0
        for _ in range(12):
            grid = centre + np.linspace(-width, width, 81)
            values = plus * G[loss](grid) + minus * G[loss](-grid)
            centre, width = grid[values.argmin()], width / 8
        total += values.min()
    return total


@settings(max_examples=40)
@given(problems(values=st.integers(-60, 60).map(float)), similarities)
def test_similarities_fall_at_the_rate_of_rebel_with_its_subcosts(problem, learner):
    problem.costs[(problem.costs == 0) & ~np.eye(len(problem.costs), dtype=bool)] = 0.5
    _, first = np.unique(problem.X, axis=0, return_index=True)
    X, y, weight = problem.X[first], problem.y[first], problem.weight[first] + 0.1
    assume(len(np.unique(y)) == len(problem.costs))
    distinct = Problem(X, y, weight, problem.costs)
    model = distinct.fit(learner, subcosts="rebel", tol=0.0)
    levels = rebel_levels(problem.costs, weight, y)
    zero = (
        sum(
            w * surrogate(problem.costs[k], np.zeros(len(problem.costs)), "exponential")
            for w, k in zip(weight, y, strict=True)
        )
        / weight.sum()
    )
    before = zero - levels.least_loss
    for record in model.history_:
        rate = rebel_similarity_rate(len(X), before, levels.least_loss)
        after = math.exp(record.log_loss)
        # Fixed point rounds relative to the whole mass, of which the loss above its minimum is a part;
        # smoothing keeps an output from its best by √(2·CAP) of the mass at most.
        slack = (math.sqrt(2 * CAP) + 1e-9) * (before + levels.least_loss)
        assert after <= rate * before + slack
        before = after


@settings(max_examples=60)
@given(problems(), one_output | similarities, st.sampled_from([1.0, 0.5, 0.1]))
def test_every_round_keeps_what_its_edge_promises_also_in_small_steps(problem, learner, shrinkage):
    model = problem.fit(learner, shrinkage=shrinkage)
    for record in model.history_:
        assert record.loss_ratio <= loss_ratio_bound(record.rho, shrinkage, CAP) * (1 + 1e-6)
    (fit,) = model.guarantee_.fits or [None]
    if fit is not None:
        assert fit.rounds_within == fit.rounds
        assert fit.bound <= fit.bound_by_edges * (1 + 1e-6) ** fit.rounds


@settings(max_examples=30)
@given(problems())
def test_the_level_of_zero_cost_is_the_least_that_a_mistake_adds(problem):
    level = zero_cost_level(problem.costs[problem.y], problem.weight)
    paid = problem.weight[:, np.newaxis] * problem.costs[problem.y]
    assert level == paid[paid > 0].min() / exact_total(problem.weight)
    assert level == zero_cost_level(problem.costs, problem.weight, problem.y)
    assert zero_cost_level(np.zeros((3, 2))) == math.inf


def test_the_guarantee_speaks_and_is_kept_in_files(tmp_path):
    X, y, _, _ = spirals(0, n_train=120)
    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 9, 0]])
    for options, said in [
        ({"cross_fit": None}, "share of mistakes: at most"),
        (
            {"learner": Stump(), "cross_fit": None},
            "Every round reduced the loss at least as much as its edge",
        ),
        (
            {"learner": Similarity("none")},
            "For similarities, each round provably leaves at most 0.9999",
        ),
        (
            {"costs": costs, "cross_fit": None},
            "with its decision rule (lowest expected cost)",
        ),
        ({"costs": costs, "cross_fit": 3}, "Nothing is proven about their average"),
        ({"costs": costs, "cross_fit": 3}, "Measured on held-out samples: mean cost"),
        ({"loss": "logistic", "cross_fit": None}, "share of mistakes: at most"),
        (
            {"loss": "logistic", "cross_fit": None, "costs": costs, "subcosts": "thesis"},
            "No bound is known",
        ),
        ({"costs": costs, "cross_fit": None, "subcosts": "rebel"}, "mean cost: at most"),
    ]:
        model = RebelClassifier(**{"n_rounds": 40, **options}).fit(X, y)
        json.dumps(model.guarantee_.to_dict(), allow_nan=False)
        assert said in str(model.guarantee_)
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").guarantee_ == model.guarantee_


def test_both_decisions_are_judged_on_the_training_samples():
    X, y, _, _ = spirals(0, n_train=120)
    costs = np.array([[0, 1, 50], [2, 0, 1], [1, 9, 0]])
    for cross_fit in (None, 3):
        model = RebelClassifier(costs=costs, cross_fit=cross_fit, n_rounds=5).fit(X, y)
        stated = model.guarantee_
        paid = costs[y.astype(int), model.predict(X).astype(int)].mean()
        assert stated.cost_as_decided == pytest.approx(paid)
        argmax = costs[y.astype(int), model.decision_function(X).argmax(axis=1)].mean()
        assert stated.cost_at_argmax == pytest.approx(argmax)


def test_each_fit_of_a_cross_fit_has_its_own_bound():
    X, y, _, _ = spirals(0, n_train=120)
    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 9, 0]])
    model = RebelClassifier("tree", costs=costs, n_rounds=20).fit(X, y)
    fits = model.guarantee_.fits
    assert len(fits) > 1
    assert all(fit.error <= fit.bound for fit in fits)
    assert sum(fit.rounds for fit in fits) == len(model.ensemble_) - 1  # an offset


def test_a_smooth_function_has_no_rounds_and_no_guarantee():
    X, y, _, _ = spirals(0, n_train=120)
    assert str(RebelClassifier("smooth").fit(X, y).guarantee_).startswith("No guarantee")


def test_samples_at_one_point_are_allowed_for():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    model = RebelClassifier(Similarity("none"), n_rounds=50).fit(X, [0, 0, 1, 1, 0, 1])
    stated = model.guarantee_
    assert stated.unavoidable_cost == pytest.approx(1 / 6)
    assert stated.achieved == pytest.approx(1 / 6)
    assert stated.achieved <= stated.bound
    assert not stated.certified
    assert "of it is unavoidable" in str(stated)


@settings(max_examples=30)
@given(problems(), learners | similarities)
def test_margins_are_within_one_and_negative_for_mistakes_only(problem, learner):
    model = problem.fit(learner)
    scores = table_scores(model, problem.X)
    margin = margins(scores, problem.y, model.ensemble_)
    assert np.all(np.abs(margin) <= 1 + 1e-9)
    wrong = np.argmax(scores, axis=1) != problem.y
    assert np.all(margin[wrong] <= 0)
    assert np.all(margin[~wrong] >= 0)


def test_classes_that_no_stump_can_tell_apart_are_not_weakly_learnable():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    found = weak_learnability(X, y)
    assert found.margin == pytest.approx(0, abs=1e-9)
    assert str(found).startswith("Not weakly learnable by stumps")
    with pytest.raises(ValueError, match="3 classes"):
        weak_learnability(X, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="edge is 0: give a number above 0"):
        rounds_to_no_error(10, 0.0)


def test_the_rounds_until_no_mistake_reach_the_level_that_certifies_it():
    # 2/(K·N) of the first loss proves nothing about a sample that hardly weighs.
    X, y = np.arange(8.0)[:, np.newaxis], np.arange(8) % 2
    weight = np.r_[1e-12, np.ones(7)]
    learner = Similarity(scale="none", search="best", offset=False)
    options = {"n_rounds": 3, "cross_fit": None, "tol": 0.0}
    light = RebelClassifier(learner, **options).fit(X, y, sample_weight=weight).guarantee_
    even = RebelClassifier(learner, **options).fit(X, y).guarantee_
    assert even.similarity.rounds == similarity_rounds(2, 8)
    assert light.similarity.rounds > even.similarity.rounds
    first = 1.0  # mean loss of scores 0, for uniform costs of two classes
    left = first * light.similarity.proven**light.similarity.rounds
    assert left <= light.zero_level * (1 + 1e-6)
    assert light.zero_level < 1e-12


def test_no_round_is_named_where_some_cost_cannot_be_avoided():
    X, y = np.array([[0.0], [0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 1, 0, 1])
    model = RebelClassifier(Similarity(scale="none"), n_rounds=5, cross_fit=None).fit(X, y)
    assert model.guarantee_.unavoidable_cost > 0
    assert model.guarantee_.similarity.rounds is None
    assert "no mistake is left" not in str(model.guarantee_)


def test_the_edge_of_adaboosts_theorem_is_gamma_and_not_its_double():
    X, y = load_breast_cancer(return_X_y=True)
    clf = RebelClassifier(Stump(), n_rounds=20, cross_fit=None).fit(X, y)
    gamma = edges(clf.history_).min()
    assert f"(smallest: γ = {gamma:.3g})" in clf.guarantee_.text()
