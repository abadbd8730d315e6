"""`rebel train` on a folder or several files."""

import polars as pl
import pytest

import rebelboost
from spreading import frame


@pytest.fixture
def rows(folder):
    X, y = frame()
    whole = pl.from_pandas(X.assign(label=y))
    (folder / "rows").mkdir()
    whole[:150].write_parquet(folder / "rows" / "a.parquet")
    whole[150:].write_parquet(folder / "rows" / "b.parquet")
    return folder / "rows"


def test_a_folder_is_trained_on_as_one_table(rebel, rows, folder):
    done = rebel("train", rows, "--target", "label", "--rounds", 5)
    assert done.exit_code == 0
    model = rebelboost.load(folder / "rows.safetensors")
    assert len(model.ensemble_) == 5
    assert model.class_weight_.sum() == 400
    assert "400" in done.stdout
    assert "not evaluated" in done.stdout


def test_several_files_give_the_model_of_the_folder(rebel, rows, folder):
    files = sorted(rows.iterdir())
    for i, data in enumerate([[rows], files, [rows / "*.parquet"]]):
        words = ("train", *data, "-t", "label", "--rounds", 5, "-o", folder / f"{i}.safetensors")
        assert rebel(*words).exit_code == 0
    models = [rebelboost.load(folder / f"{i}.safetensors") for i in range(3)]
    X = pl.read_parquet(rows).drop("label")
    scores = [model.decision_function(X).tobytes() for model in models]
    assert scores[0] == scores[1] == scores[2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "add --target COLUMN"),
        (["--target", "label", "--costs", "c.csv"], "--costs applies to a single file"),
        (["--target", "label", "--learner", "stump"], "--learner stump needs all rows in memory"),
        (["--target", "none"], "there is no column 'none'"),
    ],
)
def test_what_needs_a_single_file_is_refused(rebel, rows, words, says):
    done = rebel("train", rows, *words)
    assert done.exit_code == 2
    assert says in done.stderr.replace("\n", " ")


def test_an_existing_file_is_not_replaced(rebel, rows, folder):
    (folder / "rows.safetensors").write_text("mine")
    done = rebel("train", rows, "--target", "label")
    assert done.exit_code == 2
    assert (folder / "rows.safetensors").read_text() == "mine"
