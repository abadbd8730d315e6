"""Files that are read in pieces give the model of the whole table, and leave nothing behind."""

import os

import numpy as np
import polars as pl
import pytest

from rebelboost import RebelClassifier, RebelRegressor, Tree
from rebelboost.distributed import files
from rebelboost.distributed.files import fit_files
from rebelboost.exceptions import PartitionError, TableError
from spreading import fingerprint, frame


def classifier(**settings):
    return RebelClassifier(
        **{"learner": Tree(depth=3), "n_rounds": 5, "cross_fit": None} | settings
    )


@pytest.fixture
def tables(tmp_path):
    X, y = frame()
    whole = pl.from_pandas(X.assign(label=y))
    divide(whole, tmp_path / "tables", [130])
    return whole, tmp_path


def divide(table, folder, cuts):
    folder.mkdir()
    for i, rows in enumerate(np.split(np.arange(len(table)), cuts)):
        table[rows].write_parquet(folder / f"{i}.parquet")
    return folder


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_folder_of_parquet_files_is_a_table(tables, monkeypatch, n_jobs):
    whole, folder = tables
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 50)
    local = classifier(n_jobs=n_jobs).fit(whole.drop("label"), whole["label"].to_numpy())
    ours = fit_files(classifier(n_jobs=n_jobs), folder / "tables", "label", folder=folder)
    assert fingerprint(ours, folder) == fingerprint(local, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["model.safetensors", "tables"]


SETTINGS = {
    "costs by class": {"costs": [[0, 1, 2], [3, 0, 1], [1, 4, 0]]},
    "costs in a column": {
        "costs": {("a", "b"): "f3", ("a", "c"): 1, ("b", "a"): 1, ("b", "c"): "f3"}
        | {("c", "a"): 2, ("c", "b"): 1}
    },
    "rows held out": {"early_stopping": True, "n_rounds_no_change": 3, "n_rounds": 20},
    "some rows in each round": {"subsample": 0.6},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_other_files_of_the_same_rows_give_the_same_model(tables, monkeypatch, settings):
    whole, folder = tables
    whole = whole.with_columns(pl.col("f3").fill_nan(1.0).fill_null(1.0))
    order = np.random.default_rng(1).permutation(len(whole))
    divide(whole[order], folder / "other", [0, 1, 7, 140])
    divide(whole.sort("label"), folder / "by class", [90, 200])
    whole.write_parquet(folder / "one.parquet")
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 50)
    found = {
        fingerprint(fit_files(classifier(**settings), folder / name, "label"), folder)
        for name in ("other", "by class", "one.parquet")
    }
    if "costs" in settings:
        local = classifier(**settings).fit(whole.drop("label"), whole["label"].to_numpy())
        found.add(fingerprint(local, folder))
    assert len(found) == 1


def test_csv_files_are_tables_too(tables):
    whole, folder = tables
    whole.write_csv(folder / "whole.csv")
    read = pl.read_csv(folder / "whole.csv")
    local = classifier().fit(read.drop("label"), read["label"].to_numpy())
    ours = fit_files(classifier(), folder / "whole.csv", "label")
    assert fingerprint(ours, folder) == fingerprint(local, folder)


def test_weights_may_be_a_column(tables):
    whole, folder = tables
    weight = np.random.default_rng(4).random(len(whole)) * (np.arange(len(whole)) % 5 > 0)
    whole = whole.with_columns(pl.Series("w", weight))
    whole.write_parquet(folder / "weighted.parquet")
    samples = whole.drop("label", "w"), whole["label"].to_numpy()
    local = classifier().fit(*samples, sample_weight=whole["w"].to_numpy())
    ours = fit_files(classifier(), folder / "weighted.parquet", "label", sample_weight="w")
    assert fingerprint(ours, folder) == fingerprint(local, folder)


def test_a_class_whose_rows_are_all_drawn_is_kept_for_training(tables, monkeypatch):
    whole, folder = tables
    rare = pl.int_range(pl.len()) < 2
    whole = whole.with_columns(label=pl.when(rare).then(pl.lit("d")).otherwise(pl.col("label")))
    divide(whole, folder / "a", [1, 300])
    divide(whole.reverse(), folder / "b", [200])
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 50)
    settings = {"early_stopping": True, "validation_fraction": 0.95}
    models = [fit_files(classifier(**settings), folder / name, "label") for name in "ab"]
    assert models[0].classes_.tolist() == ["a", "b", "c", "d"]
    assert fingerprint(models[0], folder) == fingerprint(models[1], folder)


def test_regressors_are_fitted_to_files(tables, monkeypatch):
    whole, folder = tables
    whole = whole.with_columns(label=pl.col("f0").fill_null(0.0) * 2)
    divide(whole, folder / "numbers", [7, 300])
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 50)
    settings = {"n_rounds": 5, "cross_fit": None, "subsample": 1.0, "feature_subsample": 1.0}
    local = RebelRegressor(Tree(depth=3), **settings)
    local.fit(whole.drop("label"), whole["label"].to_numpy())
    ours = fit_files(RebelRegressor(Tree(depth=3), **settings), folder / "numbers", "label")
    assert fingerprint(ours, folder) == fingerprint(local, folder)


def with_a_gap(table):
    return table.with_columns(
        label=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("label"))
    )


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (lambda t: t.rename({"f1": "g1"}), r"2\.parquet: column 'g1' is not in .*0\.parquet"),
        (
            lambda t: t.with_columns(pl.col("f1").cast(pl.String)),
            r"2\.parquet: column 'f1' holds categories, but numbers in .*0\.parquet",
        ),
        (
            lambda t: t.with_columns(label=pl.lit(1)),
            r"2\.parquet: y has labels such as 1, but .*0\.parquet such as 'a'",
        ),
        (with_a_gap, r"2\.parquet: row 3 of y has no label"),
        (lambda t: t.drop("label"), r"2\.parquet: there is no column 'label'"),
    ],
)
def test_bad_files_are_refused_with_their_name(tables, spoilt, says):
    whole, folder = tables
    spoilt(whole).write_parquet(folder / "tables" / "2.parquet")
    with pytest.raises(PartitionError, match=says):
        fit_files(classifier(), folder / "tables", "label")


def test_files_that_are_no_tables_are_refused_with_their_name(tables):
    _, folder = tables
    with pytest.raises(TableError, match="holds no files that end in"):
        fit_files(classifier(), folder / "*.parquet", "label")
    with pytest.raises(TableError, match=r"none\.parquet cannot be read as a table"):
        fit_files(classifier(), folder / "none.parquet", "label")
    (folder / "tables" / "3.parquet").write_bytes(b"")
    with pytest.raises(TableError, match=r"3\.parquet cannot be read as a table"):
        fit_files(classifier(), folder / "tables", "label")


class Interrupt:
    """Interrupts in the third round, and looks at what is there then."""

    def __init__(self, folder):
        self.folder = folder

    def on_rounds(self, batch):
        record = batch[-1]
        if record.index == 2:
            self.files = [p.name for p in self.folder.rglob("*") if p.is_file()]
            raise KeyboardInterrupt
        return False

    def on_end(self):
        pass


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_fit_leaves_no_files(tables, tmp_path_factory, n_jobs):
    _, folder = tables
    scratch = tmp_path_factory.mktemp("scratch")
    interrupt = Interrupt(scratch)
    with pytest.raises(KeyboardInterrupt):
        fit_files(
            classifier(callbacks=[interrupt], n_jobs=n_jobs),
            folder / "tables",
            "label",
            folder=scratch,
        )
    assert list(scratch.iterdir()) == []
    # Files of bins have no names, so not even a killed process leaves them behind.
    assert interrupt.files == [] or os.name == "nt"
