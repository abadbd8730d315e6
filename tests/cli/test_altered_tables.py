"""Altered tables end in a result, or in one line of ours with the remedy."""

import random

import pytest

from fuzz.tables import altered_table, judge
from loans import loan_lines

SHARES, IN_A_SHARE = 6, 50
TEXT = "\n".join(loan_lines(n_rows=60)) + "\n"
TRAIN = ("--target", "repaid", "--rounds", 2, "--learner", "stump", "--threads", 1, "--force")


@pytest.fixture
def good(folder, rebel):
    (folder / "good.csv").write_text(TEXT, encoding="utf-8")
    assert rebel("train", "good.csv", *TRAIN).exit_code == 0
    return folder


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.filterwarnings("ignore")
def test_an_altered_table_ends_in_a_result_or_in_one_line(good, rebel, share):
    codes = []
    for i in range(share * IN_A_SHARE, (share + 1) * IN_A_SHARE):
        blob, what = altered_table(TEXT, random.Random(f"CI {i}"))
        (good / "t.csv").write_bytes(blob)
        command = (
            ("train", "t.csv", "-o", "t.safetensors", *TRAIN),
            ("predict", "good.safetensors", "t.csv"),
            ("evaluate", "good.safetensors", "t.csv"),
            ("report", "good.safetensors", "t.csv"),
        )[(0, 0, 1, 2, 3)[i % 5]]
        done = rebel(*command)
        fault = judge(done.exit_code, done.stderr)
        assert not fault, f"table {i} ({what}), {command[0]}: {fault}"
        codes.append(done.exit_code)
    # Tables that all are refused, or none, would test nothing.
    assert 10 < codes.count(0) < IN_A_SHARE - 10


@pytest.fixture
def told(folder, rebel):
    def train(content):
        blob = content if isinstance(content, bytes) else content.encode()
        (folder / "t.csv").write_bytes(blob)
        done = rebel("train", "t.csv", "--target", "y")
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        return line

    return train


def test_lines_may_end_in_carriage_returns(folder, records):
    lines = [f"{i},{i * i % 7},{'ab'[i % 2]}" for i in range(40)]
    (folder / "t.csv").write_bytes("\r".join(["v,w,y", *lines, ""]).encode())
    table, _ = records("train", "t.csv", "--target", "y", "--learner", "stump", "--rounds", 2)
    assert table["n_rows"] == 40


ROWS = "".join(f"{i},{i % 7},{'ab'[i % 2]}\n" for i in range(20))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"v,w,y\n{ROWS}1,a\rb,a\n", "line 22 of t.csv has a carriage return within a cell: quote"),
        (
            f"v,w,y\n{ROWS}1,{'x' * 140_000},a\n1,2,a,4\n",
            "line 22 of t.csv has a cell of more than 131,072",
        ),
        (
            f'v,w,y\n{ROWS}1,"open,a\n{ROWS}',
            "line 22 of t.csv has a quotation mark without a partner",
        ),
        (b"\x1f\x8b" + b"\0" * 30, "t.csv is a damaged gzip file: copy it again"),
        (f"v,w,y\n{ROWS}".encode("utf-16")[:-1], "t.csv is damaged UTF-16 text: save it again"),
    ],
    ids=["carriage return", "long cell", "open quotation", "gzip", "utf-16"],
)
def test_lines_that_are_no_cells_are_named(told, content, message):
    assert message in told(content)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e400"])
@pytest.mark.parametrize("label", ["a", ""])
def test_every_command_finds_the_same_infinite_cells(folder, rebel, told, cell, label):
    """Also in rows without a class, which training does not use."""
    (folder / "good.csv").write_text(f"v,w,y\n{ROWS}", encoding="utf-8")
    assert rebel("train", "good.csv", "-t", "y", "--rounds", 2, "--keep", "v").exit_code == 0
    message = "rebel: row 21 of t.csv has an infinite value in column 'v': leave the cell empty, or"
    assert told(f"v,w,y\n{ROWS}{cell},1,{label}\n").startswith(message)
    for command in ("predict", "evaluate", "report"):
        done = rebel(command, "good.safetensors", "t.csv")
        assert (done.exit_code, done.stderr.startswith(message)) == (2, True), command
