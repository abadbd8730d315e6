"""Curves: averages over rows, exact where features act on their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Tree
from rebelboost.explain.curves import curve, is_additive, leading_features
from rebelboost.explain.explain import wording_of


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = rng.integers(0, 3, 300)
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=300) > 1).astype(int)
    return X, y


def of(clf, X, feature):
    return curve(clf.model_, np.asarray(X, dtype=float), feature, wording_of(clf.model_))


@pytest.mark.parametrize("learner", [Tree(depth=3), Similarity()], ids=["tree", "similarity"])
def test_a_curve_is_the_partial_dependence(table, learner):
    X, y = table
    clf = RebelClassifier(learner, n_rounds=20).fit(X, y)
    for feature in (0, 1):
        found = of(clf, X, feature)
        assert len(found.values) == (25 if feature == 0 else 3)
        for value, mean in zip(found.values, found.outcome, strict=True):
            changed = X.copy()
            changed[:, feature] = value
            np.testing.assert_allclose(mean, clf.predict_proba(changed).mean(axis=0), atol=1e-12)
    theirs = partial_dependence(clf, X, [1], method="brute", response_method="predict_proba")
    np.testing.assert_allclose(of(clf, X, 1).outcome[:, 1], theirs["average"][0], atol=1e-12)


def test_curves_of_scores_are_exact_where_features_act_on_their_own(table):
    X, y = table
    clf = RebelClassifier(Stump(), n_rounds=30, cross_fit=None).fit(X, y)
    found = of(clf, X, 0)
    assert found.exact
    for row in X[:5]:  # the same differences for every row
        rows = np.tile(row, (len(found.values), 1))
        rows[:, 0] = found.values
        scores = clf.decision_function(rows)
        ours = found.scores[:, 1] - found.scores[:, 0]
        np.testing.assert_allclose(ours - ours[0], scores - scores[0], atol=1e-9)


def test_only_features_that_act_on_their_own_are_called_exact(table):
    X, y = table
    stumps = RebelClassifier(Stump(), n_rounds=30, cross_fit=None).fit(X, y).model_.ensemble
    assert all(is_additive(stumps, f) for f in range(4))
    deep = RebelClassifier(Tree(depth=3), n_rounds=30).fit(X, y).model_.ensemble
    assert not any(is_additive(deep, f) for f in (0, 1))
    similar = RebelClassifier(Similarity(), n_rounds=5).fit(X, y).model_.ensemble
    assert not is_additive(similar, 0)


def test_features_that_matter_lead(table):
    X, y = table
    for learner in (Tree(depth=3), Similarity()):
        clf = RebelClassifier(learner, n_rounds=20).fit(X, y)
        assert set(leading_features(clf.model_, X, 2)) == {0, 1}
    wide = np.column_stack([np.random.default_rng(1).normal(size=(300, 80)), X])
    for learner in (Tree(depth=3), Similarity()):
        clf = RebelClassifier(learner, n_rounds=20).fit(wide, y)
        assert 80 in leading_features(clf.model_, wide, 4)


def test_counts_and_missing_values_are_those_of_the_table(table):
    X, y = table
    X = pd.DataFrame(X, columns=list("abcd"))
    X.loc[:29, "a"] = np.nan
    X["e"] = pd.Categorical(np.where(y == 1, "up", "down"))
    clf = RebelClassifier("tree", n_rounds=10).fit(X, y)
    encoded = X.assign(e=(X["e"] == "up").astype(float)).to_numpy()
    numbers, levels = of(clf, encoded, 0), of(clf, encoded, 4)
    assert numbers.n_missing == 30
    assert numbers.missing is not None
    assert 260 <= numbers.counts.sum() <= 270, "one in a hundred is beyond each end"
    assert levels.labels == ("down", "up")
    assert levels.counts.tolist() == [np.sum(y == 0), np.sum(y == 1)]
    assert levels.missing is None


def test_regressors_have_curves_of_their_predictions(table):
    X, _ = table
    model = RebelRegressor(n_rounds=20).fit(X, 3 * X[:, 0])
    found = of(model, X, 0)
    changed = X.copy()
    changed[:, 0] = found.values[3]
    assert found.outcome[3, 0] == pytest.approx(model.predict(changed).mean())
