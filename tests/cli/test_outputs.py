"""What the command writes: never over what it reads, and without formulas for spreadsheets."""

import csv
import io

import polars as pl
import pytest

from loans import loan_lines
from rebelboost.tables.spreadsheets import inert, without_formulas

TRAIN = ("train", "loans.csv", "--target", "repaid", "--rounds", 3, "--learner", "stump", "--force")


def spelled(path, way):
    """Another name of the same file."""
    if way == "same":
        return path.name
    if way == "dots":
        return f"../{path.parent.name}/{path.name}"
    other = path.with_name(f"{way} to {path.name}")
    if way == "link":
        other.symlink_to(path)
    else:
        other.hardlink_to(path)
    return other.name


@pytest.mark.parametrize("way", ["same", "dots", "link", "hard link"])
@pytest.mark.parametrize("overwritten", ["loans.csv", "costs.csv", "loans.safetensors"])
@pytest.mark.parametrize("command", ["train", "predict", "report"])
def test_no_command_overwrites_what_it_reads(
    model, costs, folder, rebel, command, overwritten, way
):
    to = spelled(folder / overwritten, way)
    words = {
        "train": (*TRAIN, "--costs", "costs.csv"),
        "predict": ("predict", model, "loans.csv", "--costs", "costs.csv"),
        "report": ("report", model, "loans.csv", "--costs", "costs.csv"),
    }[command]
    if command == "train" and overwritten == "loans.safetensors":
        pytest.skip("training does not read a model")
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    done = rebel(*words, "-o", to)
    assert done.exit_code == 2
    assert f"{to} is read by this command and would be overwritten: choose another" in done.stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


# ---- cells that a spreadsheet would execute

FORMULAS = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
]
HARMLESS = ["-5", "+3.5", "-1e5", "-1,234.5", "+", "-", "=", "a=b", "12%", "-3 %", "", "no", "'=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_get_a_mark(text):
    assert inert(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_other_text_stay_what_they_are(text):
    assert inert(text) == text


def test_a_frame_is_marked_like_single_cells():
    texts = FORMULAS + HARMLESS
    frame = pl.DataFrame(
        {"=a": texts, "'=a": texts, "n": range(len(texts)), "m": [None] * len(texts)}
    )
    marked = without_formulas(frame.with_columns(pl.col("'=a").cast(pl.Categorical)))
    assert marked.columns == ["''=a", "'=a", "n", "m"]
    for name in marked.columns[:2]:
        assert marked[name].to_list() == [inert(text) for text in texts]
    assert marked["n"].to_list() == list(range(len(texts)))


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_predictions_hold_no_formulas(folder, rebel, suffix):
    header, *rows = [line.split(",") for line in loan_lines(n_rows=60)]
    at = header.index("loan")
    for i, row in enumerate(rows):
        row[at] = f"=HYPERLINK({i})"
        row[-1] = {"no": "=no()", "yes": "-7"}[row[-1]]
    header[at] = "=loan()"
    text = "\n".join(",".join(row) for row in [header, *rows])
    (folder / "t.csv").write_text(text, encoding="utf-8")
    trained = rebel("train", "t.csv", "-t", "repaid", "--rounds", 3, "--learner", "stump")
    assert trained.exit_code == 0, trained.stderr
    to = f"out.{suffix}"
    done = rebel("predict", "t.safetensors", "t.csv", "--id", "=loan()", "-o", to)
    assert done.exit_code == 0, done.stderr
    text = (folder / to).read_text(encoding="utf-8")
    cells = list(csv.reader(io.StringIO(text), delimiter="\t" if suffix == "tsv" else ","))
    assert cells[0][0] == "'=loan()"
    assert [row[0] for row in cells[1:]] == [f"'=HYPERLINK({i})" for i in range(60)]
    assert {row[1] for row in cells[1:]} == {"'=no()", "-7"}
    printed = rebel("predict", "t.safetensors", "t.csv", "--id", "=loan()").stdout
    assert list(csv.reader(io.StringIO(printed))) == cells
