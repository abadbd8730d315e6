"""The published methods by name."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Tree, load
from rebelboost.estimators.papers import CLASS_PAPERS, NUMBER_PAPERS

X, Y = load_iris(return_X_y=True)
TWO = Y > 0
NAMES = list(CLASS_PAPERS)
COSTS = np.array([[0, 1, 5], [1, 0, 2], [1, 3, 0.0]])


def fitted(name, y=Y, **options):
    return RebelClassifier.papers(name, n_rounds=8, **options).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_gives_an_estimator_that_knows_its_citation(name, tmp_path):
    clf = fitted(name)
    citation = CLASS_PAPERS[name].citation
    clf.save(tmp_path / "model.safetensors")
    again = [pickle.loads(pickle.dumps(clf)), load(tmp_path / "model.safetensors")]
    for each in [clf, clone(clf).fit(X, Y), *again]:
        assert each.citation_ == citation
        np.testing.assert_array_equal(each.decision_function(X), clf.decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_the_representation_shows_what_is_set(name):
    said = repr(RebelClassifier.papers(name))
    assert "cross_fit=None" in said
    assert "decision='argmax'" in said
    assert "training='costs'" in said


@pytest.mark.parametrize("name", NAMES)
def test_it_is_one_fit_that_decides_by_argmax_and_trains_on_the_costs(name):
    clf = fitted(name, costs=COSTS)
    assert clf.cross_fit_ is None
    scores = clf.decision_function(X)
    np.testing.assert_array_equal(clf.predict(X), scores.argmax(axis=1))
    assert not np.array_equal(scores, fitted(name).decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_neither_threads_nor_other_free_parameters_change_the_method(name):
    clf = fitted(name, n_jobs=2, random_state=3)
    assert clf.citation_ == CLASS_PAPERS[name].citation
    np.testing.assert_array_equal(clf.decision_function(X), fitted(name).decision_function(X))


@pytest.mark.parametrize("name", ["local", "local_sign"])
def test_similarities_stop_at_one_in_n_whatever_k_and_n(name):
    for y in (Y, Y > 1):
        clf = RebelClassifier.papers(name).fit(X, y)
        losses = np.exp([record.log_loss for record in clf.history_])
        assert losses[-1] < 1 / len(np.unique(X, axis=0)) <= losses[-2]


@pytest.mark.parametrize("name", ["rebel", "rebel_trees", "quickboost", "adaboost"])
def test_depth_makes_trees_of_one_output(name):
    clf = RebelClassifier.papers(name, depth=3, n_rounds=3).fit(X, Y)
    assert clf.learner == Tree(**clf.learner.get_params() | {"depth": 3, "outputs": "tree"})
    assert clf.citation_ is not None


def test_the_pruned_search_finds_what_the_exhaustive_one_finds():
    scores = [
        fitted("quickboost", depth=3, criterion="gini", search=search).decision_function(X)
        for search in ("pruned", "exhaustive")
    ]
    np.testing.assert_array_equal(*scores)


def test_isolating_similarities_are_an_option():
    clf = fitted("local", modes="isolating")
    assert clf.learner == Similarity("none", search="exact", modes="isolating")
    assert clf.citation_ == CLASS_PAPERS["local"].citation


def test_regression():
    y = X[:, 0]
    reg = RebelRegressor.papers("quickboost", depth=2, n_rounds=30).fit(X[:, 1:], y)
    assert reg.citation_ == NUMBER_PAPERS["quickboost"].citation
    assert reg.score(X[:, 1:], y) > 0.5
    assert RebelRegressor().fit(X[:, 1:], y).citation_ is None


def test_other_parameters_have_no_citation():
    clf = RebelClassifier.papers("adaboost", n_rounds=3).set_params(shrinkage=0.1)
    assert clf.fit(X, TWO).citation_ is None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RebelClassifier.papers("ada"), ValueError, "choose one of local, local_sign"),
        (lambda: RebelRegressor.papers("local"), ValueError, "choose one of quickboost"),
        (lambda: RebelClassifier.papers("local", depth=2), ValueError, "does not apply"),
        (
            lambda: RebelClassifier.papers("rebel", shrinkage=0.1),
            ValueError,
            "no option 'shrinkage'",
        ),
        (lambda: RebelClassifier.papers("local", criterion="gini"), ValueError, "no option"),
    ],
)
def test_what_a_paper_does_not_have_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
