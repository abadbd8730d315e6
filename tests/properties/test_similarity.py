"""Localized similarities: what the papers promise of them, and what must not change a model."""

import math
import pickle
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ensembles import assert_same, assert_same_terms
from problems import Problem, random_problem
from rebelboost import RebelClassifier, kernels
from rebelboost.boosting.loop import boost
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.settings import Settings
from rebelboost.data.point_set import fit_space
from rebelboost.data.samples import Samples
from rebelboost.learners.similarity import Similarity
from rebelboost.losses.exponential import CAP
from rebelboost.model.ensemble import Ensemble
from rebelboost.rows.base import MemoryRows

ROUNDING = 1e-9
"""Of a ratio of losses: fixed point has units of 2⁻⁵⁰ of a bound on the sum, which is the sum times
the largest factor of a round, 1.4e4; half a unit for each of 40 samples is 2.5e-10."""
SMOOTHING = math.sqrt(2 * CAP) + CAP
"""By how much of the loss before it a round may miss the best output of a ±1 response.

With u = S − P, v = S + P and e = CAP·S, the smoothed output leaves at most √((u + e)(v + e)) ≤ √(uv) +
√(2e·S) + e, as √(x + y) ≤ √x + √y and u + v = 2S."""

SCALES = ["none", "standard", "whitened"]
scales = st.sampled_from(SCALES)
learners = st.builds(
    Similarity,
    scale=scales,
    search=st.sampled_from(["drawn", "best"]),
    response=st.sampled_from(["real", "sign"]),
    modes=st.sampled_from(["both", "both", "one"]),
    offset=st.booleans(),
    anchors=st.sampled_from([1, 8]),
    rivals=st.sampled_from([1, 8]),
    subset=st.sampled_from([5, 2048]),
)

# Gaps that no scale makes vanish in single precision; sums of these weights and costs are exact.
values = st.integers(-3, 3).map(float) | st.integers(-256, 256).map(lambda i: i / 64)
dyadic = st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0, 4.0])
cost = st.sampled_from([0.5, 1.0, 1.0, 2.0, 5.0])


@st.composite
def problems(draw, max_samples=25, *, uniform=False, contradictions=True, missing=True):
    """2 to 4 classes, all of which occur; every other problem has many coincident samples."""
    n_classes = draw(st.integers(2, 4))
    n_samples = draw(st.integers(n_classes + 1, max_samples))
    n_features = draw(st.integers(1, 3))
    elements = draw(st.sampled_from([values, st.integers(0, 1).map(float)]))
    if missing and draw(st.booleans()):
        elements |= st.just(np.nan)
    X = draw(hnp.arrays(np.float64, (n_samples, n_features), elements=elements))
    y = draw(hnp.arrays(np.int64, n_samples, elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    if not contradictions:
        _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
        y = y[first[group.ravel()]]
        classes, y = np.unique(y, return_inverse=True)
        assume(len(classes) > 1)
        n_classes = len(classes)
    if uniform:
        return Problem(X, y, None, None)
    weight = draw(hnp.arrays(np.float64, n_samples, elements=dyadic))
    costs = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=cost))
    np.fill_diagonal(costs, 0)
    return Problem(X, y, weight, costs)


# ---- the loss, computed apart


@dataclass
class Merged:
    """Distinct points of a problem, their cost rows and labels [LOCAL, footnote 1], by loops."""

    points: np.ndarray
    plus: np.ndarray
    """(M, K) c⁺ [THESIS Sec. 4.3]."""
    minus: np.ndarray
    unavoidable: float

    @classmethod
    def of(cls, problem):
        weight = np.ones(len(problem.y)) if problem.weight is None else problem.weight
        n_classes = int(problem.y.max()) + 1
        costs = 1 - np.eye(n_classes) if problem.costs is None else problem.costs
        points, group = np.unique(
            np.where(np.isnan(problem.X), np.inf, problem.X), axis=0, return_inverse=True
        )
        plus, minus = np.zeros((2, len(points), n_classes))
        unavoidable = 0.0
        for i in range(len(points)):
            own = group.ravel() == i
            paid = weight[own] @ costs[problem.y[own]]
            unavoidable += paid.min()
            norm = np.linalg.norm(c := paid - paid.min())
            if norm > 0:
                plus[i] = math.sqrt(n_classes - 1) / (2 * norm) * c**2
                first = problem.y[own].min()
                label = first if paid[first] == paid.min() else np.argmin(paid)
                minus[i, label] = norm / (2 * math.sqrt(n_classes - 1))
        points[np.isinf(points)] = np.nan
        return cls(points, *(each / weight.sum() for each in (plus, minus, unavoidable)))

    def weights(self, H):
        return self.plus * np.exp(H), self.minus * np.exp(-H)

    def loss(self, H):
        return sum(w.sum() for w in self.weights(H))

    def isolated_loss(self, H):
        """The least loss after a response of 1 at one point, −1 at all others, times its best output."""
        up, down = self.weights(H)
        S = (up + down).sum(axis=0)
        best = math.inf
        for i in range(len(self.points)):
            f = np.where(np.arange(len(self.points)) == i, 1.0, -1.0)
            P = f @ (up - down)
            best = min(best, np.sqrt(np.maximum((S - P) * (S + P), 0.0)).sum())
        return best


@given(problem=problems(), learner=learners)
@settings(max_examples=60)
def test_every_round_is_as_good_as_the_best_isolating_learner(problem, learner):
    model = problem.fit(learner, tol=0.0)
    merged = Merged.of(problem)
    H = np.zeros(merged.plus.shape)
    for after in model.ensemble_.staged_scores(merged.points):
        before, allowed = merged.loss(H), merged.isolated_loss(H)
        loss, H = merged.loss(after), after
        assert loss <= before * (1 + ROUNDING)
        assert loss <= allowed + (SMOOTHING + ROUNDING) * before


@given(problem=problems(), learner=learners)
@settings(max_examples=60)
def test_the_loss_falls_at_the_rate_of_the_papers(problem, learner):
    n_points, n_classes = Merged.of(problem).plus.shape
    assume(n_points >= 4)
    rate = 1 - 2 / (n_classes * n_points**2)
    # Far from perfect responses smoothing by 1e-8 moves an output from its best, where the loss is
    # flat, by about as much, and the loss by its square.
    for record in problem.fit(learner, tol=0.0).history_:
        assert record.loss_ratio <= rate + ROUNDING


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_the_reported_loss_is_that_of_the_scores(problem, learner):
    model = problem.fit(learner, tol=0.0)
    merged = Merged.of(problem)
    stages = model.ensemble_.staged_scores(merged.points)
    for record, H in zip(model.history_, stages, strict=True):
        # Relative to the loss, fixed point and products of weights round by less than this.
        assert math.isclose(record.log_loss, math.log(merged.loss(H)), rel_tol=0, abs_tol=1e-6)


@pytest.mark.parametrize("offset", [True, False])
def test_the_loss_of_what_is_told_apart_falls_far_and_stays_a_number(offset):
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    learner = Similarity("none", offset=offset)
    model = RebelClassifier(learner, n_rounds=100, tol=0.0).fit(X, y)
    losses = np.array([record.log_loss for record in model.history_])
    assert len(losses) == 100
    assert np.isfinite(losses).all()
    assert np.all(np.diff(losses) < 0)
    assert losses[-1] < math.log(1e-300)


@given(problem=problems(), learner=learners, shrinkage=st.sampled_from([1.0, 0.3]))
@settings(max_examples=20)
def test_the_loss_never_rises_where_only_a_part_is_searched(problem, learner, shrinkage):
    model = problem.fit(learner, tol=0.0, shrinkage=shrinkage, subsample=0.5, weight_trimming=0.9)
    for record in model.history_:
        assert record.loss_ratio <= 1 + ROUNDING


@pytest.mark.parametrize("response", ["real", "sign"])
def test_one_point_similarities_choose_their_radius_by_the_loss(response):
    # Class 1 fills the middle: one ball tells it apart, but not one that holds its centre alone.
    X = np.r_[np.linspace(-1, 1, 21), np.linspace(3, 5, 10), np.linspace(-5, -3, 10)][:, np.newaxis]
    y = (np.abs(X[:, 0]) < 2).astype(int)
    learner = Similarity("none", modes="one", response=response)
    model = RebelClassifier(learner, n_rounds=10, tol=0.0).fit(X, y)
    assert model.score(X, y) == 1
    taus = {term.apart[0] for term in model.ensemble_ if len(term.example_rows)}
    assert max(taus) > 0.1  # ¼ of the squared distance of neighbours is 0.0025


# ---- training errors


@given(problem=problems(uniform=True, contradictions=False, missing=False), learner=learners)
@settings(max_examples=25)
def test_samples_that_do_not_contradict_one_another_are_learned_without_error(problem, learner):
    model = RebelClassifier(learner).fit(problem.X, problem.y)
    assert model.score(problem.X, problem.y) == 1
    assert model.history_[-1].error == 0
    assert model.ensemble_.unavoidable_cost == 0


@given(problem=problems(uniform=True), learner=learners)
@settings(max_examples=25)
def test_of_contradictions_only_the_unavoidable_share_is_left(problem, learner):
    model = RebelClassifier(learner).fit(problem.X, problem.y)
    unavoidable = Merged.of(problem).unavoidable
    assert model.ensemble_.unavoidable_cost == pytest.approx(unavoidable, abs=1e-12)
    assert 1 - model.score(problem.X, problem.y) == pytest.approx(unavoidable, abs=1e-12)


@given(problem=problems(max_samples=15), learner=learners)
@settings(max_examples=25)
def test_with_costs_and_weights_only_the_unavoidable_cost_is_left(problem, learner):
    merged = Merged.of(problem)
    model = problem.fit(learner, n_rounds=400, tol=1e-5)
    assert model.ensemble_.unavoidable_cost == pytest.approx(merged.unavoidable, abs=1e-12)
    if len(model.ensemble_) > 0:
        assert model.history_[-1].cost == pytest.approx(merged.unavoidable, abs=1e-12)


def test_where_no_decision_is_better_there_is_nothing_to_learn():
    X, y = np.zeros((4, 2)), [0, 0, 1, 1]
    model = RebelClassifier(Similarity("standard")).fit(X, y)
    assert len(model.ensemble_) == 0
    assert model.ensemble_.unavoidable_cost == 0.5
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


# ---- what changes nothing


@pytest.mark.parametrize("learner", [Similarity("whitened"), Similarity("none", search="best")])
def test_the_number_of_threads_changes_no_bit(learner, monkeypatch):
    # Enough samples that the kernels do share them out; n_jobs itself is capped by the cores here.
    problem = random_problem(0, n_samples=20_000, n_features=20, n_classes=5)
    problem.X[::9, 3] = np.nan
    monkeypatch.setattr("rebelboost.estimators.validation._n_cores", lambda: 3)
    models = []
    for n_threads in (1, 2, 3):
        models.append(problem.fit(learner, n_rounds=3, n_jobs=n_threads))
        scores = models[-1].decision_function(problem.X)
        np.testing.assert_array_equal(scores, models[0].decision_function(problem.X))
    assert_same(models[0], models[1])
    assert_same(models[0], models[2])


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_the_kernels_in_numpy_find_the_same_model(compiled, problem, learner):
    model = problem.fit(learner)
    with kernels.using("reference"):
        other = problem.fit(learner)
        scores = other.decision_function(problem.X)
    assert_same(model, other)
    np.testing.assert_array_equal(model.decision_function(problem.X), scores)


@given(problem=problems(), learner=learners, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_the_order_of_samples_changes_no_score(problem, learner, seed):
    order = np.random.default_rng(seed).permutation(len(problem.y))
    shuffled = Problem(problem.X[order], problem.y[order], problem.weight[order], problem.costs)
    model, other = problem.fit(learner), shuffled.fit(learner)
    scores, same = (m.ensemble_.scores(problem.X) for m in (model, other))
    np.testing.assert_allclose(scores, same, rtol=0, atol=1e-9)


@pytest.mark.parametrize("X", [[[0], [1], [0]], [[0, 0], [0, 1], [0, 0]]])
@pytest.mark.parametrize("y", [[0, 1, 0], [1, 0, 1]])
def test_scales_are_learned_from_all_samples_whatever_their_labels(X, y):
    # A hash of values and labels must not take one for the other.
    X = np.array(X, dtype=np.float64)
    samples = Samples(X, np.array(y, dtype=np.int32), 1 - np.eye(2))
    space = fit_space(samples, "sqeuclidean", "none")
    np.testing.assert_allclose(space.offset, X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_the_order_of_samples_changes_no_score_with_weights_whose_sums_round(scale):
    problem = random_problem(3)
    problem.X = np.round(problem.X)  # coincident points, contradictions
    order = np.random.default_rng(3).permutation(len(problem.y))
    shuffled = Problem(problem.X[order], problem.y[order], problem.weight[order], problem.costs)
    model, other = (p.fit(Similarity(scale), n_rounds=50, tol=0.0) for p in (problem, shuffled))
    scores, same = (m.ensemble_.scores(problem.X) for m in (model, other))
    np.testing.assert_allclose(scores, same, rtol=0, atol=1e-9)


@given(problem=problems(), learner=learners, power=st.integers(-60, 60))
@settings(max_examples=25)
def test_the_unit_of_features_changes_no_bit_without_a_scale(problem, learner, power):
    learner = Similarity("none", search=learner.search, offset=learner.offset)
    scaled = Problem(problem.X * 2.0**power, problem.y, problem.weight, problem.costs)
    assert_same(problem.fit(learner), scaled.fit(learner))


def assert_same_scores(problem, other, learner):
    """Anchors are not drawn here, for which every last bit of the weights matters."""
    scores, same = (p.fit(learner).ensemble_.scores(problem.X) for p in (problem, other))
    np.testing.assert_allclose(scores, same, rtol=0, atol=1e-6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_equal_sample_weights_are_as_good_as_none(scale, weight):
    problem = random_problem(4)
    weighted = Problem(problem.X, problem.y, np.full(len(problem.y), weight), problem.costs)
    plain = Problem(problem.X, problem.y, None, problem.costs)
    assert_same_scores(plain, weighted, Similarity(scale, search="best"))


@pytest.mark.parametrize("scale", ["none", "standard"])
@pytest.mark.parametrize("least_cost", [0.0, 0.3])
def test_a_doubled_sample_is_a_doubled_weight(scale, least_cost):
    # "whitened" is shrunk by the number of samples, of which weights, whatever their unit, say nothing.
    problem = random_problem(9)
    problem.costs[2] = [1.0, least_cost, 0.0]
    copies = np.random.default_rng(9).integers(1, 4, size=len(problem.y))
    rows = np.repeat(np.arange(len(problem.y)), copies)
    weighted = Problem(problem.X, problem.y, copies, problem.costs)
    repeated = Problem(problem.X[rows], problem.y[rows], None, problem.costs)
    assert_same_scores(weighted, repeated, Similarity(scale, search="best"))


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_pickling_changes_no_bit(problem, learner):
    model = problem.fit(learner)
    copy = pickle.loads(pickle.dumps(model))
    assert_same(model, copy, leave_out=())
    np.testing.assert_array_equal(
        copy.decision_function(problem.X), model.decision_function(problem.X)
    )


# ---- training and prediction


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_predicted_scores_of_training_rows_are_those_of_training(problem, learner):
    set_up = Samples(problem.X, problem.y.astype(np.int32), problem.costs, weight=problem.weight)
    prepared = learner.prepare(MemoryRows.of(set_up))
    state = ClassObjective().state(prepared.rows)
    ensemble = Ensemble.of(boost(prepared, state, Settings(learner, 10)), len(problem.costs))
    # Constants are added apart from comparisons: in another order.
    scores = ensemble.scores(prepared.samples.X)
    np.testing.assert_allclose(scores, state.scores, rtol=0, atol=1e-9)
    of_all = ensemble.scores(problem.X)
    np.testing.assert_allclose(of_all, state.scores[prepared.placed.place], rtol=0, atol=1e-9)


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_stages_end_at_the_final_predictions(problem, learner):
    model = problem.fit(learner)
    scores, predictions = (
        list(stages(problem.X)) for stages in (model.staged_decision_function, model.staged_predict)
    )
    assert len(scores) == len(predictions) == len(model.ensemble_)
    if scores:
        final = model.decision_function(problem.X)
        np.testing.assert_allclose(scores[-1], final, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(predictions[-1], model.predict(problem.X))


@given(problem=problems(), learner=learners)
@settings(max_examples=20)
def test_a_warm_start_goes_on_where_the_last_fit_ended(problem, learner):
    model = problem.fit(learner, n_rounds=4, warm_start=True, tol=0.0)
    before = list(model.ensemble_)
    model.set_params(n_rounds=9).fit(problem.X, problem.y, problem.weight)
    assert_same_terms(model.ensemble_[: len(before)], before)
    assert len(model.ensemble_) >= len(before)
    losses = [record.log_loss for record in model.history_]
    assert all(later <= earlier + ROUNDING for earlier, later in pairwise(losses))
    merged = Merged.of(problem)
    if losses:
        H = model.ensemble_.scores(merged.points)
        assert math.isclose(losses[-1], math.log(merged.loss(H)), rel_tol=0, abs_tol=1e-6)


def test_a_warm_start_with_the_best_anchors_gives_the_bits_of_one_fit():
    problem, learner = random_problem(5), Similarity("standard", search="best")
    whole = problem.fit(learner, n_rounds=30, tol=0.0)
    parts = problem.fit(learner, n_rounds=10, tol=0.0, warm_start=True)
    parts.set_params(n_rounds=30).fit(problem.X, problem.y, problem.weight)
    assert_same(whole, parts)
