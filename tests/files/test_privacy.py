"""What model files and reports keep of the training rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from reading import reported
from rebelboost import RebelClassifier, RebelRegressor, Similarity, load
from rebelboost.evaluation.evaluate import left_out
from rebelboost.files.safetensors import read


@pytest.fixture(scope="module")
def patients():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.index = [f"patient {i} Meier" for i in range(150)]
    X, y = X[:149], y[:149]  # a number that no other array has
    return X, y.map({0: "well", 1: "ill", 2: "dead"}).to_numpy()


@pytest.fixture(scope="module")
def similar(patients):
    return RebelClassifier(Similarity(), n_rounds=30).fit(*patients)


@pytest.fixture(scope="module")
def trees(patients):
    return RebelClassifier("auto_trees", n_rounds=20).fit(*patients)


def saved(clf, path, **options):
    clf.save(path, **options)
    return load(path), path.read_bytes()


def test_rows_are_kept_with_their_values_and_names(similar, patients, tmp_path):
    X, _ = patients
    model, stored = saved(similar, tmp_path / "m")
    assert b"Meier" in stored
    for row, values in zip(
        model.example_classes_, model.model_.provenance.example_values, strict=True
    ):
        np.testing.assert_array_equal(values, X.iloc[row])


def test_without_values_rows_are_named_but_not_shown(similar, patients, tmp_path):
    X, _ = patients
    model, _ = saved(similar, tmp_path / "m", rows="ids")
    assert model.model_.provenance.example_values is None
    assert "examples.values" not in read(tmp_path / "m").arrays
    assert "patient" in str(model.explain(X[:1])[0])
    np.testing.assert_array_equal(model.predict_proba(X), similar.predict_proba(X))


def test_without_names_rows_are_numbered(similar, patients, tmp_path):
    X, _ = patients
    model, stored = saved(similar, tmp_path / "m", names=False)
    assert b"Meier" not in stored
    assert "patient" not in str(model.explain(X[:1].reset_index(drop=True))[0])
    assert similar.row_labels_, "the model itself keeps them"


def test_without_rows_nothing_of_any_row_is_kept(trees, patients, tmp_path):
    X, y = patients
    model, stored = saved(trees, tmp_path / "m", rows="none")
    assert b"Meier" not in stored
    arrays = read(tmp_path / "m").arrays
    by_row = {name: array.shape for name, array in arrays.items() if len(y) in array.shape}
    assert not by_row, "no array has an entry for each row"
    for name in ("cross_fit.left_out", "cross_fit.rows", "rows.numbers", "examples.rows"):
        assert len(arrays[name]) == 0
    np.testing.assert_array_equal(model.predict_proba(X), trees.predict_proba(X))
    assert str(model.explain(X[:3])) == str(trees.explain(X[:3]))
    assert str(model.summary()) == str(trees.summary())
    assert str(model.guarantee_) == str(trees.guarantee_)
    assert left_out(model, y) is None
    assert left_out(trees, y) is not None


def test_models_that_need_rows_are_refused_with_the_remedy(similar, tmp_path):
    with pytest.raises(ValueError, match=r"compares cases with \d+ training rows.*auto_trees"):
        similar.save(tmp_path / "m", rows="none")
    with pytest.raises(ValueError, match="rows is 'some': choose one of values, ids, none"):
        similar.save(tmp_path / "m", rows="some")
    assert not list(tmp_path.iterdir())


def test_only_trees_run_in_the_race_without_rows(trees):
    assert trees.ensemble_.example_rows == []
    assert len(trees.selection_.standings) > 2
    assert not any("similar" in each.name for each in trees.selection_.standings)


def test_regressors_are_saved_without_rows_too(patients, tmp_path):
    X, _ = patients
    model = RebelRegressor("tree", n_rounds=5).fit(X.iloc[:, :3], X.iloc[:, 3])
    loaded, stored = saved(model, tmp_path / "m", rows="none")
    assert b"Meier" not in stored
    np.testing.assert_array_equal(loaded.predict(X.iloc[:, :3]), model.predict(X.iloc[:, :3]))


def test_reports_without_names_or_rows_show_none(similar, patients, tmp_path):
    X, y = patients
    page = reported(tmp_path, similar, X, y)
    assert "Meier" in page
    assert 'class="beside"' in page
    unnamed = reported(tmp_path, similar, X, y, names=False)
    assert "Meier" not in unnamed
    assert 'class="beside"' in unnamed
    without = reported(tmp_path, similar, X, y, rows=False)
    assert "Meier" not in without
    assert 'class="beside"' not in without
    assert "Most influential training rows" not in without
    assert "decisions explained" not in without


def test_values_of_examples_are_checked_when_a_file_is_read(tmp_path):
    from rebelboost import ModelFileError
    from rebelboost.files.safetensors import write

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    clf = RebelClassifier(Similarity(), n_rounds=5).fit(X, (X["a"] > 0).astype(int))
    clf.save(tmp_path / "m")
    contents = read(tmp_path / "m")
    for value, fault in (
        (7.0, "unknown category"),
        (0.5, "unknown category"),
        (np.inf, "infinite"),
    ):
        values = contents.arrays["examples.values"].copy()
        values[0, 1] = value
        arrays = {**contents.arrays, "examples.values": values}
        write(tmp_path / "m", arrays, contents.texts)
        with pytest.raises(ModelFileError, match=fault):
            load(tmp_path / "m")
