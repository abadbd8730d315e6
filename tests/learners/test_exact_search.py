"""Similarities to the letter, `search="exact"`, work like other learners. Round by round: tests/reference."""

import json
import pickle
import re

import jsonschema
import numpy as np
import pytest
from sklearn.datasets import load_iris

from pages import ROOT
from rebelboost import RebelClassifier, Similarity, load

X, Y = load_iris(return_X_y=True)
OPTIONS = [
    {},
    {"response": "sign"},
    {"modes": "isolating"},
    {"modes": "one"},
    {"scale": "whitened"},
]


def fitted(X=X, y=Y, *, n_jobs=1, rounds=25, warm_start=False, **options):
    learner = Similarity(**{"scale": "none", "search": "exact", **options})
    clf = RebelClassifier(
        learner, n_rounds=rounds, tol=0, cross_fit=None, n_jobs=n_jobs, warm_start=warm_start
    )
    return clf.fit(X, y)


def assert_same_scores(one, other):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_training_and_prediction_have_the_same_bits(options):
    clf = fitted(**options)
    staged = list(clf.staged_decision_function(X))
    labels = np.searchsorted(clf.classes_, Y)
    signs = 1 - 2 * (labels[:, np.newaxis] == np.arange(3))
    loss = np.exp(signs * staged[-1]).sum(axis=1).mean() / 2
    np.testing.assert_allclose(clf.history_[-1].log_loss, np.log(loss), atol=1e-12)
    np.testing.assert_array_equal(staged[-1], clf.decision_function(X))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_saved_model_gives_the_same_scores(options, tmp_path):
    clf = fitted(**options)
    clf.save(tmp_path / "model.safetensors")
    assert_same_scores(load(tmp_path / "model.safetensors"), clf)
    assert_same_scores(pickle.loads(pickle.dumps(clf)), clf)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_plain_form_keeps_to_the_schema_of_the_docs(options):
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    schema = json.loads(re.search(r"```json\n(.*?)```", page, flags=re.DOTALL)[1])
    plain = json.loads(json.dumps(fitted(**options).to_dict(), allow_nan=False))
    jsonschema.validate(plain, schema)


def test_neither_threads_nor_the_order_of_the_rows_change_a_bit():
    order = np.random.default_rng(0).permutation(len(Y))
    clf = fitted()
    assert_same_scores(fitted(n_jobs=2), clf)
    assert_same_scores(fitted(X[order], Y[order]), clf)


def test_a_warm_start_goes_on_as_if_it_had_not_stopped():
    clf = fitted(rounds=10, warm_start=True)
    clf.set_params(n_rounds=25).fit(X, Y)
    assert_same_scores(clf, fitted(rounds=25))


def test_held_out_samples_are_followed_exactly():
    held = X[::3], Y[::3]
    clf = RebelClassifier(
        Similarity(scale="none", search="exact"), n_rounds=20, tol=0, cross_fit=None
    ).fit(X, Y, validation=held)
    signs = 1 - 2 * (held[1][:, np.newaxis] == np.arange(3))
    loss = np.exp(signs * clf.decision_function(held[0])).sum(axis=1).mean() / 2
    np.testing.assert_allclose(clf.history_[-1].held.log_loss, np.log(loss), atol=1e-12)


def test_the_loss_never_rises():
    losses = [record.log_loss for record in fitted(rounds=100).history_]
    assert np.all(np.diff(losses) < 0)


def test_the_bound_is_claimed_of_signs_only():
    assert fitted(response="sign").guarantee_.similarity is not None
    assert fitted().guarantee_.similarity is None


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_parts_of_an_explanation_add_up_to_the_scores(options):
    clf = fitted(**options)
    why = clf.explain(X[:3])
    assert [str(each) for each in why]
    assert clf.summary() is not None
    cut = clf.cascade(X, agreement=0.99)
    assert np.mean(cut.predict(X) == clf.predict(X)) >= 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rivals": 5}, "rivals=5 does not apply to search='exact'"),
        ({"metric": "precomputed"}, "measures squared Euclidean distances"),
    ],
)
def test_options_that_the_papers_do_not_have_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Similarity(search="exact", **options)
