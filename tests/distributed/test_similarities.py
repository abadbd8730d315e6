"""Similarities on rows in any parts give the model of all rows in one place, to the last bit of its file."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, Similarity, kernels
from spreading import CUTS, N, cut, fingerprint, fit_parts, frame, table

COSTS = [[0, 1, 2], [3, 0, 1], [1, 4, 0]]
SETTINGS = {
    "standardised": {},
    "unscaled": {"learner": Similarity(scale="none")},
    "whitened": {"learner": Similarity(scale="whitened")},
    "a scale chosen on a sample": {"learner": Similarity()},
    "signs": {"learner": Similarity(scale="standard", response="sign")},
    "no offset": {"learner": Similarity(scale="standard", offset=False)},
    "judged on few samples": {"learner": Similarity(scale="standard", subset=50)},
    "until all are told apart": {"n_rounds": 400},
    "costs": {"costs": COSTS},
    "REBEL's subcosts": {"costs": COSTS, "subcosts": "rebel"},
}


def classifier(**settings):
    given = {"learner": Similarity(scale="standard"), "n_rounds": 12, "cross_fit": None}
    return RebelClassifier(**given | settings)


@pytest.mark.parametrize("cuts", CUTS, ids=len)
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_parts_give_the_model_of_all_rows(tmp_path, settings, cuts):
    X, y = table()
    whole = classifier(**settings).fit(X, y)
    parts = fit_parts(classifier(**settings), cut(X, y, cuts), n_threads=2)
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_sample", [False, True])
def test_rows_at_one_point_are_merged_across_parts(tmp_path, weighted, by_sample):
    X, y = table()
    X = np.round(X[:, :2])
    rng = np.random.default_rng(2)
    others = {}
    if weighted:
        others["sample_weight"] = rng.exponential(size=N) * (rng.random(N) > 0.1)
    if by_sample:
        others["costs"] = rng.exponential(size=(N, 3)) * (np.unique(y) != y[:, np.newaxis])
    whole = classifier().fit(X, y, **others)
    assert whole.ensemble_.unavoidable_cost > 0
    for cuts in CUTS:
        parts = fit_parts(classifier(), cut(X, y, cuts, **others))
        assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_rows_of_data_frames_keep_their_names(tmp_path):
    X, y = frame()
    X.index = [f"row {i}" for i in range(N)]
    whole = classifier().fit(X, y)
    parts = fit_parts(classifier(), cut(X, y, CUTS[-1]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)
    assert parts.model_.provenance.row_labels == whole.model_.provenance.row_labels


def test_the_order_of_the_rows_changes_only_their_numbers():
    X, y = table()
    order = np.random.default_rng(1).permutation(N)
    whole, parts = classifier().fit(X, y), fit_parts(classifier(), cut(X, y, CUTS[-1], order))
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))


def test_the_kernels_in_numpy_give_the_same_model(tmp_path):
    X, y = table()
    whole = classifier(n_rounds=4).fit(X, y)
    with kernels.using("reference"):
        parts = fit_parts(classifier(n_rounds=4), cut(X, y, [99, 300]))
    assert fingerprint(parts, tmp_path) == fingerprint(whole, tmp_path)


def test_rows_held_out_and_drawn_do_not_depend_on_the_parts(tmp_path):
    X, y = table()
    settings = {"n_rounds": 60, "early_stopping": True, "n_rounds_no_change": 3, "subsample": 0.7}
    found = {
        fingerprint(fit_parts(classifier(**settings), cut(X, y, cuts)), tmp_path) for cuts in CUTS
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    "learner",
    [Similarity(search="best"), Similarity(modes="one"), Similarity(metric="cityblock")],
    ids=str,
)
def test_searches_that_need_all_rows_in_one_place_are_refused(learner):
    with pytest.raises(ValueError, match="needs all rows in one place: on spread rows use"):
        fit_parts(classifier(learner=learner), cut(*table(), [99]))
