"""Points that a large file leaves out are computed from the training rows, to the last bit."""

import json

import numpy as np
import pytest

import rebelboost
from rebelboost import RebelClassifier, Similarity
from rebelboost.base.checks import Room
from rebelboost.exceptions import ModelFileError
from rebelboost.files import safetensors as tensors
from rebelboost.files.terms import located
from rebelboost.files.training_rows import StoredRows
from stored_models import all_packed, assert_same_answers, numbers, table


@pytest.fixture(scope="module", params=["none", "standard", "whitened"])
def compared(request):
    X, y = table()
    learner = Similarity(scale=request.param, categorical="from_dtype")
    return RebelClassifier(learner, n_rounds=8, cross_fit=3).fit(X, y), X


def saved(model, path, **options):
    with all_packed():
        model.save(path, **options)
    return tensors.read(path)


def has_points(contents):
    described = json.loads(contents.texts["model"])["packed"]["arrays"]
    return any(name.endswith(".points") for name in [*contents.arrays, *described])


def test_a_file_with_the_values_of_rows_needs_no_points(compared, tmp_path):
    model, X = compared
    assert not has_points(saved(model, tmp_path / "m"))
    loaded = rebelboost.load(tmp_path / "m")
    assert_same_answers(model, loaded, X)
    pairs = zip(located(loaded.ensemble_), located(model.ensemble_), strict=True)
    for ours, theirs in pairs:
        assert ours.points.tobytes() == np.ascontiguousarray(theirs.points).tobytes()
    assert str(loaded.explain(X[:3])) == str(model.explain(X[:3]))


def test_a_file_without_the_values_of_rows_has_points(compared, tmp_path):
    model, X = compared
    assert has_points(saved(model, tmp_path / "m", rows="ids"))
    assert_same_answers(model, rebelboost.load(tmp_path / "m"), X)


def test_points_that_do_not_follow_from_the_values_are_kept(tmp_path):
    X, y = numbers()
    model = RebelClassifier(Similarity(scale="standard"), n_rounds=8, cross_fit=3).fit(X, y)
    located(model.ensemble_)[0].points[0, 0] += 1
    assert has_points(saved(model, tmp_path / "m"))
    assert_same_answers(model, rebelboost.load(tmp_path / "m"), X)


@pytest.fixture
def space_and_rows(compared):
    model, _ = compared
    first = located(model.ensemble_)[0]
    return first.space, first.rows, model.model_.provenance


def test_points_of_unknown_rows_are_refused(space_and_rows):
    space, rows, kept = space_and_rows
    with pytest.raises(ModelFileError, match="without the rows"):
        StoredRows(kept, Room(10**6)).points(space, np.append(rows, 10**6), "spaces.0")


def test_more_points_than_fit_the_size_of_the_file_are_refused(space_and_rows):
    space, rows, kept = space_and_rows
    needed = 4 * len(rows) * len(space.offset)
    fitting = StoredRows(kept, Room(needed))
    assert fitting.points(space, rows, "spaces.0").nbytes == needed
    with pytest.raises(ModelFileError, match=r"spaces\.1, which are too large for the size"):
        fitting.points(space, rows, "spaces.1")
