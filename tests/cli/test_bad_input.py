"""What users get wrong: one line with the remedy, exit code 2, and no file made or changed."""

import os
from pathlib import Path

import pytest

from loans import loan_lines

TRAIN = ("train", "t.csv", "--target", "y", "--rounds", 3, "--learner", "tree")
GOOD = "v,w,y\n" + "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(20))


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.fixture
def refused(folder, rebel):
    """Run what must fail: the message, after a look at exit code and files."""

    def run(*words):
        before = contents(folder)
        done = rebel(*words)
        assert done.exit_code == 2, done.stdout
        assert done.stdout == ""
        assert contents(folder) == before
        (line,) = done.stderr.splitlines()
        assert line.startswith("rebel: ")
        return line

    return run


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "t.csv is empty"),
        ("\n\n", "only blank lines"),
        ("v,w,y\n", "a header but no rows"),
        ("y\na\nb\n", "only one column, 'y'"),
        ("v,Y\n1,a\n2,b\n", "did you mean 'Y'?"),
        ("v,w\n1,a\n2,b\n", "no column 'y': it has v, w"),
        ("v,y\n1,\n2,?\n3,NA\n", "column 'y' of t.csv is empty in all 3 rows"),
        ("v,y\n1,a\n2,a\n", "only one class, 'a'"),
        ("v,y\n" + "".join(f"{i},name{i}\n" for i in range(99)), "each class needs several rows"),
        ("v,y\n1,a\n1,b\n1,a\n", "no column to predict 'y' from (v: constant value 1"),
        ("v,y\n1,a\n2,b,c\n", "line 3 of t.csv has 3 cells, but the first has 2"),
        ("v,y\n1,a\ninf,b\n2,a\n3,b\n", "row 2 of t.csv has an infinite value in column 'v'"),
    ],
)
def test_tables_that_cannot_be_learned_from(folder, refused, text, told):
    (folder / "t.csv").write_text(text, encoding="utf-8")
    assert told in refused(*TRAIN)


def test_a_table_that_is_no_text(folder, refused):
    (folder / "t.csv").write_bytes(b"\x89PNG\0\0\0\1")
    assert "is not a text file" in refused(*TRAIN)


def test_a_table_that_is_no_parquet(folder, refused):
    (folder / "t.parquet").write_bytes(b"PAR1 no more")
    assert "t.parquet cannot be read" in refused("train", "t.parquet", "-t", "y")


def test_a_spreadsheet_without_a_reader(folder, refused, monkeypatch):
    import rebelboost.tables.spreadsheets as reading

    monkeypatch.setattr(reading, "find_spec", lambda _: None)
    (folder / "t.xlsx").write_bytes(b"PK")
    line = refused("train", "t.xlsx", "-t", "y")
    assert 'pip install "rebelboost[excel]", or save it as CSV' in line


@pytest.mark.parametrize(
    ("content", "target", "told"),
    [
        (None, "w", "holds a model of 'y' in t.csv"),
        (b"my thesis", "y", "m.safetensors exists and is not a model file"),
    ],
)
def test_files_that_would_be_lost(folder, rebel, refused, content, target, told):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    train = (*TRAIN, "-o", "m.safetensors")
    assert rebel(*train).exit_code == 0
    assert rebel(*train).exit_code == 0  # the same table and target
    if content is not None:
        (folder / "m.safetensors").write_bytes(content)
    other = [target if word == "y" else word for word in train]
    line = refused(*other)
    assert told in line
    assert "--force" in line
    assert rebel(*other, "--force").exit_code == 0


def test_a_model_of_another_table_of_the_same_name_is_kept(folder, rebel, refused):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    train = (*TRAIN, "-o", "m.safetensors")
    assert rebel(*train).exit_code == 0
    (folder / "t.csv").write_text(GOOD.replace("v,w,y", "v,height,y"), encoding="utf-8")
    before = (folder / "m.safetensors").read_bytes()
    line = refused(*train)
    assert "another t.csv, which differs in 2 columns (height, w)" in line
    assert (folder / "m.safetensors").read_bytes() == before
    assert rebel(*train, "--force").exit_code == 0


def test_no_file_but_a_similar_one(folder, refused):
    (folder / "tt.csv").write_text(GOOD, encoding="utf-8")
    assert "no file t.csv" in (line := refused(*TRAIN))
    assert "did you mean tt.csv?" in line


def test_a_folder_in_place_of_a_table(folder, refused):
    (folder / "t.csv").mkdir()
    assert "t.csv holds no Parquet or CSV files" in refused(*TRAIN)


@pytest.mark.parametrize(("names", "likely"), [("v,w,y", "y"), ("label,v,w", "label")])
def test_without_a_target_the_likely_one_is_named(folder, refused, names, likely):
    (folder / "t.csv").write_text(GOOD.replace("v,w,y", names), encoding="utf-8")
    assert refused("train", "t.csv").endswith(f"for example --target {likely}")


@pytest.mark.parametrize("option", ["--keep", "--ignore", "--categorical"])
def test_columns_that_are_not_there(folder, refused, option):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    assert f"{option}: t.csv has no column 'q'; it has v, w, y" in refused(*TRAIN, option, "q")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (",a\na,0\n", "no row for class 'b'"),
        (",a,b\na,0,1\n", "no row for class 'b'"),
        (",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n", "'c', which is not a class"),
        (",a,b\na,0,-1\nb,1,0\n", "costs cannot be negative"),
        (",a,b\na,0,much\nb,1,0\n", "'much'"),
        (",a,b\na,0,\nb,1,0\n", "is nan"),
        ("", "costs.csv is empty"),
    ],
)
def test_costs_that_do_not_fit(folder, refused, text, told):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    (folder / "costs.csv").write_text(text, encoding="utf-8")
    line = refused(*TRAIN, "--costs", "costs.csv")
    assert told in line
    assert "costs.csv" in line


def test_an_unknown_learner(folder, refused):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    assert "forest" in refused("train", "t.csv", "-t", "y", "--learner", "forest")


@pytest.mark.parametrize(
    ("to", "told"), [("missing/m.safetensors", "no folder missing"), ("sub", "sub is a folder")]
)
def test_places_that_cannot_be_written_to(folder, refused, to, told):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    (folder / "sub").mkdir()
    assert told in refused(*TRAIN, "-o", to)


def test_a_folder_without_permission(folder, refused, monkeypatch):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    (folder / "sub").mkdir()
    # To the superuser nothing is forbidden.
    monkeypatch.setattr(os, "access", lambda path, mode: path != Path("sub"))
    assert "permission denied" in refused(*TRAIN, "-o", "sub/m.safetensors")


COMMANDS = (["predict"], ["evaluate"], ["explain"], ["report", "-o", "r.html"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_model_files_that_are_none(folder, refused, command):
    (folder / "t.csv").write_text(GOOD, encoding="utf-8")
    (folder / "m.safetensors").write_bytes(b"not a model at all")
    name, *options = command
    assert "no file other.safetensors" in refused(name, "other.safetensors", "t.csv", *options)
    assert "m.safetensors" in refused(name, "m.safetensors", "t.csv", *options)
    assert "is a folder" in refused(name, ".", "t.csv", *options)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_tables_that_lack_columns(model, folder, refused, command):
    text = "\n".join(loan_lines(n_rows=20)).replace("amount", "amounts", 1).replace("city", "x", 1)
    (folder / "new.csv").write_text(text, encoding="utf-8")
    name, *options = command
    line = refused(name, model, "new.csv", *options)
    assert "lacks 2 of the 4 column(s) that the model needs, amount, city" in line
    assert "for 'amount' did you mean 'amounts'?" in line


@pytest.mark.parametrize("command", COMMANDS[1:2] + COMMANDS[3:], ids=lambda words: words[0])
def test_a_table_without_classes_cannot_judge(model, folder, refused, command):
    lines = [line.rpartition(",")[0] for line in loan_lines(n_rows=20)]
    (folder / "new.csv").write_text("\n".join(lines), encoding="utf-8")
    name, *options = command
    assert "no column 'repaid', which the model predicts" in refused(
        name, model, "new.csv", *options
    )


def test_a_table_without_rows_leaves_no_decisions(model, folder, refused):
    (folder / "new.csv").write_text(loan_lines()[0] + "\n", encoding="utf-8")
    assert "no rows" in refused("predict", model, "new.csv", "-o", "out.csv")


@pytest.mark.parametrize(
    ("rows", "told"), [("0", "from 1"), ("x", "such as 3,17"), ("2,151", "has 150 row(s)")]
)
def test_rows_that_are_not_there(model, refused, rows, told):
    assert told in refused("explain", model, "loans.csv", "--rows", rows)


def test_columns_to_copy_that_are_not_there(model, refused):
    assert "did you mean 'loan'?" in refused("predict", model, "loans.csv", "--id", "loans")


def test_the_traceback_of_an_error_is_shown_on_request(folder, rebel):
    done = rebel("train", "none.csv", "-t", "y", "--traceback")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("rebel: there is no file none.csv")


def test_ctrl_c_leaves_all_files_as_they_were(model, folder, rebel, monkeypatch):
    import rebelboost.cli.train as training

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    before = contents(folder)
    monkeypatch.setattr(training, "learn", interrupted)
    done = rebel("train", "loans.csv", "-t", "repaid")
    assert done.exit_code == 130
    assert done.stderr == "rebel: interrupted: no file is half written\n"
    assert contents(folder) == before


def test_ctrl_c_in_the_midst_of_writing_leaves_the_old_file(model, folder, rebel, monkeypatch):
    import rebelboost.cli.predict as predicting

    (folder / "out.csv").write_text("old", encoding="utf-8")
    before, write = contents(folder), predicting._write_csv

    def interrupted(decided, file, separator=","):
        write(decided, file, separator)
        raise KeyboardInterrupt

    monkeypatch.setattr(predicting, "_write_csv", interrupted)
    assert rebel("predict", model, "loans.csv", "-o", "out.csv").exit_code == 130
    assert contents(folder) == before


def test_a_bug_is_reported_as_one(model, rebel, monkeypatch):
    import rebelboost.cli.evaluate as evaluating

    def broken(*_, **__):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(evaluating, "tested", broken)
    (model.parent / "new.csv").write_text("\n".join(loan_lines(n_rows=20)), encoding="utf-8")
    done = rebel("evaluate", model, "new.csv")
    assert done.exit_code == 1
    told = "bug in rebelboost, please report it: ZeroDivisionError: by nought; --traceback"
    assert told in done.stderr


def test_the_demo_keeps_files_of_the_user(folder, refused):
    (folder / "costs.csv").write_text("mine", encoding="utf-8")
    assert "costs.csv exists, and is not of the demo" in refused("demo", ".")
    assert (folder / "costs.csv").read_text(encoding="utf-8") == "mine"
    assert not (folder / "tumours.csv").exists()
