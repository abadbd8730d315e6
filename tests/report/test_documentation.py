"""Documentation by guidelines: every item is there, facts are the report's, and the rest is marked."""

import re
from pathlib import Path

import numpy as np
import pytest

from reading import DAY, Page
from rebelboost import EvaluationError, RebelRegressor
from rebelboost.base.findings import Column, Quoted, Sentence, Strong, Table
from rebelboost.base.markdown import as_markdown
from rebelboost.base.text import percent
from rebelboost.evaluation import evaluate
from rebelboost.report.documentation import TO_FILL_IN, write_documentation
from rebelboost.report.guidelines import GUIDELINES
from rebelboost.report.statements import STATEMENTS

DOCS = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
GIVEN = {
    "date": DAY,
    "title": "Irises",
    "data_summary": {"source": "iris<b>.csv", "notes": ["a|b"]},
}


@pytest.fixture(scope="module")
def judged(priced):
    clf, X, y = priced
    return evaluate(clf, X, y, by=np.repeat(["north", "south"], len(y) // 2))


@pytest.mark.parametrize("name", GUIDELINES)
def test_a_page_has_every_item_and_marks_what_a_person_must_say(name, priced, judged, tmp_path):
    path = write_documentation(
        *priced, tmp_path / "page.html", evaluation=judged, guideline=name, **GIVEN
    )
    page = Page(path.read_text(encoding="utf-8"))
    asked = GUIDELINES[name]
    for item in asked.items:
        assert item.title in page.text
        assert item.person in page.text
    by_person = sum(bool(item.person) for item in asked.items)
    assert page.text.count(TO_FILL_IN.strip()) == by_person
    assert [value for key, value in page.attributes if value == "todo"] == ["todo"] * by_person
    assert percent(judged.accuracy.value).replace(" ", "\u00a0") in page.text.replace(
        " %", "\u00a0%"
    )
    assert "iris<b>.csv" in page.text
    assert "south" in page.text
    assert "script" not in page.tags


@pytest.mark.parametrize("name", GUIDELINES)
def test_markdown_says_the_same(name, priced, judged, tmp_path):
    path = write_documentation(
        *priced, tmp_path / "card.md", evaluation=judged, guideline=name, **GIVEN
    )
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# Irises: {GUIDELINES[name].title}\n")
    headings = re.findall(r"^#{2,3} (.*)$", text, flags=re.MULTILINE)
    for item in GUIDELINES[name].items:
        assert any(item.title in heading for heading in headings)
    assert percent(judged.accuracy.value) in text
    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert tables
    for table in tables:  # as many cells in each line, escaped pipes aside
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "iris\\<b\\>.csv" in text


def test_every_fact_has_an_item_and_every_item_a_fact_or_a_person():
    items = [item for asked in GUIDELINES.values() for item in asked.items]
    assert {name for item in items for name in item.facts} == set(STATEMENTS)
    assert all(item.facts or item.person for item in items)
    for asked in GUIDELINES.values():
        numbers = [item.number for item in asked.items if item.number != "–"]
        assert len(numbers) == len(set(numbers))


def test_tripod_has_27_items_and_annex_iv_nine_points():
    def first(name):
        return {int(re.match(r"\d+", item.number)[0]) for item in GUIDELINES[name].items}

    assert first("clinic") == set(range(1, 28))
    assert first("eu") == set(range(1, 10))


def test_the_docs_count_the_items_as_they_are():
    rows = re.findall(
        r"^\| `(\w+)` \|.*?\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", DOCS, re.MULTILINE
    )
    counts = {}
    for name, asked in GUIDELINES.items():
        kinds = [(bool(item.facts), bool(item.person)) for item in asked.items]
        n = [kinds.count(kind) for kind in ((True, False), (True, True), (False, True))]
        counts[name] = [len(kinds), *n]
    assert {name: [*map(int, numbers)] for name, *numbers in rows} == counts


def test_without_an_evaluation_the_page_says_that_nothing_is_known(priced, tmp_path):
    path = write_documentation(*priced, tmp_path / "p.html", evaluation=None, guideline="clinic")
    assert "accuracy and cost on new cases are unknown" in Page(path.read_text("utf-8")).text


def test_other_guidelines_and_regressors_are_refused(priced, tmp_path):
    with pytest.raises(ValueError, match="guideline is 'moon': choose one of card, clinic"):
        write_documentation(*priced, tmp_path / "p.html", evaluation=None, guideline="moon")
    _, X, y = priced
    numbers = RebelRegressor("stump", n_rounds=2, cross_fit=None).fit(X, y)
    with pytest.raises(EvaluationError, match="for classifiers"):
        write_documentation(numbers, X, y, tmp_path / "p.html", evaluation=None)


def test_markdown_of_findings_escapes_what_would_be_markup():
    document = [
        Sentence(["Of ", Quoted("a*b"), ", ", Strong("50 %"), " <b>"]),
        Table([Column("x|y", ["1_2", ""]), Column("n", [1, 2], kind="number")], title="T"),
    ]
    assert as_markdown(document) == (
        "Of “a\\*b”, **50 %** \\<b\\>\n\n**T**\n\n| x\\|y | n |\n| --- | ---: |\n| 1\\_2 | 1 |\n|  | 2 |\n"
    )
