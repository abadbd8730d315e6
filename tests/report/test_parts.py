"""What pages of reports are made of."""

import re

import pytest

from rebelboost.base.markup import Html, escape, name, table, tag
from rebelboost.report.charts import Axis, thinned


def test_text_is_escaped_and_markup_is_not():
    assert escape("<&\"'") == "&lt;&amp;&quot;&#x27;"
    assert escape(Html("<b>")) == "<b>"
    assert tag("p", "<", tag("b", 1), None, class_='"') == '<p class="&quot;">&lt;<b>1</b></p>'
    assert tag("meta", name="a", http_equiv=None) == '<meta name="a"/>'


def test_unprintable_characters_are_replaced():
    assert escape("a\x00\x1b\ud800b") == "a\ufffd\ufffd\ufffdb"


def test_long_and_empty_names_are_shown():
    assert len(re.sub("<.*?>", "", name("x" * 300))) == 200
    assert "(empty)" in name("")


def test_numbers_stand_to_the_right():
    assert table(["a", "b"], [["x", 1]]).count('class="n"') == 2


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "low_high", [(0.1, 1), (0.013, 0.017), (1e-9, 30), (5, 4000), (1e-300, 1e-299), (999, 1001)]
)
def test_ticks_are_few_and_inside(low_high, log):
    low, high = low_high
    ticks = Axis(low, high, 0, 1, log=log).ticks()
    assert 2 <= len(ticks) <= 9
    rounding = 1e-6 * (high - low)
    assert all(low - rounding <= tick <= high + rounding for tick in ticks)


def test_thinned_points_keep_both_ends():
    assert thinned(1) == [0]
    found = thinned(3000)
    assert (found[0], found[-1]) == (0, 2999)
    assert len(found) <= 90
