"""What pages of reports are made of."""

import re

import numpy as np
import pytest

from rebelboost import RebelClassifier
from rebelboost.base.markup import Html, escape, name, table, tag
from rebelboost.report import charts, write_report
from rebelboost.report.charts import Axis, thinned
from rebelboost.report.effects import _is_year, _year


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


def test_labels_of_ticks_do_not_overlap_and_years_have_no_separator():
    wide = charts.Chart(charts.across(0, 12_000_000), charts.upward(0, 1), "", "")
    labels = [text for _, text in wide._x_ticks(lambda value: f"{value:,.0f}")]
    assert len(labels) >= 2
    assert charts.CHARACTER * sum(map(len, labels)) < charts.WIDTH
    assert _is_year(charts.across(1950, 2015))
    assert not _is_year(charts.across(0, 2015))
    assert _year(1990.0) == "1990"


def test_each_class_has_one_colour_in_all_curves(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2, [-1, -0.3, 0.2, 0.7, 1.2, 1.8])
    clf = RebelClassifier("tree", n_rounds=10).fit(X, y)
    page = write_report(clf, X, y, tmp_path / "r.html", evaluation=None).read_text(encoding="utf-8")
    legends = re.findall(r'<p class="legend">(.*?)</p>', page)
    of_class = [
        (name, colour)
        for legend in legends
        for colour, name in re.findall(r'class="line (\w+)"/></svg>(\d)</span>', legend)
    ]
    assert len(of_class) > 5
    assert len(set(of_class)) == len({name for name, _ in of_class})
