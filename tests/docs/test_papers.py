"""The page of the papers: calls can be made, files and tests exist, and the methods are all there."""

import ast
import inspect
import re

import pytest

import rebelboost
from docs.test_statements import find
from pages import ROOT, links
from rebelboost import vision
from rebelboost.estimators.papers import CLASS_PAPERS

PAGE = ROOT / "docs" / "papers.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [
    line
    for line in TEXT[TEXT.index("## THESIS") :].splitlines()
    if line.startswith("| ") and not line.startswith("| what")
]


def called(source):
    """The object of the package that a call is of, and the call."""
    call = ast.parse(source, mode="eval").body
    name = ast.unparse(call.func)
    first, _, rest = name.partition(".")
    holder = vision if first == "Detector" else rebelboost
    if first in holder.__all__:
        found = getattr(holder, first)
        for part in filter(None, rest.split(".")):
            found = getattr(found, part)
        return found, call
    thing = find(name)  # or the module of the same name
    return (getattr(thing, name.rpartition(".")[2]) if inspect.ismodule(thing) else thing), call


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split(" | ")[0])
def test_each_row_has_a_call_a_file_and_a_test(row):
    _, where, call, file, test = (cell.strip() for cell in row.strip("| ").split(" | "))
    assert where
    found, written = called(call.strip("`"))
    named = {each.arg: None for each in written.keywords}
    inspect.signature(found).bind_partial(*written.args, **named)
    assert re.search(r"\]\(\.\./(src|cpp)/", file)
    assert re.search(r"\]\(\.\./tests/.*test_\w+\.py\)", test)


def test_every_link_of_the_page_exists():
    assert all(target.exists() for target, _ in links(PAGE))


def test_all_methods_are_listed():
    listed = re.findall(r'^\| `"(\w+)"` \|', TEXT, flags=re.MULTILINE)
    assert listed == list(CLASS_PAPERS)
    assert {row.split(" | ")[2] for row in ROWS}  # the tables were found
    for key in ("THESIS", "LOCAL", "QUICK", "REBEL", "ADA"):
        assert f"\n## {key}: " in TEXT
