"""Commands on a folder or several files, as one table in memory or, if it is large, in pieces."""

import shutil
import tempfile

import numpy as np
import polars as pl
import pytest

import rebelboost
from rebelboost.boosting.callbacks import Deadline
from rebelboost.tables import files, large_tables
from spreading import frame


def whole_table(n_rows=400):
    """Numbers, text and dates with missing values, an identifier, and classes."""
    X, y = frame(n_rows=n_rows)
    table = pl.from_pandas(X.assign(label=y)).rename({"f3": "amount"})
    rng = np.random.default_rng(7)
    days = np.datetime64("2021-01-01") + rng.integers(0, 900, n_rows)
    return table.with_columns(
        day=pl.Series(days).cast(pl.Date),
        amount=pl.col("amount").fill_null(1.0).fill_nan(1.0),
        key=pl.Series(rng.permutation(10**6)[:n_rows]),
    )


def write(table, folder, cuts, suffix=".parquet"):
    folder.mkdir()
    for i, rows in enumerate(np.split(np.arange(len(table)), cuts)):
        path = folder / f"part-{i}{suffix}"
        table[rows].write_parquet(path) if suffix == ".parquet" else table[rows].write_csv(path)
    return folder


@pytest.fixture(params=["in memory", "in pieces"])
def way(request, monkeypatch):
    if request.param == "in pieces":
        monkeypatch.setattr(files, "MOST_CELLS", 100)
        monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 90)
    return request.param


@pytest.fixture
def in_pieces(monkeypatch):
    monkeypatch.setattr(files, "MOST_CELLS", 100)
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 90)


@pytest.fixture
def rows(folder):
    return write(whole_table(), folder / "rows", [50, 130, 131, 300, 370])


TRAIN = ("--target", "label", "--rounds", 5, "--learner", "tree", "--seed", 3)


def test_every_command_takes_a_folder(way, records, rows, folder):
    table, model = records("train", rows, *TRAIN)
    assert table["n_rows"] == 400
    assert table["counts"] == dict(whole_table()["label"].value_counts().sort("label").iter_rows())
    kinds = {column["name"]: column["kind"] for column in table["columns"]}
    assert (kinds["f0"], kinds["colour"], kinds["day"]) == ("number", "category", "date")
    assert table["missing"] == {
        name: n
        for name in whole_table().columns
        if (n := whole_table()[name].null_count() + _n_nan(whole_table()[name]))
    }
    assert list(table["ignored"]) == ["key"]
    evaluation = model["evaluation"]
    assert evaluation["accuracy"]["low"] < evaluation["accuracy"]["value"]
    saved = "rows.safetensors"
    (again,) = records("evaluate", saved, rows)
    assert again["accuracy"] == evaluation["accuracy"]
    assert again["seen_in_training"] == (way == "in memory")
    assert len(records("predict", saved, rows)) == 400
    explained = records("explain", saved, rows, "--rows", "1,400")
    assert [each["row"] for each in explained] == [1, 400]
    assert records("report", saved, rows, "-o", "r.html")[0]["path"] == "r.html"
    assert "part-" not in "".join(path.name for path in folder.iterdir())


def _n_nan(column):
    return int(column.is_nan().sum()) if column.dtype.is_float() else 0


def test_a_model_is_the_same_however_the_rows_are_divided(in_pieces, rebel, folder):
    table = whole_table()
    order = np.random.default_rng(1).permutation(len(table))
    write(table, folder / "a", [200])
    write(table[order], folder / "b", [0, 1, 2, 150, 151])
    write(table, folder / "c", [30, 300], suffix=".csv")
    scores, figures = set(), set()
    for name in "abc":
        done = rebel("train", folder / name, *TRAIN, "-o", f"{name}.safetensors")
        assert done.exit_code == 0, done.stderr
        model = rebelboost.load(folder / f"{name}.safetensors")
        columns = list(model.feature_names_in_)
        X = pl.DataFrame({f: np.linspace(-2, 2, 99) for f in columns})
        X = X.with_columns(colour=pl.lit("red"), day_weekday=pl.lit("Monday")).select(columns)
        scores.add(model.decision_function(X).tobytes())
        figures.add(str(model.metadata_["evaluation"]) + str(model.decoder_.temperature))
    assert len(scores) == 1
    assert len(figures) == 1


def test_the_depth_of_trees_is_chosen_by_rows_left_out(in_pieces, rebel, folder, monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 2000)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 4))
    noisy = X[:, 0] + rng.logistic(size=6000) > 0
    jointly = (X > 0).sum(axis=1) % 2 == 1  # of four columns: three splits say nothing
    depths = {}
    for name, y in {"one column": noisy, "all signs": jointly}.items():
        table = pl.DataFrame(X, schema=["w", "x", "y", "z"]).with_columns(
            label=pl.Series(np.where(y, "yes", "no"))
        )
        order = rng.permutation(len(table))
        found = set()
        for i, rows in enumerate((table, table[order])):
            data = write(rows, folder / f"{name} {i}", [2000 * (i + 1)])
            done = rebel("train", data, "-t", "label", "--rounds", 20, "-o", f"{i}.safetensors")
            assert done.exit_code == 0, done.stderr
            model = rebelboost.load(f"{i}.safetensors")
            found.add(
                (model.summary().heading, model.decision_function(table.drop("label")).tobytes())
            )
            (folder / f"{i}.safetensors").unlink()
        ((depths[name], _),) = found
    assert "of depth 3" in depths["one column"]
    assert "of depth 3" not in depths["all signs"]


def test_rows_left_out_are_found_again_in_a_single_file(in_pieces, records, rows):
    records("train", rows, *TRAIN)
    whole = records("evaluate", "rows.safetensors", rows)[0]["n"]
    parts = [
        records("evaluate", "rows.safetensors", path)[0]["n"]
        for path in sorted(rows.iterdir())
        if len(pl.read_parquet(path)) >= 30
    ]
    assert 0 < whole < 100
    assert whole - 1 <= sum(parts) <= whole


def test_new_rows_are_evaluated_all(in_pieces, records, rows, folder):
    records("train", rows, *TRAIN)
    X, y = frame(seed=9)
    new = pl.from_pandas(X.assign(label=y)).rename({"f3": "amount"})
    new = new.with_columns(day=whole_table()["day"], amount=pl.col("amount").fill_nan(1.0))
    write(new, folder / "new", [100])
    (found,) = records("evaluate", "rows.safetensors", folder / "new")
    assert (found["n"], found["seen_in_training"]) == (400, False)


def test_a_file_of_the_training_among_others_is_noticed(rebel, rows):
    assert rebel("train", rows, *TRAIN).exit_code == 0
    done = rebel("evaluate", "rows.safetensors", *sorted(rows.iterdir())[3:])
    assert "trained on some of these files" in done.stderr.replace("\n", " ")


def test_costs_by_class_and_in_a_column(way, records, rows, folder):
    (folder / "costs.csv").write_text(",a,b,c\na,0,amount,2\nb,1,0,1\nc,1,5,0\n", encoding="utf-8")
    _, model = records("train", rows, *TRAIN, "--costs", "costs.csv")
    cost = model["evaluation"]["cost"]["value"]
    assert cost > 0
    (again,) = records("evaluate", "rows.safetensors", rows)
    assert again["cost"]["value"] == cost
    decided = records("predict", "rows.safetensors", rows)
    assert {row["decision"] for row in decided} <= {"a", "b", "c"}


def test_groups_are_left_out_together(in_pieces, rebel, folder):
    table = whole_table().with_columns(patient=pl.Series(np.arange(400) // 2).cast(pl.String))
    write(table, folder / "rows", [150])
    done = rebel("train", "rows", *TRAIN, "--group", "patient")
    assert done.exit_code == 0, done.stderr
    assert "drawn by patient" in done.stdout.replace("\n", " ")
    done = rebel("evaluate", "rows.safetensors", "rows")
    assert done.exit_code == 0, done.stderr


def test_a_model_of_python_is_evaluated_on_a_folder(rebel, records, rows):
    table = whole_table().drop("key", "day")
    clf = rebelboost.RebelClassifier("stump", n_rounds=5)
    clf.fit(table.drop("label"), table["label"].to_numpy()).save("python.safetensors")
    done = rebel("evaluate", "python.safetensors", rows)
    assert "add --target with the column of true classes" in done.stderr.replace("\n", " ")
    (found,) = records("evaluate", "python.safetensors", rows, "--target", "label")
    right = clf.predict(table.drop("label")) == table["label"].to_numpy()
    assert found["accuracy"]["value"] == right.mean()
    assert rebel("report", "python.safetensors", rows, "-t", "label").exit_code == 0


def test_numbers_are_predicted_in_pieces(in_pieces, records, folder):
    table = whole_table(1000).drop("label")
    known = table["f0"].is_not_null()
    table = table.with_columns(
        label=pl.when(known).then(3 * pl.col("f0") + pl.col("f2").fill_null(0.0))
    )
    order = np.random.default_rng(1).permutation(len(table))
    write(table, folder / "rows", [300])
    write(table[order], folder / "other", [0, 500])
    words = ("--target", "label", "--rounds", 60)
    told, model = records("train", "rows", *words)
    _, again = records("train", "other", *words)
    assert told["n_rows"] == int(known.sum())
    assert told["spread"][0] == table["label"].min()
    assert model["evaluation"] == again["evaluation"]
    assert model["evaluation"]["explained"] > 0.8
    (found,) = records("evaluate", "rows.safetensors", "rows")
    # The rows are summed in the order of the files: 100 roundings of one part in 10¹⁶.
    assert found["error"]["value"] == pytest.approx(model["evaluation"]["error"]["value"], 1e-13)
    assert len(records("predict", "rows.safetensors", "rows")) == 1000
    assert records("report", "rows.safetensors", "rows")


def test_several_files_give_the_model_of_the_folder(way, rebel, rows, folder):
    files = sorted(rows.iterdir())
    for i, data in enumerate([[rows], files, [rows / "*.parquet"]]):
        done = rebel("train", *data, *TRAIN, "-o", folder / f"{i}.safetensors")
        assert done.exit_code == 0, done.stderr
    models = [rebelboost.load(folder / f"{i}.safetensors") for i in range(3)]
    decoders = [model.decoder_.temperature for model in models]
    assert decoders[0] == decoders[1] == decoders[2]


def test_labels_that_the_first_file_lacks_are_classes_too(way, rebel, folder):
    write(whole_table().sort("label"), folder / "rows", [100, 200])
    done = rebel("train", "rows", *TRAIN)
    assert done.exit_code == 0, done.stderr
    assert rebelboost.load("rows.safetensors").classes_.tolist() == ["a", "b", "c"]


# ---- bad files


def spoil_names(folder):
    path = folder / "part-3.parquet"
    pl.read_parquet(path).rename({"f1": "g1"}).write_parquet(path)


def spoil_types(folder):
    path = folder / "part-3.parquet"
    pl.read_parquet(path).with_columns(pl.col("f1").cast(pl.String)).write_parquet(path)


def spoil_labels(folder):
    path = folder / "part-3.parquet"
    pl.read_parquet(path).with_columns(label=pl.lit(3)).write_parquet(path)


def empty(folder):
    (folder / "part-3.parquet").write_bytes(b"")


def damage(folder):
    (folder / "part-3.parquet").write_bytes(b"PAR1 and more")


def make_infinite(folder):
    path = folder / "part-3.parquet"
    table = pl.read_parquet(path)
    at = pl.int_range(pl.len()) == 5
    bad = pl.when(at).then(float("inf")).otherwise(pl.col("f1")).alias("f1")
    table.with_columns(bad).write_parquet(path)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_names, "part-3.parquet has no column 'f1', which is in rows/part-0.parquet"),
        (spoil_types, "part-3.parquet: column 'f1' holds text, but numbers in rows/part-0"),
        (spoil_labels, "part-3.parquet: column 'label' holds numbers, but text in rows/part-0"),
        (empty, "part-3.parquet is empty"),
        (damage, "part-3.parquet cannot be read: it is not a valid Parquet file"),
        (make_infinite, "row 6 of rows/part-3.parquet has an infinite value in column 'f1'"),
    ],
)
def test_bad_files_are_refused_before_training_with_their_name(way, rebel, rows, spoil, says):
    spoil(rows)
    done = rebel("train", "rows", *TRAIN)
    assert done.exit_code == 2
    assert says in done.stderr.replace("\n", " ")
    assert not (rows.parent / "rows.safetensors").exists()


def test_files_with_missing_labels_are_named(in_pieces, rebel, rows):
    path = rows / "part-3.parquet"
    table = pl.read_parquet(path)
    some = pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("label")).alias("label")
    table.with_columns(some).write_parquet(path)
    done = rebel("train", rows, *TRAIN)
    assert "7 rows without a value of 'label'" in done.stdout.replace("\n", " ")
    assert "part-3.parquet (7)" in done.stdout.replace("\n", " ")


def test_files_without_rows_and_other_number_types_are_no_fault(way, rebel, rows):
    path = rows / "part-3.parquet"
    table = pl.read_parquet(path)
    table.head(0).write_parquet(rows / "part-9.parquet")
    empty = pl.lit(None).alias("colour")
    table.with_columns(pl.col("f1").cast(pl.Float32), empty).write_parquet(path)
    done = rebel("train", rows, *TRAIN)
    assert done.exit_code == 0, done.stderr


def test_csv_files_without_the_header_of_the_others_are_refused(rebel, folder):
    write(whole_table(), folder / "rows", [200], suffix=".csv")
    path = folder / "rows" / "part-1.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    done = rebel("train", "rows", *TRAIN)
    assert "part-1.csv has no header, but rows/part-0.csv has" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "add --target with the column to predict"),
        (["--target", "label", "--learner", "stump"], "--learner stump needs all rows in memory"),
        (["--target", "label", "--time", "day"], "--time needs all rows in memory"),
        (["--target", "f0", "--learner", "similarity"], "needs all rows in memory"),
        (["--target", "none"], "has no column 'none'"),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused(in_pieces, rebel, rows, words, says):
    done = rebel("train", rows, *words)
    assert done.exit_code == 2
    assert says in done.stderr.replace("\n", " ")


def test_an_existing_file_is_not_replaced(way, rebel, rows, folder):
    (folder / "rows.safetensors").write_text("mine")
    done = rebel("train", rows, *TRAIN)
    assert done.exit_code == 2
    assert (folder / "rows.safetensors").read_text() == "mine"


def test_ctrl_c_leaves_neither_a_model_nor_temporary_files(
    in_pieces, rebel, folder, monkeypatch, tmp_path_factory
):
    write(whole_table(), folder / "rows", [200], suffix=".csv")
    scratch = tmp_path_factory.mktemp("scratch")
    seen = []

    def interrupt(self, record):
        seen.extend(path.name for path in scratch.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(Deadline, "on_rounds", interrupt)
    done = rebel("train", "rows", *TRAIN)
    assert done.exit_code == 130
    assert "no file is half written" in done.stderr
    assert len(seen) == 1
    assert seen[0].startswith("rebelboost-")
    assert list(scratch.iterdir()) == []
    assert [path.name for path in folder.iterdir()] == ["rows"]


def test_folders_without_tables_are_refused(rebel, rows, folder):
    shutil.rmtree(rows)
    rows.mkdir()
    for data in (rows, rows / "*.parquet"):
        done = rebel("train", data, *TRAIN)
        assert done.exit_code == 2
    done = rebel("train", folder / "a.csv", folder / "a.csv", *TRAIN)
    assert "is given twice" in done.stderr
