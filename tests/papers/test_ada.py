"""Statements of [ADA, Ch. 3] and of [LOCAL, Sec. 5], held by the engine or by small programs beside it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from rebelboost import RebelClassifier, Stump
from rebelboost.boosting.loop import replay
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.data.samples import Samples
from rebelboost.losses.exponential import CAP
from rebelboost.model.terms import Queries
from rebelboost.rows.base import MemoryRows
from rebelboost.theory.bounds import (
    edges,
    error_bounds,
    margins,
    randomised_error,
    rounds_to_no_error,
    similarity_rate,
    similarity_rounds,
    simple_error_bounds,
)
from rebelboost.theory.majority import majority_vote
from rebelboost.theory.weak_learnability import weak_learnability

pytestmark = pytest.mark.paper


@st.composite
def two_classes(draw):
    """Overlapping blobs with a first distribution, and AdaBoost's classifier of them."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_samples = draw(st.integers(10, 60))
    y = rng.integers(0, 2, n_samples)
    y[:2] = [0, 1]
    X = rng.normal(size=(n_samples, 3)) + 0.7 * y[:, np.newaxis]
    weight = rng.uniform(0.2, 3, n_samples) if draw(st.booleans()) else np.ones(n_samples)
    model = RebelClassifier(Stump(), n_rounds=draw(st.integers(1, 40)), cross_fit=None)
    return X, y, weight, model.fit(X, y, weight)


@settings(max_examples=30)
@given(two_classes())
def test_theorem_3_1_bounds_the_weighted_training_error_in_every_round(case):
    X, y, weight, model = case
    gamma = edges(model.history_)
    bounds, simple = error_bounds(gamma), simple_error_bounds(gamma)
    for record, decided, bound in zip(model.history_, model.staged_predict(X), bounds, strict=True):
        error = np.average(decided != y, weights=weight)
        assert error == pytest.approx(record.error, abs=1e-12)
        assert error <= bound * (1 + 1e-6)
    assert np.all(bounds <= simple * (1 + 1e-12))


@settings(max_examples=10)
@given(two_classes())
def test_records_table_and_theory_have_the_same_edges_half_of_rho(case):
    *_, model = case
    table = model.history_.table()
    assert edges(model.history_).tolist() == table["edge"]
    assert table["edge"] == [rho / 2 for rho in table["rho"]]


def reweighted(weights, agreement, edge):
    """D_{t+1} = D_t/(1 + 2·y·h·γ_t), AdaBoost's update without an exponential [ADA, Ex. 3-1]."""
    return weights / (1 + 2 * agreement * edge)


@settings(max_examples=20)
@given(two_classes())
def test_exercise_3_1_the_update_in_closed_form_is_that_of_the_engine(case):
    X, y, weight, model = case
    D = weight / weight.sum()
    for t, (term, record) in enumerate(zip(model.ensemble_, model.history_, strict=True)):
        if record.edge > 0.5 - 1e-6:  # a perfect stump: its update would divide by 0
            return
        said = term.by_region[term.regions(Queries(X)), 1]
        agreement = np.sign(said) * np.where(y == 1, 1.0, -1.0)
        D = reweighted(D, agreement, record.edge)
        np.testing.assert_allclose(D, distribution(model, X, y, weight, t + 1), rtol=1e-5)


def distribution(model, X, y, weight, n_terms):
    """The boosting weights of samples after some terms, which sum to 1."""
    costs = np.ones((2, 2)) - np.eye(2)
    samples = Samples(X, y.astype(np.int32), costs, weight=weight)
    state = ClassObjective().state(MemoryRows.of(samples))
    replay(model.ensemble_.truncate(n_terms), state)
    D = np.abs(state.weights.planes).sum(axis=(0, 2))
    return D / D.sum()


def stumps(X):
    """(J, N): what every stump says."""
    said = [np.ones(len(X))]
    for x in X.T:
        levels = np.unique(x)
        said += [np.where(x > tau, 1.0, -1.0) for tau in (levels[:-1] + levels[1:]) / 2]
    return np.concatenate([said, -np.array(said)])


def best(pool, y, D):
    """The stump with the least error, and its edge."""
    at = np.argmax(pool @ (D * y))
    return pool[at], float(pool[at] @ (D * y)) / 2


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_exercise_3_2_three_rounds_boost_the_accuracy(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], 40)
    X = rng.normal(size=(40, 4)) + 0.5 * y[:, np.newaxis]
    pool, D1 = stumps(X), np.full(40, 1 / 40)
    h1, g1 = best(pool, y, D1)
    D2 = reweighted(D1, y * h1, g1)
    h2, g2 = best(pool, y, D2)
    if not (0 < g1 < 0.5 and 0 < g2 < 0.5) or np.all(h1 == h2):
        return
    D3 = np.where(h1 != h2, D1, 0.0)
    Z = D3.sum()
    h3, g3 = best(pool, y, D3 / Z)
    # (a): b = Pr_D2[both wrong]; D1 follows from D2 by undoing the update.
    b = D2[(h1 != y) & (h2 != y)].sum()
    both = D1[(h1 != y) & (h2 != y)].sum()
    assert both == pytest.approx(b * (1 - 2 * g1))
    assert D1[(h1 != y) & (h2 == y)].sum() == pytest.approx((0.5 - b) * (1 - 2 * g1))
    assert D1[(h1 == y) & (h2 != y)].sum() == pytest.approx((0.5 - g2 - b) * (1 + 2 * g1))
    split = (0.5 - b) * (1 - 2 * g1) + (0.5 - g2 - b) * (1 + 2 * g1)
    assert pytest.approx(split) == Z
    assert D1[(h1 != h2) & (h3 != y)].sum() == pytest.approx(split * (0.5 - g3))
    error = D1[np.sign(h1 + h2 + h3) != y].sum()
    assert error == pytest.approx(both + split * (0.5 - g3))
    # Then (b).
    gamma = min(g1, g2, g3)
    if gamma > 0:
        assert error <= 0.5 - 1.5 * gamma + 2 * gamma**3 + 1e-12
        assert 0.5 - 1.5 * gamma + 2 * gamma**3 < 0.5 - gamma or gamma >= 0.5


@settings(max_examples=30)
@given(two_classes())
def test_exercise_3_3_deciding_by_lot_errs_at_most_half_as_often_as_the_bound(case):
    X, y, weight, model = case
    scores = model.ensemble_.scores(X)
    bound = error_bounds(edges(model.history_))[-1]
    # A perfect stump's output is capped, at what leaves √(CAP/2) of the loss.
    assert randomised_error(scores, y, weight) <= bound / 2 * (1 + 1e-6) + CAP
    assert model.guarantee_.randomised_bound == pytest.approx(bound / 2, rel=1e-4, abs=1e-4)
    # The probability of the lot is that of `predict_proba`.
    wrong = 1 - model.predict_proba(X)[np.arange(len(y)), y]
    assert randomised_error(scores, y, weight) == pytest.approx(
        np.average(wrong, weights=weight), abs=1e-9
    )


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_exercise_3_5_an_unweighted_vote_for_a_known_edge(seed, rounds):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1.0, -1.0)
    if abs(y.sum()) == len(y):
        return
    gamma = weak_learnability(X, y).edge
    if gamma < 1e-6 or gamma > 0.49:
        return
    pool, D, vote = stumps(X), np.full(20, 1 / 20), np.zeros(20)
    alpha = np.arctanh(2 * gamma)  # ½ ln((1 + 2γ)/(1 − 2γ)), the same in all rounds
    for _ in range(rounds):
        h, edge = best(pool, y, D)
        assert edge >= gamma - 1e-9
        vote += h
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
    assert np.mean(vote * y <= 0) <= (1 - 4 * gamma**2) ** (rounds / 2) + 1e-9


@pytest.mark.parametrize(("n", "margin"), [(1, 1 / 3), (2, 1 / 7), (3, 1 / 11)])
def test_a_rectangle_is_weakly_learnable_with_margin_1_over_4n_minus_1(n, margin):
    # All corners, edges and the inside of [1, 2]ⁿ, and points beyond each side.
    X = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=n)))
    y = np.all(X == 1.0, axis=1)
    found = weak_learnability(X, y)
    assert found.margin == pytest.approx(margin, abs=1e-12)
    assert found.edge == found.margin / 2


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_the_hardest_distribution_leaves_no_stump_a_larger_edge(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (15, 2)).astype(float)
    y = rng.integers(0, 2, 15)
    y[:2] = [0, 1]
    found = weak_learnability(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    assert found.distribution.sum() == pytest.approx(1)
    assert best(stumps(X), signs, found.distribution)[1] == pytest.approx(found.edge, abs=1e-9)
    assert found.votes.sum() == pytest.approx(1)
    values = np.where(found.features < 0, np.inf, X[:, found.features])
    said = np.where(values > found.thresholds, 1.0, -1.0) * found.signs
    assert (signs * (said @ found.votes)).min() == pytest.approx(found.margin, abs=1e-9)


def test_with_the_best_stumps_no_error_is_left_after_the_rounds_that_are_promised():
    X = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=2)))
    y = np.all(X == 1.0, axis=1)
    n_rounds = rounds_to_no_error(9, weak_learnability(X, y).edge)
    assert n_rounds == 216  # ln 9 / (2/196) = 215.3
    model = RebelClassifier(Stump(), n_rounds=n_rounds, cross_fit=None).fit(X, y)
    assert model.score(X, y) == 1
    assert edges(model.history_).min() >= 1 / 14 - 1e-9


def test_margins_tend_to_the_largest_that_a_vote_can_have():
    X = np.array(list(itertools.product([0.0, 1.0, 2.0], repeat=2)))
    y = np.all(X == 1.0, axis=1).astype(np.int32)
    model = RebelClassifier(Stump(), n_rounds=2000, cross_fit=None).fit(X, y)
    margin = margins(model.ensemble_.scores(X), y, model.ensemble_)
    assert 0 < margin.min() <= 1 / 7 + 1e-9
    assert margin.min() > 0.1


@given(st.integers(2, 30), st.integers(4, 2000))
def test_t0_is_the_first_round_after_which_the_rate_proves_zero_error(n_classes, n_samples):
    rounds, rate = similarity_rounds(n_classes, n_samples), similarity_rate(n_classes, n_samples)
    log_loss = np.log(n_classes / 2) + rounds * np.log(rate)
    assert log_loss <= -np.log(n_samples) + 1e-6
    assert log_loss - np.log(rate) > -np.log(n_samples) - 1e-6


@pytest.mark.parametrize(("n", "gamma"), [(4, 0.1), (9, 0.2), (10, 0.05), (12, 0.3)])
def test_section_3_3_boosting_all_outcomes_of_coins_is_the_bound_of_chernoff(n, gamma):
    """The instances are all n-bit sequences, all labelled +1 and as likely as n tosses of a coin."""
    X = np.array(list(itertools.product([0, 1], repeat=n)), dtype=np.float64)
    likely = np.prod(np.where(X == 1, 0.5 + gamma, 0.5 - gamma), axis=1)
    labels = np.ones(len(X), dtype=np.int32)
    samples = Samples(X, labels, 1 - np.eye(2), weight=likely)
    state = ClassObjective().state(MemoryRows.of(samples))
    signs = np.array([-1, 1], dtype=np.int8)
    for t in range(n):  # the t-th hypothesis is the t-th toss
        regions = X[:, t].astype(np.uint16)
        plus, minus = state.weights.sums(regions, 2)
        masses = (plus + minus).sum(axis=1)
        assert masses[0] / masses.sum() == pytest.approx(0.5 - gamma, rel=1e-6)  # Eq. 3.14
        output = state.weights.signed_output(regions, signs, plus, minus)
        alpha = np.log((0.5 + gamma) / (0.5 - gamma)) / 2
        np.testing.assert_allclose(output, [-alpha, alpha], rtol=1e-6)  # up to the cap of outputs
        state.add(regions, signs[:, np.newaxis] * output)
    votes = 2 * X.sum(axis=1) - n
    np.testing.assert_allclose(state.scores[:, 1], alpha * votes, atol=1e-5)
    tail = likely[votes <= 0].sum()  # at most half of the tosses are 1
    assert tail == pytest.approx(binom.cdf(n // 2, n, 0.5 + gamma))
    left = np.exp(state.log_loss)
    assert left == pytest.approx((1 - 4 * gamma**2) ** (n / 2), rel=1e-5)
    assert tail <= left <= np.exp(-2 * n * gamma**2) * (1 + 1e-5)


@st.composite
def function_classes(draw):
    """Responses ±1 of some functions on all of {0, 1}^n, as (2^n, J)."""
    n, n_functions = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    return rng.choice([-1, 1], size=(2**n, n_functions)), rng


@settings(max_examples=60)
@given(function_classes(), st.sampled_from([1, 3, 5, 7]))
def test_exercise_3_6_a_a_majority_of_k_has_an_edge_of_one_in_2k_for_any_weights(case, k):
    responses, rng = case
    chosen = rng.integers(responses.shape[1], size=k)
    f = np.sign(responses[:, chosen].sum(axis=1))
    found = majority_vote(responses, f)
    assert found.edge >= 1 / (2 * k) - 1e-9
    assert k >= found.fewest - 1e-6
    D = rng.dirichlet(np.ones(len(f)))
    errors = D @ (responses != f[:, np.newaxis])
    assert errors.min() <= 1 / 2 - 1 / (2 * k) + 1e-12


@settings(max_examples=60)
@given(function_classes())
def test_exercise_3_6_b_what_has_an_edge_is_a_majority_and_what_has_none_is_hard(case):
    responses, rng = case
    f = rng.choice([-1, 1], size=len(responses))
    found = majority_vote(responses, f)
    errors = found.distribution @ (responses != f[:, np.newaxis])
    assert found.distribution.sum() == pytest.approx(1)
    assert np.all(
        errors >= 1 / 2 - found.edge - 1e-9
    )  # no function is better on the hardest weights
    if len(found.chosen) == 0:
        assert found.edge < 1e-9
        return
    assert np.array_equal(np.sign(responses[:, found.chosen].sum(axis=1)), f)
    # With k functions, edges of more than √(n ln 2/(2k)) would do: k is at most one above.
    n = np.log2(len(f))
    assert len(found.chosen) <= 1 + n * np.log(2) / (2 * found.edge**2) + 1e-6


@pytest.mark.parametrize(
    ("responses", "labels", "message"),
    [
        ([[1], [-1]], [1], "give a row of responses, and a label"),
        ([[1], [0]], [1, -1], "must be −1 or 1"),
    ],
)
def test_a_majority_vote_refuses_what_are_no_responses(responses, labels, message):
    with pytest.raises(ValueError, match=message):
        majority_vote(responses, labels)
