"""Files that are read in pieces give the model of the whole table, and leave nothing behind."""

import polars as pl
import pytest

from rebelboost import RebelClassifier, Tree
from rebelboost.distributed import files
from rebelboost.distributed.files import fit_files
from rebelboost.exceptions import PartitionError, TableError
from spreading import fingerprint, frame


def classifier(**settings):
    return RebelClassifier(Tree(depth=3), n_rounds=5, cross_fit=None, **settings)


@pytest.fixture
def tables(tmp_path):
    X, y = frame()
    whole = pl.from_pandas(X.assign(label=y))
    (tmp_path / "tables").mkdir()
    for i, first in enumerate([0, 130]):
        part = whole[first : [130, len(y)][i]]
        part.write_parquet(tmp_path / "tables" / f"{i}.parquet")
    return whole, tmp_path


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_folder_of_parquet_files_is_a_table(tables, monkeypatch, n_jobs):
    whole, folder = tables
    monkeypatch.setattr(files, "ROWS_AT_ONCE", 50)
    local = classifier(n_jobs=n_jobs).fit(whole.drop("label"), whole["label"].to_numpy())
    ours = fit_files(classifier(n_jobs=n_jobs), folder / "tables", "label", folder=folder)
    assert fingerprint(ours, folder) == fingerprint(local, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["model.safetensors", "tables"]


def test_csv_files_are_tables_too(tables):
    whole, folder = tables
    whole.write_csv(folder / "whole.csv")
    read = pl.read_csv(folder / "whole.csv")
    local = classifier().fit(read.drop("label"), read["label"].to_numpy())
    ours = fit_files(classifier(), folder / "whole.csv", "label")
    assert fingerprint(ours, folder) == fingerprint(local, folder)


def test_weights_may_be_a_column(tables):
    whole, folder = tables
    whole = whole.with_columns(pl.Series("w", [1.0, 2.5] * (len(whole) // 2)))
    whole.write_parquet(folder / "weighted.parquet")
    samples = whole.drop("label", "w"), whole["label"].to_numpy()
    local = classifier().fit(*samples, sample_weight=whole["w"].to_numpy())
    ours = fit_files(classifier(), folder / "weighted.parquet", "label", sample_weight="w")
    assert fingerprint(ours, folder) == fingerprint(local, folder)


def test_bad_files_are_refused_with_their_name(tables):
    whole, folder = tables
    with pytest.raises(TableError, match="holds no files that end in"):
        fit_files(classifier(), folder / "*.parquet", "label")
    with pytest.raises(TableError, match="cannot be read as a table"):
        fit_files(classifier(), folder / "none.parquet", "label")
    with pytest.raises(PartitionError, match=r"0\.parquet: there is no column 'other'"):
        fit_files(classifier(), folder / "tables", "other")
    whole.rename({"f1": "g1"}).write_parquet(folder / "tables" / "2.parquet")
    with pytest.raises(PartitionError, match=r"2.parquet: column 'g1' is not in .*0.parquet"):
        fit_files(classifier(), folder / "tables", "label")
