"""Predictors say what the estimators say, to the bit, one sample at a time."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from export.models import model
from rebelboost import RebelClassifier, RebelRegressor, TableError
from rebelboost.estimators.predictor import ClassPredictor, NumberPredictor
from rebelboost.export.reading import readings_of
from rebelboost.export.records import RecordReader
from rebelboost.export.vectors import samples_for
from rebelboost.model.fitted import FittedRegressor


def predictor_of(fitted):
    reader = RecordReader(readings_of(fitted.encoder, fitted.shown_names, None))
    kind = NumberPredictor if isinstance(fitted, FittedRegressor) else ClassPredictor
    return kind(fitted, reader)


@pytest.fixture(scope="module")
def wine():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    clf = RebelClassifier("tree", n_rounds=20, random_state=0).fit(X, y)
    return clf, X, y


def same(found, expected):
    return np.array_equal(np.array(found), expected, equal_nan=np.array(expected).dtype.kind == "f")


OF_EACH_KIND = [
    "the default blend of categories", "averaged trees", "stumps of two classes", "signed trees",
    "an argmax that abstains", "abstaining by cost", "other costs", "means of levels",
    "other priors with costs", "costs in a column", "costs learned by row", "rebel subcosts of two classes",
    "cost training with zeros", "the squared loss", "similarities", "signs of similarities",
    "smooth similarities", "one class", "a regression",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::rebelboost.SingleClassWarning")
@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_predictor_equals_the_model_to_the_bit_whatever_the_model(name):
    fitted = model(name)
    X = samples_for(fitted)[:150]
    X = np.ascontiguousarray(X, dtype=np.float64)
    predictor, scores = predictor_of(fitted), fitted.ensemble.scores(X)
    rows = list(X)
    assert same([predictor.decision_function(x) for x in rows], scores)
    if isinstance(fitted, FittedRegressor):
        assert same([predictor.predict(x) for x in rows], fitted.predict(X))
        assert same(predictor.predict(X), fitted.predict(X))
        return
    with np.errstate(all="ignore"):
        costs = fitted.costs_of(X) if fitted.columns is None else None
        assert same([predictor.predict_proba(x) for x in rows], fitted.posterior(scores))
        assert same(predictor.predict_proba(X), fitted.posterior(scores))
        if costs is None:  # of a column that holds costs, vectors may hold none
            return
        labels = fitted.labels(scores, costs)
        assert [predictor.predict(x) for x in rows] == labels.tolist()
        assert same(predictor.predict(X), labels)
        assert same([predictor.expected_cost(x) for x in rows], fitted.expected_cost(scores, costs))


def test_samples_may_be_arrays_lists_or_dicts(wine):
    clf, X, _ = wine
    predictor, expected = clf.predictor(), clf.predict_proba(X[:2])
    given = [X[0], X[0].tolist(), X[::2][0], np.asfortranarray(X)[0], X[0].astype(object)]
    given.append({f"x{f}": value for f, value in enumerate(X[0])})
    for x in given:
        assert np.array_equal(predictor.predict_proba(x), expected[0])
    records = [{f"x{f}": str(value) for f, value in enumerate(x)} for x in X[:2]]
    assert np.array_equal(predictor.predict_proba(records), expected)
    single = clf.predict_proba(X[:2].astype(np.float32))
    assert np.array_equal(predictor.predict_proba(X[:2].astype(np.float32)), single)


def test_samples_of_another_shape_are_refused(wine):
    predictor = wine[0].predictor()
    for x in (np.zeros(12), np.zeros((2, 14)), np.zeros((1, 1, 13)), 3.0):
        with pytest.raises(ValueError, match="a sample has 13 features, but the shape given is"):
            predictor.predict(x)
    with pytest.raises(TableError, match="row 1 lacks 13 of the 13"):
        predictor.predict({"a": 1})


def test_a_predictor_is_pickled_and_shared_by_threads(wine):
    clf, X, _ = wine
    predictor = pickle.loads(pickle.dumps(clf.predictor()))
    expected = clf.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert np.array_equal(list(pool.map(predictor.predict_proba, X)), expected)


def test_a_predictor_does_not_follow_later_changes_of_the_estimator(wine):
    clf, X, y = wine
    predictor, expected = clf.predictor(), clf.predict_proba(X[:5])
    other = clf.with_costs([[0, 9, 9], [1, 0, 1], [1, 1, 0]])
    assert [other.predictor().predict(x) for x in X] == other.predict(X).tolist()
    again = RebelClassifier("tree", n_rounds=20, random_state=0).fit(X, y)
    kept = again.predictor()
    again.fit(X, y[::-1])
    assert np.array_equal(kept.predict_proba(X[:5]), expected)
    assert np.array_equal(predictor.predict_proba(X[:5]), expected)
    with pytest.raises(AttributeError):
        predictor.anything = 1


def test_a_regressor_has_a_predictor_too(wine):
    _, X, _ = wine
    reg = RebelRegressor("tree", n_rounds=10).fit(X[:, 1:], X[:, 0])
    assert [reg.predictor().predict(x) for x in X[:9, 1:]] == reg.predict(X[:9, 1:]).tolist()
