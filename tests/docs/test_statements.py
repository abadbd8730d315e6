"""Statements of the pages about code, tests, examples and benchmarks are true."""

import ast
import importlib
import inspect
import re
import textwrap

import numpy as np
import pytest

from pages import ROOT, name

KEYS = {"THESIS", "LOCAL", "QUICK", "REBEL", "ADA"}
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "cpp").glob("*pp")]
MOST_BYTES = 60_000


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


# ---- notation

ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in read("docs/notation.md").splitlines()
    if line.startswith("| ") and not line.startswith(("| symbol", "| key", "| `"))
]


def find(dotted):
    """Find an object of the package by its dotted name."""
    parts = ["rebelboost", *dotted.split(".")]
    for i in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:i]))
        except ModuleNotFoundError:
            continue
        found = module
        for part in parts[i:]:
            found = getattr(found, part)
        return found
    raise AssertionError(dotted)


def names_in(thing):
    """Identifiers in the code of a function, class or property, and their parts; no word of a docstring."""
    code = textwrap.dedent(inspect.getsource(getattr(thing, "fget", None) or thing))
    nodes = list(ast.walk(ast.parse(code)))
    named = [
        getattr(node, field, None) for node in nodes for field in ("id", "arg", "attr", "name")
    ]
    whole = {word for word in named if isinstance(word, str)}
    return whole | {part.lower() for word in whole for part in word.split("_")}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_notation_names_what_exists(row):
    _, _, variable, shape, where, cited = row
    assert not shape or re.fullmatch(r"\(.*\)", shape)
    things = [find(dotted) for dotted in re.findall(r"`([\w.]+)`", where)]
    assert things
    known = set().union(*map(names_in, things))
    assert set(re.findall(r"`(\w+)`", variable)) <= known, where
    assert cited in {"", "ours"} or cited.split(",")[0] in KEYS


def test_a_word_of_a_docstring_is_no_name():
    assert {"find", "dotted", "parts"} <= names_in(find)
    assert "package" not in names_in(find)


def test_the_notation_has_the_key_of_every_citation():
    listed = set(re.findall(r"^\| `([A-Z]+)` \|", read("docs/notation.md"), flags=re.MULTILINE))
    assert listed == KEYS
    cited = re.compile(r"\[([A-Z]{3,}),? (?:Sec|Eq|Fig|Ch|S|Alg|Ex|Theorem|Prop|\d)[^\]]*\]")
    for path in SOURCES:
        for key in cited.findall(path.read_text(encoding="utf-8")):
            assert key in KEYS, f"{name(path)}: [{key}]"


# ---- theory

PROOFS = re.findall(r"\[([a-z][^\]`]+)\]\(\.\./(tests/[\w/.]+)\)", read("docs/theory.md"))


@pytest.mark.parametrize(("sentence", "file"), PROOFS)
def test_every_statement_of_the_theory_has_its_test(sentence, file):
    assert f"def test_{re.sub('[ .]', '_', sentence)}(" in read(file)


def test_the_theory_has_tests():
    assert len(PROOFS) >= 5


# ---- gallery


def test_the_gallery_shows_every_example():
    scripts = {path.name for path in (ROOT / "examples").glob("plot_*.py")}
    shown = re.findall(r"\[(plot_\w+\.py)\]\(\.\./examples/\1\)", read("docs/gallery.md"))
    assert sorted(shown) == sorted(scripts)


def test_committed_pictures_are_small():
    pictures = [p for p in (ROOT / "docs").rglob("*") if p.suffix in {".png", ".jpg", ".svg"}]
    assert not {name(p): p.stat().st_size for p in pictures if p.stat().st_size > MOST_BYTES}


# ---- results


@pytest.fixture
def readme_table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("readme_table")


def test_results_in_readme_and_docs_are_those_that_were_kept(readme_table):
    for block in readme_table.BLOCKS:
        text = block.page.read_text(encoding="utf-8")
        assert len(readme_table.measuring.block(block.mark).findall(text)) == 1
        assert readme_table.written(block) == text


def test_no_set_is_used_for_choosing_and_reporting(readme_table):
    halves = importlib.import_module("halves")
    assert not set(halves.CHOOSING) & set(halves.REPORTING)
    assert sorted(halves.CHOOSING + halves.REPORTING) == halves.SETS
    assert set(readme_table.Standing.read(readme_table.ALL_SPLITS).sets) == set(halves.REPORTING)
    assert set(readme_table.Standing.read(readme_table.ONE_SPLIT).sets) == set(halves.REPORTING)
    assert set(readme_table.Choice.read(readme_table.CHOICE).results) == set(halves.CHOOSING)


@pytest.fixture
def standing(readme_table):
    """Three libraries, the second without probabilities, and a search that failed once and missed a set."""
    costs = {"a": [1.0, 2.0, 3.0, 60.0], "b": [1.0, 2.0, 3.0, 60.0], "c": [1.0, 2.0, 3.0, None]}
    return readme_table.Standing(
        names=["ours", "theirs", "third", "search"],
        ours=0,
        automatic=["search"],
        seeds=2,
        rows=100,
        errors={
            "a": [1.0, 1.0, 3.0, 0.5],
            "b": [5.0, 4.0, 6.0, 100.0],
            "c": [9.0, 9.5, 2.0, None],
        },
        log_losses={
            "a": [0.1, None, 0.3, 0.2],
            "b": [0.4, None, 0.3, None],
            "c": [0.5, None, 0.6, None],
        },
        seconds=costs,
        wall=costs,
    )


def test_ranks_share_places_and_losses_are_sorted(standing, readme_table, tmp_path):
    singles = standing.complete(standing.sets)
    assert singles.names == ["ours", "theirs", "third"]
    assert singles.ranks.tolist() == [[1.5, 1.5, 3], [2, 1, 3], [2, 3, 1]]
    np.testing.assert_allclose(singles.mean_loss_ranks, [4 / 3, np.nan, 5 / 3])
    lost = [("c", 9.0, "third", 2.0), ("b", 5.0, "theirs", 4.0)]
    assert singles.losses() == standing.losses() == lost  # a search is no single library
    assert [line[3] for line in singles.summary()] == ["", "1 – 1", "2 – 1"]
    assert [line[6] for line in singles.summary()] == ["", "", "2 – 1"]
    standing.write(tmp_path / "kept.json")
    assert readme_table.Standing.read(tmp_path / "kept.json") == standing
    assert "on 2 of 3 data sets, by more than 2 points on 1" in readme_table.count(singles)


def test_searches_are_compared_on_the_sets_that_they_were_run_on(standing, readme_table):
    duel = standing.duel("search")
    assert duel.n_sets == 2
    assert duel.errors == (1, 1)
    assert duel.log_losses == (2, 0)  # a fit that failed has the worst log-loss
    assert duel.seconds == (1.0, 60.0)
    assert "search 2" in readme_table.slow_ones(standing)
    told = " ".join(readme_table.goals(standing.complete(standing.sets), standing))
    assert "1: `c` by 7.0 (third)" in told
