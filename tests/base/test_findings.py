"""A document says the same as text, as HTML and as JSON."""

import html
import re

import pytest

from rebelboost.base.findings import (
    GAP,
    IN_DATA,
    IN_TEXT,
    ON_PAGE,
    Cell,
    Column,
    Halves,
    Heading,
    Matrix,
    Only,
    Quoted,
    Sentence,
    Strong,
    Table,
    as_html,
    as_json,
    as_text,
)
from rebelboost.base.text import percent

NAMES = ["age", "<b>height", "sex"]
SHARES = [0.5, 0.3, 0.2]


def ranking(**options):
    columns = [
        Column("name", NAMES, head="feature"),
        Column("use", SHARES, percent, kind="number"),
        Column("bar", [share / 0.5 for share in SHARES], head="", kind="bar", voices=ON_PAGE),
        Column("n", [3, 2, 1], str, voices=IN_DATA),
    ]
    return Table(columns, "features", "Features, by use", is_ranking=True, **options)


def seen(page):
    """The words of a page, without tags."""
    text = html.unescape(re.sub(r"<[^>]*>", " ", page))
    return " ".join(text.split())


def test_a_ranking_begins_with_its_numbers_in_text_and_with_its_names_on_a_page():
    assert as_text([ranking()]).split("\n") == [
        "Features, by use:",
        " 50.0 %  age",
        " 30.0 %  <b>height",
        " 20.0 %  sex",
    ]
    page = as_html([ranking()])
    assert seen(page) == "Features, by use feature use age 50.0 % <b>height 30.0 % sex 20.0 %"
    assert page.count('class="bar"') == 3


def test_rows_that_are_not_shown_are_counted_and_json_has_them():
    table = ranking(n_shown=1, noun="feature")
    assert as_text([table]).endswith("  age\n         and 2 more features")
    assert seen(as_html([table])).endswith("age 50.0 % And 2 more features.")
    assert as_json([table])["features"] == {"name": NAMES, "use": SHARES, "n": [3, 2, 1]}


def test_a_table_without_rows_is_only_in_json():
    table = Table([Column("name", []), Column("use", [], kind="number")], "features", "Features")
    assert as_text([table]) == as_html([table]) == ""
    assert as_json([table]) == {"text": "", "features": {"name": [], "use": []}}


def test_other_tables_are_aligned_and_rows_that_belong_to_others_are_indented():
    names = [Cell("accuracy"), Cell("always no", is_inset=True)]
    table = Table(
        [
            Column("figure", names, lambda cell: cell, ""),
            Column("value", [0.9, 0.5], percent, "", "number"),
            Column("interval", ["80 to 95", ""], str, kind="number"),
        ]
    )
    assert as_text([table]).split("\n") == [
        "                     interval",
        "accuracy     90.0 %  80 to 95",
        "  always no  50.0 %",
    ]
    assert '<span class="quiet inset"><span class="name short">always no</span></span>' in as_html(
        [table]
    )


@pytest.mark.parametrize("costs", [None, [[0, 12.5], [0, 0]]])
def test_a_matrix_has_two_tables_of_text_and_one_on_a_page(costs):
    matrix = Matrix(["no", "yes"], ["no", "yes"], [[40, 5], [0, 30]], costs)
    text, page = as_text([matrix]), as_html([matrix])
    assert text.count("rows: true class") == 1 + (costs is not None)
    assert page.count("<table") == 1
    assert page.count("rgba(var(--wrong),0.55)") == 1, "only mistakes are tinted"
    assert ("<small>12.50</small>" in page) == ("12.50" in text) == (costs is not None)


def test_sentences_stand_out_and_quote_without_a_way_out_of_the_page():
    document = [
        Heading("What is <proven>?"),
        Sentence(["Always ", Quoted("<b>no"), " costs ", Strong("12"), "."], "lead"),
        GAP,
        Sentence("one\ntwo", "inset"),
    ]
    assert as_text(document) == "What is <proven>?\nAlways “<b>no” costs 12.\n\n  one\n  two"
    page = as_html(document)
    assert page.startswith("<h3>What is &lt;proven&gt;?</h3>")
    assert "<strong>12</strong>" in page
    assert "<b>" not in page
    assert page.count('<p class="inset">') == 2


def test_blocks_of_one_voice_are_not_in_the_others():
    document = [
        Only(IN_TEXT, [Sentence("text")]),
        Halves([Only(ON_PAGE, [Sentence("page")])], [ranking()]),
    ]
    assert as_text(document).startswith("text\nFeatures")
    assert "page" not in as_text(document)
    assert "text" not in seen(as_html(document))
    assert as_json(document)["features"]["name"] == NAMES
