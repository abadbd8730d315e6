"""What a reader needs: what is saved, how features act, similar rows with their values."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine

from reading import Page, reported
from rebelboost import RebelClassifier, Similarity
from rebelboost.evaluation.evaluate import evaluate
from rebelboost.evaluation.result import Evaluation


def test_with_costs_the_sentence_at_the_top_leads_with_what_is_saved(priced, tmp_path):
    clf, X, y = priced
    text = Page(reported(tmp_path, clf, X, y)).text
    found = evaluate(clf, X, y)
    cost, constant, probable = (
        round(1000 * each) for each in (found.cost.value, found.constant_cost, found.probable_cost)
    )
    first = text.index("1,000 decisions on new cases like these cost about")
    said = text[first : first + 500]
    assert f"cost about {cost} (95 % interval" in said
    assert re.search(f"This saves {constant - cost} compared with always deciding “", said)
    assert f"the best constant decision ({constant})" in said
    assert f"deciding for the most probable class ({probable})" in said
    assert abs(probable - cost) == int(
        re.search(r"and (\d+) (compared with|more than) ignoring the costs", said)[1]
    )
    right, low, high = (round(100 * share) for share in found.accuracy)
    assert f"about {right} will be decided correctly (95 % interval: {low}–{high})" in said


def test_ignoring_the_costs_is_deciding_for_the_most_probable_class(priced):
    clf, X, y = priced
    decided = clf.classes_[clf.predict_proba(X).argmax(axis=1)]
    expected = clf.costs_[y, decided].mean()
    found = evaluate(clf, X, y)
    assert found.probable_cost == pytest.approx(expected)
    assert Evaluation.from_dict(found.to_dict()).probable_cost == found.probable_cost
    assert evaluate(clf.with_costs(1 - np.eye(3)), X, y).probable_cost is None


def test_a_model_that_saves_nothing_is_said_to_cost_more(priced, tmp_path):
    clf, X, y = priced
    found = evaluate(clf, X, y)
    dear = replace(found, cost=found.cost._replace(value=9.0, low=8.0, high=10.0))
    text = Page(reported(tmp_path, clf, X, y, evaluation=dear)).text
    assert re.search(r"This is [\d,]+ more than always deciding", text)


def test_the_probability_of_one_of_two_classes_is_checked_from_0_to_100_percent(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0.4, "yes", "no")  # "yes" is rarer
    clf = RebelClassifier("tree", n_rounds=20).fit(X[::2], y[::2])
    found = evaluate(clf, X[1::2], y[1::2]).calibration
    assert found.of_class == "yes"
    assert found.bins[0].low < 0.3
    assert sum(found.histogram) == 200
    page = reported(tmp_path, clf, X[1::2], y[1::2])
    assert "stated probability of “yes”" in page
    assert re.findall(r"<title>\d+ cases</title>", page), "bars with counts"
    other = clf.with_costs({("no", "yes"): 5})
    assert evaluate(other, X, y).calibration.of_class == "no", "it costs more to miss"


def test_curves_are_drawn_for_numbers_and_tabled_for_categories(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.normal(size=300), "ward": rng.choice(["east", "west"], 300)})
    y = np.where(X["dose"] + (X["ward"] == "west") + rng.normal(size=300) > 0, "ill", "well")
    page = reported(tmp_path, RebelClassifier("stump", n_rounds=20).fit(X, y), X, y)
    effect = page.split("How does each feature change the result?")[2].split("</section>")[0]
    assert "Average outcome by dose" in effect
    text = Page(f"<div>{effect}</div>".replace("</h2>", "", 1)).text
    rows = {name: int(np.sum(X["ward"] == name)) for name in ("east", "west")}
    for name, n in rows.items():
        assert re.search(rf"{name} \d+ % {n}", text)
    assert "so the shape of the curves is exact" in text
    deep = RebelClassifier("tree", n_rounds=20).fit(X, y)
    assert "The curves are averages (partial dependence)" in reported(tmp_path, deep, X, y)


def test_similar_rows_are_shown_with_their_values_beside_the_case(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, index=[f"flower {i}" for i in range(150)], columns=list("abcd"))
    X.loc["flower 0", "d"] = np.nan
    clf = RebelClassifier(Similarity(), n_rounds=20).fit(X[::2], y[::2])
    page = reported(tmp_path, clf, X[1::2], y[1::2])
    text = Page(page).text
    assert re.search(r"Test row flower \d*[13579] ", text)
    tables = re.findall(r'<table class="beside">.*?</table>', page)
    assert len(tables) == 10
    for each in tables:
        rows = re.findall(r"row (flower \d*[02468])", each)
        lines = [re.findall(r"<td.*?>(.*?)</td>", line) for line in each.split("<tr>")[2:]]
        cells = [[re.sub("<.*?>", "", cell) for cell in line] for line in lines]
        assert [line[0] for line in cells] == list("abcd")
        for n, row in enumerate(rows):
            values = ["–" if np.isnan(v) else f"{v:.6g}" for v in X.loc[row]]
            assert [line[2 + n] for line in cells] == values
    assert 'class="differs"' in page


def test_influential_rows_are_shown_with_their_values(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=list("abcd"))
    X.loc[::3, "d"] = np.nan
    clf = RebelClassifier(Similarity(), n_rounds=20).fit(X, y)
    text = Page(reported(tmp_path, clf, X, y, evaluation=None)).text
    for each in clf.summary().examples[:15]:
        values = ["–" if np.isnan(v) else f"{v:.4g}" for v in X.loc[each.row]]
        assert f"row {each.row} {y[each.row]} {' '.join(values)} " in text


def test_the_reasons_on_a_card_cover_most_of_the_decision_or_say_how_many_would(tmp_path):
    X, y = load_wine(return_X_y=True)
    clf = RebelClassifier("auto", n_rounds=30).fit(X, y)
    page = reported(tmp_path, clf, X, y).replace("\u00a0", " ")
    told = re.findall(r"(\d+) of (\d+) reasons, with (\d+) % of all contributions(.*?)<", page)
    assert len(told) == 10
    for shown, n_all, covered, rest in told:
        assert int(shown) < int(n_all)
        assert int(covered) >= 80 or re.search(r"; \d+ reasons have 80 %", rest)
