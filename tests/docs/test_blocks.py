"""Every code block in README and the docs runs, or equals the file that it quotes."""

import contextlib
import re
import shlex
import subprocess
import tomllib
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from pages import DOCS, PAGES, ROOT, blocks, name
from rebelboost.cli import demo
from vision.conftest import draw_house, draw_street

KINDS = {"python", "sh", "console", "text", "csv", "json"}
"""`text` is the output of a block; tests/files reads the `json` blocks."""

ALL = [(page, i, block) for page in PAGES for i, block in enumerate(blocks(page))]


def of_kind(*kinds, quoted=False):
    return [
        pytest.param(block, id=f"{name(page)}-{i}")
        for page, i, block in ALL
        if block.kind in kinds and bool(block.source) == quoted
    ]


@pytest.mark.parametrize("block", of_kind("python"))
def test_a_block_of_python_runs(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block.code, "docs", "exec"), {"__name__": "docs"})


def test_what_a_newcomer_runs_needs_nothing_but_what_was_installed():
    """The extras that README names bring no pandas, which scikit-learn's as_frame would need."""
    for page in (ROOT / "README.md", ROOT / "docs" / "start.md"):
        code = "".join(block.code for block in blocks(page) if block.kind == "python")
        assert not re.search(r"as_frame|import (pandas|polars|matplotlib)", code)


@pytest.mark.parametrize("block", of_kind("python", quoted=True))
def test_a_block_that_quotes_a_file_has_its_words(block):
    assert block.code in (ROOT / block.source).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page):
    assert {block.kind for block in blocks(page)} <= KINDS


def test_the_costs_shown_are_those_of_the_demo():
    shown = [block.code for _, _, block in ALL if block.kind == "csv"]
    assert shown == [demo.COSTS]


# ---- the shell


def commands(page):
    """The shell commands of a page; in a transcript, the lines that begin with a dollar sign."""
    for block in blocks(page):
        lines = block.code.splitlines()
        if block.kind == "console":
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        if block.kind in {"sh", "console"}:
            for line in lines:
                yield from (shlex.split(part, comments=True) for part in line.split(" && "))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the tables of the demo, also under the generic names that pages use."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "STEPS", ())  # tests/cli runs them
    demo.write_tables(tmp_path)
    rows = (tmp_path / "tumours.csv").read_text(encoding="utf-8")
    (tmp_path / "data.csv").write_text(rows.replace("diagnosis", "label", 1), encoding="utf-8")
    (tmp_path / "new.csv").write_text((tmp_path / "unseen.csv").read_text("utf-8"), "utf-8")
    write_parts(tmp_path)
    draw_pictures(tmp_path)
    return tmp_path


def write_parts(folder):
    """The same table in two Parquet files, under the name that the page about clusters uses."""
    table = pytest.importorskip("polars").read_csv(folder / "data.csv")
    (folder / "folder").mkdir()
    table[:200].write_parquet(folder / "folder" / "0.parquet")
    table[200:].write_parquet(folder / "folder" / "1.parquet")


def draw_pictures(folder):
    """Folders of images under the names that the page about detectors uses."""
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    street = partial(draw_street, height=60, width=80)
    for kind, draw, n in (("cars", draw_house, 12), ("streets", street, 1)):
        (folder / kind).mkdir()
        for i in range(n):
            image.fromarray(draw(rng)).save(folder / kind / f"{i}.png")
    (folder / "photos").symlink_to(folder / "streets")
    (folder / "truth.csv").write_text("image,left,top,width,height\n0.png,1,2,20,16\n", "utf-8")


@pytest.mark.parametrize("page", [p for p in PAGES if [*commands(p)]], ids=name)
def test_the_commands_of_a_page_run(page, folder):
    with contextlib.chdir(folder):
        for program, *words in commands(page):
            RUN[program](words)


def run_rebel(words):
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    # A detector with fewer terms would find thousands of boxes.
    quick = {"train": ["--rounds", "3"], "detect": ["--terms", "12"]}.get(words[0], [])
    if words[0] == "detect" and words[1] != "train":
        quick = []
    done = CliRunner().invoke(app, [*words, *quick], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr


def run_cd(words):
    contextlib.chdir(words[0]).__enter__()  # until the test leaves its folder


def run_make(words):
    """Dry run only: `make test` is what runs this test."""
    subprocess.run(["make", "--dry-run", *words], cwd=ROOT, check=True, capture_output=True)


def run_pip(words):
    """Only check that the extras exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert words[0] == "install"
    for named in re.findall(r"\[(.*)\]", words[1]):
        assert set(named.split(",")) <= set(project["optional-dependencies"])


def run_python(words):
    """Only check that the program exists: benchmarks take hours."""
    path = words[1].replace(".", "/") if words[0] == "-m" else words[0]
    assert (ROOT / path).exists() or (ROOT / path).with_suffix(".py").exists()


RUN = {
    "rebel": run_rebel,
    "cd": run_cd,
    "make": run_make,
    "pip": run_pip,
    "python": run_python,
}


# ---- form


@pytest.mark.parametrize("page", DOCS, ids=name)
def test_a_list_or_table_begins_after_an_empty_line(page):
    """Otherwise MkDocs renders it as part of the paragraph, unlike Git hosts."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for before, line in pairwise(text.splitlines()):
        if re.match(r"(- |1\. |\|)", line):
            assert re.match(r"$|\s|- |\d+\. |\|", before), line
