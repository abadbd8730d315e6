"""Pipes, devices, closed streams and odd file names."""

import datetime as dt
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import rebelboost
from rebelboost import ModelFileError, RebelClassifier
from rebelboost.base.writing import replaced, write_whole
from rebelboost.cli.main import app
from rebelboost.cli.model_files import KeptRows
from rebelboost.cli.output import Output
from rebelboost.cli.predict import PredictionOptions, run_prediction
from rebelboost.exceptions import TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened, source_of
from rebelboost.tables.schema_inference import infer_schema

REBEL = [sys.executable, "-m", "rebelboost.cli"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams") / "table.csv"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    lines = [f"{a},{b},{'yes' if a > 0 else 'no'}" for a, b in X.tolist()]
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(table):
    path = table.with_name("m.safetensors")
    rebel("train", table, "--target", "y", "--rounds", "3", "--learner", "tree", "-o", path)
    return path


def rebel(*words, before="", code=0, **options):
    """Run the command, after a shell has changed its streams as `before` says."""
    line = f'exec "$@" {before}'
    command = ["bash", "-c", line, "bash", *REBEL, *map(os.fspath, words)]
    done = subprocess.run(command, capture_output=True, timeout=300, check=False, **options)
    assert done.returncode == code, done.stderr
    return done


def refused(*words):
    """What the command says of an error of the user's, in this process."""
    done = CliRunner().invoke(app, [*map(os.fspath, words)])
    assert done.exit_code == 2, done.output
    return done.stderr


# ---- files that are none


@pytest.fixture(params=["pipe", "device"])
def stream(request, tmp_path):
    path = tmp_path / "stream"
    if request.param == "pipe":
        os.mkfifo(path)
    else:
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # /dev/null
        except PermissionError:
            pytest.skip("only root can create devices")
    return path


def read_in_thread(path):
    found = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    thread.start()
    return thread, found


@pytest.mark.parametrize("way", ["write_whole", "replaced"])
def test_a_pipe_or_device_is_written_to_and_not_replaced(stream, way):
    before = stream.stat()
    thread, found = read_in_thread(stream)
    if way == "write_whole":
        write_whole(stream, [b"abc", b"def"])
    else:
        with replaced(stream) as beside:
            beside.write_bytes(b"abcdef")
    thread.join(30)
    assert found == [b"abcdef" if stat.S_ISFIFO(before.st_mode) else b""]
    after = stream.stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert [path.name for path in stream.parent.iterdir()] == ["stream"]


def test_predictions_and_models_go_through_a_device(table, model, tmp_path):
    stream = tmp_path / "stream"
    os.mkfifo(stream)
    thread, found = read_in_thread(stream)
    rebel("predict", model, table, "-o", stream)
    thread.join(30)
    assert found[0].startswith(b"decision,probability_no")
    thread, found = read_in_thread(stream)
    rebel("train", table, "--target", "y", "--rounds", "3", "--learner", "tree", "-o", stream)
    thread.join(30)
    (tmp_path / "m").write_bytes(found[0])
    assert rebelboost.load(tmp_path / "m").classes_.tolist() == ["no", "yes"]


def test_loading_a_pipe_does_not_wait_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="is not a regular file"):
        rebelboost.load(tmp_path / "pipe")


def test_a_socket_is_refused(tmp_path):
    import socket

    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        with pytest.raises(OSError, match="a disk or a socket: give the name of a file"):
            RebelClassifier("stump", n_rounds=1).fit([[0], [1]], [0, 1]).save(path)
        assert stat.S_ISSOCK(path.stat().st_mode)


# ---- streams of the process


@pytest.mark.parametrize("more", ["", "--json"])
def test_a_model_is_written_though_the_reader_of_the_output_leaves(table, tmp_path, more):
    words = [
        "train",
        table,
        "--target",
        "y",
        "--rounds",
        "3",
        "--learner",
        "tree",
        "-o",
        tmp_path / "m",
        *more.split(),
    ]
    command = [*REBEL, *map(os.fspath, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(5)
        process.stdout.close()
        assert process.wait(300) == 0, process.stderr.read()
        assert process.stderr.read() == b""
    rebelboost.load(tmp_path / "m")


def test_closed_streams_are_served_or_named(table, model, tmp_path, monkeypatch):
    train = [
        "train",
        table,
        "--target",
        "y",
        "--rounds",
        "3",
        "--learner",
        "tree",
        "-o",
        tmp_path / "m",
        "--force",
    ]
    rebel(*train, before="<&- >&- 2>&-")
    rebelboost.load(tmp_path / "m")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableError, match="standard input is closed: give a file"), opened("-"):
        pass
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(TableError, match="standard output is closed: give a file with -o"):
        run_prediction(
            model,
            source_of([table]),
            None,
            options=PredictionOptions(None, None),
            keep=[],
            batch=9,
            output=Output(),
        )


def test_names_that_are_not_text_are_refused(table, model, tmp_path):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    with open(odd, "wb") as file:  # noqa: PTH123
        file.write(table.read_bytes())
    for words in (
        ["predict", model, odd],
        ["predict", model, table, "-o", odd],
        ["predict", odd, table],
    ):
        assert "caf?.csv is not valid UTF-8: rename the file" in refused(*words)


# ---- what is written


@pytest.mark.parametrize("name", ["d.xlsx", "d.xls", "d.json", "d.ods"])
def test_a_name_that_promises_another_format_is_refused(table, model, tmp_path, name):
    said = refused("predict", model, table, "-o", tmp_path / name)
    assert "predictions are written as CSV, TSV or Parquet; choose another name" in said
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_not_blamed_on_the_one_that_is_read(
    table, model, tmp_path, monkeypatch
):
    def full(*_):
        raise pl.exceptions.ComputeError("No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    to = tmp_path / "d.parquet"
    said = refused("predict", model, table, "-o", to)
    assert said.startswith(
        f"rebel: cannot write {to}: No space left on device (os error 28); choose"
    )
    assert not list(tmp_path.iterdir())


UNPREDICTABLE = {
    "list": pl.Series([[1], [2]] * 30),
    "array": pl.Series([[1, 2], [2, 1]] * 30, dtype=pl.Array(pl.Int64, 2)),
    "struct": pl.Series([{"u": 1}, {"u": 2}] * 30),
    "bytes": pl.Series([b"a", b"b"] * 30),
    "duration": pl.Series([dt.timedelta(1), dt.timedelta(2)] * 30),
}


@pytest.mark.parametrize("kind", UNPREDICTABLE)
def test_targets_of_types_without_classes_are_refused(kind, tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": range(60), "y": UNPREDICTABLE[kind]}).write_parquet(path)
    assert "cannot be predicted: convert it to text or numbers" in refused("train", path, "-t", "y")


def test_a_model_without_rows_keeps_no_target_exactly(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i * i % 17},{1000.5 + i * 1.25}\n" for i in range(60)))
    with opened(path) as table:
        schema, _ = infer_schema(table, "y", ColumnOptions())
    assert schema.spread[0] == 1000.5
    kept = KeptRows(rows="none").of_table(schema).to_dict()
    assert kept["spread"] == []
    assert KeptRows().of_table(schema).spread == schema.spread


def test_a_table_is_read_from_a_pipe_of_the_shell(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n3,4\n",))
    writer.start()
    with opened(pipe) as found:
        assert found.path == pipe
        assert found.frame.collect().rows() == [("1", "2"), ("3", "4")]
    writer.join()
