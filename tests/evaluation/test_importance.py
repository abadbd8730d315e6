"""Features that help on held-out rows are told from those that are only used."""

import numpy as np
import pandas as pd
import pytest

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Tree, load
from rebelboost.estimators.base import encode_table
from rebelboost.evaluation import held_out_importance, importance


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 500
    X = pd.DataFrame(
        {
            "name": rng.integers(0, 250, n).astype(str),
            "dose": rng.normal(size=n),
            "age": rng.normal(size=n),
        }
    )
    return X, np.where(X["dose"] + rng.normal(size=n) > 0, "ill", "well")


pytestmark = pytest.mark.filterwarnings("ignore:categorical feature 'name' has")

LEARNERS = {
    "trees": RebelClassifier("tree", n_rounds=60),
    "all": RebelClassifier(),
    "smooth": RebelClassifier("smooth", cross_fit=5),
    "kernel": RebelClassifier("kernel", cross_fit=5),
    "similarities": RebelClassifier(Similarity(), n_rounds=100, cross_fit=5),
}


@pytest.fixture(scope="module", params=LEARNERS)
def fitted(request, table):
    return LEARNERS[request.param].fit(*table)


def test_a_column_of_names_is_used_but_does_not_help(fitted, table):
    first, *others = held_out_importance(fitted, *table)
    assert first.name == "dose"
    assert first.helps
    assert first.rise > 0.05
    assert not any(each.helps for each in others if each.name == "name")


def test_held_out_rows_are_scored_by_the_fits_that_did_not_see_them(fitted, table, monkeypatch):
    X, y = table
    monkeypatch.setattr(importance, "MOST_ROWS", len(y))
    parts = importance._left_out_parts(fitted)
    found = importance._Shuffling(fitted, encode_table(fitted, X), y, parts)
    rows, place = np.unique(found.rows, return_inverse=True)
    order = np.argsort(fitted.cross_fit_.rows)
    np.testing.assert_array_equal(rows, fitted.cross_fit_.rows[order])
    # Rows that several fits have left out have the mean of their scores.
    means = [np.bincount(place, s) / np.bincount(place) for s in found._scores(found.X).T]
    # Scores of the average are rounded to a grid, so that their order does not matter.
    left_out = fitted.model_.posterior(fitted.cross_fit_.left_out[order])
    scored = fitted.model_.posterior(np.column_stack(means))
    np.testing.assert_allclose(scored, left_out, atol=1e-3)


def test_unseen_rows_are_scored_by_the_whole_model(table):
    X, y = table
    clf = RebelClassifier("tree", n_rounds=60, cross_fit=None).fit(X[:300], y[:300])
    assert held_out_importance(clf, X[:300], y[:300]) is None, "no row was left out"
    first, *_ = held_out_importance(clf, X[300:], y[300:], unseen=True)
    assert first.name == "dose"


def test_a_model_that_was_fitted_again_to_all_rows_has_no_held_out_fits(table):
    X, y = table
    clf = RebelClassifier("tree", n_rounds=20).fit(X, y, times=np.arange(len(y)))
    assert held_out_importance(clf, X, y) is None


def test_loaded_trees_have_the_same_importance(table, tmp_path):
    clf = RebelClassifier("auto_trees", n_rounds=60).fit(*table)
    clf.save(tmp_path / "m.safetensors")
    assert held_out_importance(load(tmp_path / "m.safetensors"), *table) == held_out_importance(
        clf, *table
    )


def test_the_order_of_unseen_rows_changes_nothing(table):
    X, y = table
    clf = RebelClassifier("tree", n_rounds=20, cross_fit=None).fit(X[:300], y[:300])
    order = np.random.default_rng(1).permutation(200)
    there = held_out_importance(clf, X[300:], y[300:], unseen=True)
    back = held_out_importance(clf, X[300:].iloc[order], y[300:][order], unseen=True)
    assert [each.name for each in there] == [each.name for each in back]
    assert [each.rise for each in there] == pytest.approx([each.rise for each in back])


def test_regressors_have_it_too(table):
    X, _ = table
    target = X["dose"].to_numpy() + np.random.default_rng(0).normal(size=len(X))
    first, *others = held_out_importance(RebelRegressor().fit(X, target), X, target)
    assert first.name == "dose"
    assert first.rise > 0.3
    assert not any(each.helps for each in others if each.name == "name")


def test_names_that_occur_once_do_not_help_though_fits_know_those_of_other_parts(table):
    X, y = table
    own = X.assign(name=[f"n{i}" for i in range(len(X))]).iloc[:250]
    clf = RebelClassifier(Tree(6, outputs="tree"), n_rounds=60, cross_fit=5).fit(own, y[:250])
    assert dict(zip(own, clf.feature_importances_, strict=True))["name"] > 0.2
    (name,) = [each for each in held_out_importance(clf, own, y[:250]) if each.name == "name"]
    assert not name.helps
