"""Similarities by distances from elsewhere, and of tables with text and gaps."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from problems import Problem, random_problem
from rebelboost import RebelClassifier, UnknownCategoryWarning
from rebelboost.learners.similarity import Similarity

SCALES = ["none", "standard", "whitened"]

by_best = st.builds(
    Similarity,
    scale=st.just("standard"),
    search=st.just("best"),
    response=st.sampled_from(["real", "sign"]),
    modes=st.sampled_from(["both", "one"]),
    offset=st.booleans(),
)
"""Anchors are not drawn, for which the order of samples matters: that is by a hash of the values."""


def assert_same_comparisons(model, other):
    """The same examples by row, distances and outputs; what is kept of the examples may differ."""
    assert len(model.ensemble_) == len(other.ensemble_) > 0
    for ours, theirs in zip(model.ensemble_, other.ensemble_, strict=True):
        one, two = ours, theirs
        assert (one.kind, one.apart) == (two.kind, two.apart)
        assert one.example_rows.tolist() == two.example_rows.tolist()
        np.testing.assert_array_equal(ours.outputs, theirs.outputs)


@given(learner=by_best, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_precomputed_distances_give_the_model_of_computed_ones(learner, seed):
    problem, new = random_problem(seed, n_samples=30), random_problem(seed + 1, n_samples=7).X
    model = problem.fit(learner)
    space = model.ensemble_[0].space
    if space is None:  # a constant came first
        space = next(t.space for t in model.ensemble_ if t.space)
    points, placed = space.place(problem.X), space.place(new)
    rows = np.arange(30, dtype=np.int32)
    D = space.distances(space.lay_out(points), points, rows, 1)[:, :30].T
    D_new = space.distances(space.lay_out(placed), points, rows, 1)[:, :7].T
    given_distances = Similarity(
        metric="precomputed",
        search="best",
        response=learner.response,
        modes=learner.modes,
        offset=learner.offset,
    )
    other = Problem(D, problem.y, problem.weight, problem.costs).fit(given_distances)
    assert_same_comparisons(model, other)
    np.testing.assert_array_equal(model.ensemble_.scores(new), other.ensemble_.scores(D_new))


def city_blocks(x, y):
    return np.abs(x - y).sum()


@pytest.mark.parametrize("metric", [city_blocks, "cityblock"])
@pytest.mark.parametrize("offset", [True, False])
def test_a_metric_gives_the_model_of_its_distances(metric, offset):
    problem, new = random_problem(6), random_problem(7, n_samples=9).X
    model = problem.fit(Similarity(metric=metric, search="best", offset=offset))
    D, D_new = (cdist(X, problem.X, city_blocks) for X in (problem.X, new))
    computed = Similarity(metric="precomputed", search="best", offset=offset)
    other = Problem(D, problem.y, problem.weight, problem.costs).fit(computed)
    assert_same_comparisons(model, other)
    np.testing.assert_array_equal(model.ensemble_.scores(new), other.ensemble_.scores(D_new))
    drawn = problem.fit(Similarity(metric=metric, offset=offset), n_rounds=200)
    assert drawn.history_[-1].error == 0
    copy = pickle.loads(pickle.dumps(drawn))
    np.testing.assert_array_equal(copy.predict(new), drawn.predict(new))


def test_a_table_of_distances_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="precomputed"):
        RebelClassifier(Similarity(metric="precomputed")).fit(np.ones((4, 3)), [0, 1, 0, 1])


# ---- tables


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("search", ["drawn", "best"])
def test_text_and_missing_values_are_learned(scale, search):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(8)
    letter = rng.choice(list("abc"), 90)
    number = rng.standard_normal(90)
    y = np.where(letter == "a", "first", np.where(number > 0, "second", "third"))
    number[::7], letter = np.nan, letter.astype(object)
    letter[::11] = None
    X = pd.DataFrame({"letter": letter, "number": number, "other": rng.standard_normal(90)})
    model = RebelClassifier(Similarity(scale, search=search), n_rounds=300).fit(X, y)
    assert model.score(X, y) == 1
    with pytest.warns(UnknownCategoryWarning, match="such as 'never'"):
        assert set(model.predict(X.assign(letter="never"))) <= set(y)
    assert np.isfinite(model.predict_proba(X.assign(number=np.nan))).all()


# ---- near and far


def test_points_so_near_that_squares_underflow_are_told_apart():
    # In units of the spread, 1e-25 squared is below the least float32.
    X, y = np.array([[0.0], [1e-25], [1.0], [-1.0]]), np.array([0, 1, 0, 0])
    model = RebelClassifier(Similarity("none"), n_rounds=200).fit(X, y)
    assert model.score(X, y) == 1 - model.ensemble_.unavoidable_cost


def test_what_is_far_from_all_is_not_taken_for_near():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = RebelClassifier(Similarity("standard", modes="one"), n_rounds=30).fit(X, y)
    far, farther = model.decision_function(np.array([[1e15], [1e30]]))
    assert far == pytest.approx(farther, abs=1e-9)
