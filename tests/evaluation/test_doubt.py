"""Suspect labels: which rows are doubted, and in what order."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost import EvaluationError, RebelClassifier, RebelRegressor
from rebelboost.evaluation import doubt, left_out
from rebelboost.evaluation.doubt import doubts_in


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] > 0, "ill", "well")
    wrong = rng.choice(n, n // 20, replace=False)
    label = y.copy()
    label[wrong] = np.where(y[wrong] == "ill", "well", "ill")
    return X, label, wrong


@given(st.integers(2, 5), st.integers(0, 2**32 - 1), st.floats(0.001, 0.5))
def test_probabilities_follow_bayes_rule_and_prices_are_those_of_the_label(n_classes, seed, share):
    rng = np.random.default_rng(seed)
    posterior, costs = rng.dirichlet(np.ones(n_classes), 6), rng.random((n_classes, n_classes))
    np.fill_diagonal(costs, 0)
    label = rng.integers(0, n_classes, 6).astype(np.int32)
    wrong, priced = doubts_in(posterior, costs, label, share)
    for n, y in enumerate(label):
        weights = share / (n_classes - 1) * posterior[n]
        weights[y] = (1 - share) * posterior[n, y]
        weights /= weights.sum()
        assert wrong[n] == pytest.approx(1 - weights[y])
        others = [k for k in range(n_classes) if k != y]
        assert priced[n] == pytest.approx(sum(weights[k] * costs[k, y] for k in others))
    by_row = np.broadcast_to(costs, (6, n_classes, n_classes))
    np.testing.assert_allclose(doubts_in(posterior, by_row, label, share)[1], priced)


def test_planted_labels_come_first():
    X, label, wrong = table()
    found = doubt(RebelClassifier("stump", n_rounds=30, cross_fit=5).fit(X, label), label)
    assert np.isin(found.rows[: len(wrong)], wrong).mean() > 0.8
    assert set(found.suggested) == {0, 1}
    assert (np.diff(found.doubt) <= 0).all()
    json.dumps(found.to_dict(), allow_nan=False)
    assert f"{len(found):,} of 300 rows" in str(found)


def test_only_rows_with_a_more_probable_class_are_doubted():
    X, label, _ = table()
    clf = RebelClassifier("stump", n_rounds=30, cross_fit=5).fit(X, label)
    found, judged = doubt(clf, label), left_out(clf, label).judged
    suspect = judged.rows[judged.posterior.argmax(axis=1) != judged.true]
    assert sorted(found.rows.tolist()) == sorted(suspect.tolist())


def test_labels_that_cost_more_when_wrong_come_earlier():
    X, label, _ = table()
    costs = {("ill", "well"): 50.0}
    clf = RebelClassifier("stump", n_rounds=30, cross_fit=5, costs=costs, training="neutral")
    found = doubt(clf.fit(X, label), label)
    dear = found.label == found.classes.index("well")  # acting on it costs 50, if somebody is ill
    np.testing.assert_allclose(found.doubt[dear], 50 * found.wrong[dear])
    np.testing.assert_allclose(found.doubt[~dear], found.wrong[~dear])
    places = np.argsort(np.argsort(-found.wrong))
    assert np.flatnonzero(dear).mean() < places[dear].mean()


def test_without_left_out_rows_nothing_can_be_doubted():
    X, label, _ = table(60)
    alone = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(X, label)
    with pytest.raises(EvaluationError, match="cross_fit=5"):
        doubt(alone, label)
    with pytest.raises(ValueError, match="share is 2"):
        doubt(alone, label, share=2)
    numbers = RebelRegressor("stump", n_rounds=3, cross_fit=2).fit(X, X[:, 0])
    with pytest.raises(EvaluationError, match="fit a classifier"):
        doubt(numbers, X[:, 0])
