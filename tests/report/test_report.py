"""The report: what is on the page, and that no name can break it."""

import base64
import hashlib
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from reading import Page, reported
from rebelboost import EvaluationError, RebelClassifier, Similarity
from rebelboost.base.text import percent
from rebelboost.evaluation.evaluate import evaluate
from rebelboost.evaluation.figures import LEFT_OUT
from rebelboost.evaluation.result import Evaluation
from rebelboost.report import write_report

SCRIPT = "<script>alert(1)</script>"
NAMES = [SCRIPT, "\"&'<b>", "漢字 \x00\ud800 " + "x" * 80]
COLUMNS = ["<img src=x onerror=alert(1)>", 'a"b', "c" * 200]


def headings(page):
    return re.findall(r"<h2>(.*?)</h2>", page)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    clf = RebelClassifier("tree", n_rounds=10).fit(X[::2], names[::2])
    return clf, X[1::2], names[1::2]


def test_a_report_has_every_section(wine, tmp_path):
    page = reported(tmp_path, *wine, title="Wines")
    assert headings(page) == [
        "How good is the model?",
        "Try a case",
        "Which mistakes does it make?",
        "Are the probabilities reliable?",
        "How does each feature change the result?",
        "What are the decisions based on?",
        "Ten decisions explained",
        "Data",
        "How was the model trained?",
        "Reproduce this model",
    ]
    assert Page(page).tags.count("h1") == 1
    assert "What is proven about the training samples" in Page(page).text
    links = re.findall(r'href="#(.*?)"', page)
    assert links == re.findall(r'<section id="(.*?)"', page)


def test_a_race_is_told_as_a_table(wine, tmp_path):
    _, X, y = wine
    chosen = RebelClassifier(n_rounds=5, cross_fit=2).fit(X, y)
    first, *others = chosen.cross_fit_.standings
    others = [each._replace(share=0.0, cost=0.3, n_parts=2) for each in others]
    early = first._replace(name="stumps", share=0.0, cost=0.01, n_parts=1)
    best = first._replace(name="<trees>", share=1.0, cost=0.1, n_parts=2)
    standings = (*others, early, best)
    chosen.cross_fit_ = replace(chosen.cross_fit_, standings=standings)
    page = reported(tmp_path, chosen, X, y)
    assert "How was the model selected?" in headings(page)
    text = Page(page).text
    assert "<trees> 100 % 10.0 %" in text
    assert text.index("<trees> 100 %") < text.index("trees of depth 6 – 30.0 %")
    # Its error on one fold cannot be compared with those on both.
    assert text.index("trees of depth 6 – 30.0 %") < text.index("stumps – dropped early")
    assert "; dropped early: stumps" in str(chosen.selection_)


def test_tags_are_balanced_and_ids_are_unique(priced, tmp_path):
    page = reported(tmp_path, *priced)
    found = [value for key, value in Page(page).attributes if key == "id"]
    assert len(found) == len(set(found)) > 5


def test_a_report_needs_nothing_from_outside(priced, tmp_path):
    page = reported(tmp_path, *priced)
    parsed = Page(page)
    assert not {"link", "img", "iframe", "object"} & set(parsed.tags)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(value for key, value in parsed.attributes if key == "content")
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert "url(" not in page
    assert {key for key, _ in parsed.attributes} & {"src", "srcset", "xlink:href", "data"} == set()
    assert all(value.startswith("#") for key, value in parsed.attributes if key == "href")


def test_a_static_report_has_no_script(priced, tmp_path):
    page = reported(tmp_path, *priced, static=True)
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert "Try a case" not in page
    policy = next(value for key, value in parsed.attributes if key == "content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_same_model_gives_the_same_bytes(priced, tmp_path):
    assert reported(tmp_path, *priced) == reported(tmp_path, *priced)


def test_a_report_is_small(priced, tmp_path):
    assert len(reported(tmp_path, *priced, static=True).encode()) < 300_000
    assert len(reported(tmp_path, *priced).encode()) < 2_000_000


def test_no_name_breaks_the_page(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=COLUMNS)
    X.insert(3, "kind", pd.Categorical(rng.choice([SCRIPT, "</table>"], 200)))
    X.index = pd.Index([f"</div>{i}" for i in range(200)])
    y = np.array(NAMES, dtype=object)[rng.integers(0, 3, 200)]
    clf = RebelClassifier(n_rounds=5, reject_cost=0.5, reject_label="<i>?").fit(X, y)
    summary = {
        "source": "</p><script>.csv",
        "target": "</section>",
        "form": "<form>",
        "notes": ["<b>note"],
        "ignored": {"<td>": "</tr>"},
    }
    given = {"title": f"</title>{SCRIPT}", "command": "rebel <train>", "data_summary": summary}
    page = reported(tmp_path, clf, X, y, **given)
    parsed = Page(page)
    assert parsed.tags.count("script") == 1  # our own, in which names are escaped
    assert page.count("</script>") == 1
    assert "img" not in parsed.tags
    assert not {"b", "i", "form"} & set(parsed.tags)
    assert all(text in parsed.text for text in (SCRIPT, COLUMNS[0], "rebel <train>", "<b>note"))


def test_a_report_says_where_its_figures_come_from(wine, tmp_path):
    clf, X, y = wine
    of_test = Page(reported(tmp_path, clf, X, y, evaluation=evaluate(clf, X, y, source="new.csv")))
    assert "samples: new.csv." in of_test.text
    stored = evaluate(clf, X, y, source=LEFT_OUT).to_dict()
    left_out = Page(reported(tmp_path, clf, X, y, evaluation=Evaluation.from_dict(stored)))
    assert "each sample is decided only by fits that did not see it" in left_out.text
    assert "The model was trained on these rows" in left_out.text


def test_a_row_that_the_whole_model_decides_otherwise_is_told(wine, tmp_path):
    clf, X, y = wine
    found = evaluate(clf, X, y, source=LEFT_OUT)
    flipped = found.judged._replace(decided=(found.judged.decided + 1) % 3)
    page = reported(tmp_path, clf, X, y, evaluation=replace(found, judged=flipped))
    assert page.count("This is the decision of the fits that did not see this row") == 10
    assert "The model was trained on these rows" not in page


def test_without_an_evaluation_nothing_is_claimed(wine, tmp_path):
    page = reported(tmp_path, *wine, evaluation=None)
    assert "The accuracy on new cases is unknown" in Page(page).text
    assert not {"How good is the model?", "Which mistakes does it make?"} & set(headings(page))
    assert "Ten decisions explained" in headings(page)


def test_an_evaluation_of_other_samples_is_refused(wine, tmp_path):
    clf, X, y = wine
    with pytest.raises(EvaluationError, match="of other samples"):
        reported(tmp_path, clf, X[:20], y[:20], evaluation=evaluate(clf, X, y))
    with pytest.raises(EvaluationError, match="of other samples"):
        reported(tmp_path, clf, X, y[::-1], evaluation=evaluate(clf, X, y))


def test_what_is_no_model_and_what_does_not_fit_is_refused(wine, tmp_path):
    clf, X, y = wine
    with pytest.raises(EvaluationError, match=f"X has {len(y)} samples, but y has 3 labels"):
        write_report(clf, X, y[:3], tmp_path / "r.html", evaluation=None)
    scaler = StandardScaler().fit(X)
    with pytest.raises(EvaluationError, match="StandardScaler is neither a classifier nor a regr"):
        write_report(scaler, X, y, tmp_path / "r.html", evaluation=None)
    assert not list(tmp_path.iterdir())


def test_confusion_is_shown_in_counts_and_money(priced, tmp_path):
    clf, X, y = priced
    page = reported(tmp_path, clf, X, y)
    (matrix, *_) = re.findall(r'<table class="matrix">.*?</table>', page)
    counts = evaluate(clf, X, y).confusion.counts
    cells = re.findall(r"<td.*?>([\d,.]+)(?:<small>|</td>)", matrix)
    np.testing.assert_array_equal(np.array(cells, float).reshape(3, 3), counts)
    assert "Small figures: total cost of these decisions" in page


def test_many_classes_and_columns_stay_readable(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(630, 600))
    y = np.tile(np.arange(63), 10)
    X[:, 0] += y
    clf = RebelClassifier("stump", n_rounds=20).fit(X, y)
    page = reported(tmp_path, clf, X, y)
    shown = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert shown.count("<tr>") < 150, "what is long is folded away"
    assert "Confusion matrix as a heat map" in page
    assert "All 600 columns" in page
    assert len(page.encode()) < 1_500_000
    Page(page)


def test_rows_are_called_as_the_user_does(wine, tmp_path):
    clf, X, y = wine
    frame = pl.DataFrame({name: X[name].to_numpy() for name in X.columns})
    names = [f"bottle {i}" for i in range(len(y))]
    page = reported(tmp_path, clf, frame, y, row_names=names)
    assert len(re.findall(r"Test row <span class=.name short.>bottle \d+<", page)) == 10


def test_abstentions_are_told(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = RebelClassifier(n_rounds=3, reject_cost=0.05, reject_label="ask").fit(X, y)
    text = Page(reported(tmp_path, clf, X, y)).text
    assert "the model will abstain on about" in text
    assert "always 'ask' (best constant decision)" in text


def test_rebel_subcosts_have_a_report_too(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = RebelClassifier("stump", costs={(0, 1): 3}, subcosts="rebel", n_rounds=5).fit(X, y)
    page = reported(tmp_path, clf, X, y)
    Page(page)
    assert "Are the probabilities reliable?" in headings(page)


def test_a_single_class_has_a_report_too(tmp_path):
    X, y = np.zeros((4, 1)), ["one"] * 4
    with pytest.warns(match="only one class"):
        clf = RebelClassifier().fit(X, y)
    Page(reported(tmp_path, clf, X, y))


def test_given_similarities_have_a_report_too(tmp_path):
    X, y = load_iris(return_X_y=True)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    clf = RebelClassifier(Similarity(metric="precomputed"), n_rounds=5).fit(distances, y)
    page = reported(tmp_path, clf, distances, y)
    assert "precomputed distances" in page


def test_unknown_classes_and_missing_values_are_told(wine, tmp_path):
    clf, X, y = wine
    X, y = X.copy(), y.astype(object)
    X.iloc[3, 0] = np.nan
    y[:2] = "cola"
    text = Page(reported(tmp_path, clf, X, y)).text
    assert "2 more samples have classes not in the training data (cola)" in text
    assert "1 column with missing values" in text


def test_the_bound_is_drawn_only_where_it_holds(wine, tmp_path):
    _, X, y = wine
    bounded = RebelClassifier("stump", n_rounds=20, cross_fit=None).fit(X, y)
    assert "bound of the loss" in reported(tmp_path, bounded, X, y)
    for record in bounded.history_.rounds:
        object.__setattr__(record, "rho", 0.87)
    assert "bound of the loss" not in reported(tmp_path, bounded, X, y)


def test_parts_of_a_blend_are_drawn_each(tmp_path):
    X, y = load_wine(return_X_y=True)
    clf = RebelClassifier("tree", cross_fit=3, n_rounds=10).fit(X, y)
    page = reported(tmp_path, clf, X, y)
    assert "3 fits, each on a part of the samples" in page
    assert page.count("line one thin") == 2 * 3


def test_two_classes_lead_with_mistakes_of_each_and_the_threshold(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["good", "good", "bad"])[y]
    clf = RebelClassifier("tree", costs={("bad", "good"): 9}, n_rounds=10).fit(X[::2], names[::2])
    found = evaluate(clf, X[1::2], names[1::2])
    counts = {
        c: dict(zip(found.confusion.classes, row, strict=True))
        for c, row in zip(found.confusion.classes, found.confusion.counts.tolist(), strict=True)
    }
    text = Page(reported(tmp_path, clf, X[1::2], names[1::2])).text
    assert f"Of 25 cases of “bad”, {counts['bad']['good']:g} were decided wrongly." in text
    assert f"Of 50 cases of “good”, {counts['good']['bad']:g} were decided wrongly." in text
    assert "“bad” is decided from a probability of 10.0 %." in text  # 1/(1 + 9)


def test_two_classes_have_the_figures_that_evaluate_prints(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["good", "good", "bad"])[y]
    clf = RebelClassifier("tree", n_rounds=3).fit(X[::2], names[::2])
    found = evaluate(clf, X[1::2], names[1::2])
    text = Page(reported(tmp_path, clf, X[1::2], names[1::2])).text
    assert f"AUC, area under the ROC curve ('bad' is positive) {found.auc:.3f}" in text
    of_class = zip(found.two_class.items(), ["bad", "good", "bad", "good"], strict=True)
    for (title, each), c in of_class:
        also = "precision" if "predictive" in title else "recall"
        assert f"{title} ({also} of '{c}') {percent(each.value)}" in text
