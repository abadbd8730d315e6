"""Figures on unseen samples: what they count, and how sure they are."""

import json
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, log_loss
from sklearn.preprocessing import StandardScaler

from rebelboost import EvaluationError, RebelClassifier, RebelRegressor
from rebelboost.evaluation.calibration import FEWEST_IN_BIN, calibration
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.figures import LEFT_OUT
from rebelboost.evaluation.intervals import WeightedRows, effective_number, share
from rebelboost.evaluation.result import Evaluation
from rebelboost.metrics import mean_cost

COSTS = {("bad", "good"): 5.0}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    return X, np.where(X[:, 0] + rng.normal(size=400) > 0.5, "bad", "good")


@pytest.fixture(scope="module")
def classifier(table):
    X, y = table
    clf = RebelClassifier("stump", n_rounds=20, costs=COSTS, cross_fit=None, training="neutral")
    return clf.fit(X[:200], y[:200])


@pytest.fixture(scope="module")
def unseen(table):
    X, y = table
    return X[200:], y[200:]


@pytest.fixture(scope="module")
def evaluation(classifier, unseen):
    return evaluate(classifier, *unseen)


# ---- intervals


@given(st.integers(0, 50), st.integers(1, 50))
def test_a_share_lies_in_its_interval_and_the_interval_between_0_and_1(right, more):
    found = share(right, right + more, right + more)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_wilsons_interval_is_as_published():
    # Newcombe 1998, Table I, method 3: 81 of 263, and 0 of 20.
    assert share(81, 263, 263) == pytest.approx((81 / 263, 0.2553, 0.3662), abs=5e-5)
    assert share(0, 20, 20) == pytest.approx((0, 0, 0.1611), abs=5e-5)


def test_unequal_weights_count_as_fewer_samples():
    assert effective_number(np.ones(10)) == 10
    assert effective_number(np.array([1, 1e-9])) == pytest.approx(1)


def test_the_unit_of_weights_changes_no_number_of_samples():
    rng = np.random.default_rng(0)
    hits, weight = (rng.random(60) < 0.8).astype(float), rng.exponential(size=60)
    for groups in (None, np.repeat(np.arange(12), 5)):
        once, often = (WeightedRows(unit * weight, groups).share_number(hits) for unit in (1, 1000))
        assert once == pytest.approx(often, rel=1e-9)


# ---- calibration


def test_a_calibrated_model_has_a_small_calibration_error_and_an_overconfident_one_a_large():
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1, 1, 1], size=20_000)
    true = (rng.random((20_000, 1)) > P.cumsum(axis=1)).sum(axis=1).astype(np.int32)
    sharp = P**3 / (P**3).sum(axis=1, keepdims=True)
    # Ten bins of 2,000: the mean distance by chance is about 0.8·√(¼/2000) < 0.01.
    assert calibration(P, true).error < 0.012
    assert calibration(sharp, true).error > 0.1


def test_every_sample_is_in_one_bin_and_equal_probabilities_stay_together():
    top = np.repeat([0.6, 0.7, 0.9], [3 * FEWEST_IN_BIN, FEWEST_IN_BIN, 2 * FEWEST_IN_BIN])
    found = calibration(np.stack([top, 1 - top], axis=1), np.zeros(len(top), dtype=np.int32))
    assert sum(each.n for each in found.bins) == len(top)
    assert [each.confidence for each in found.bins] == pytest.approx([0.6, 0.7, 0.9])


def test_few_samples_make_one_bin():
    P = np.array([[0.9, 0.1], [0.6, 0.4]])
    (only,) = calibration(P, np.array([0, 1], dtype=np.int32)).bins
    assert (only.n, only.right.value, only.confidence) == (2, 0.5, pytest.approx(0.75))


# ---- evaluations


def test_figures_agree_with_scikit_learn_and_with_metrics(classifier, unseen, evaluation):
    X, y = unseen
    decided = classifier.predict(X)
    assert evaluation.n == len(y)
    assert evaluation.accuracy.value == pytest.approx(accuracy_score(y, decided))
    assert evaluation.cost.value == pytest.approx(mean_cost(y, decided, COSTS))
    assert evaluation.log_loss == pytest.approx(log_loss(y, classifier.predict_proba(X)))
    np.testing.assert_array_equal(evaluation.judged.posterior, classifier.predict_proba(X))


def test_the_constants_are_what_they_would_have_cost(unseen, evaluation):
    _, y = unseen
    bad = np.mean(y == "bad")
    assert evaluation.confusion.constant == "bad"
    assert evaluation.constant_cost == pytest.approx(1 - bad)
    assert evaluation.commonest == "good"
    assert evaluation.commonest_share == pytest.approx(1 - bad)
    assert evaluation.commonest_cost == pytest.approx(5 * bad)


def test_a_doubled_weight_has_the_figures_of_a_doubled_sample(classifier, unseen):
    X, y = unseen
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    by_weight = evaluate(classifier, X, y, sample_weight=weight)
    by_copies = evaluate(classifier, X[twice], y[twice])
    for name in ("log_loss", "shares_log_loss", "constant_cost"):
        assert getattr(by_weight, name) == pytest.approx(getattr(by_copies, name))
    assert by_weight.cost.value == pytest.approx(by_copies.cost.value)
    assert by_weight.accuracy.value == pytest.approx(by_copies.accuracy.value)
    assert by_weight.accuracy.high > by_copies.accuracy.high, "copies would say more than there is"


def test_samples_without_weight_are_left_out(classifier, unseen):
    X, y = unseen
    weight = np.arange(len(y)) < 50
    some = evaluate(classifier, X, y, sample_weight=weight)
    assert some.to_dict() == evaluate(classifier, X[:50], y[:50]).to_dict()


def test_abstentions_are_counted_apart_and_cost_what_they_cost(classifier, unseen):
    X, y = unseen
    careful = copy(classifier).set_params(reject_cost=0.4, reject_label="?")
    decided = careful.predict(X)
    found = evaluate(careful, X, y)
    assert 0 < found.n_rejected == np.sum(decided == "?") < len(y)
    assert found.accuracy.value == pytest.approx(np.mean((decided == y)[decided != "?"]))
    paid = mean_cost(y, decided, COSTS, reject_cost=0.4, reject_label="?")
    assert found.cost.value == pytest.approx(paid)
    assert "abstained" in found.text()
    assert found.judged.decided.max() == 2


def test_one_who_always_abstains_has_no_accuracy(classifier, unseen):
    X, y = unseen
    careful = copy(classifier).set_params(reject_cost=0.0, reject_label="?")
    found = evaluate(careful, X, y)
    assert np.isnan(found.accuracy.value)
    assert found.to_dict()["accuracy"] == {"value": None, "low": 0.0, "high": 1.0}
    assert np.isnan(Evaluation.from_dict(found.to_dict()).accuracy.value)


def test_unknown_classes_are_counted_apart(classifier, unseen, evaluation):
    X, y = unseen
    more = np.concatenate([y.astype(object), ["ugly"] * 20])
    found = evaluate(classifier, np.concatenate([X, X[:20]]), more)
    assert found.unknown == {"ugly": 20}
    assert {**found.to_dict(), "unknown": []} == evaluation.to_dict()
    right = evaluation.accuracy.value * len(y)
    assert found.accuracy_with_unknown == pytest.approx(right / (len(y) + 20))
    assert "20 more samples have classes not in the training data (ugly)" in found.text()


def test_labels_that_are_printed_alike_are_the_same_class(table):
    X, y = table
    clf = RebelClassifier("stump", n_rounds=5).fit(X, (y == "bad").astype(int))
    by_text = evaluate(clf, X, np.where(y == "bad", "1", "0"))
    assert by_text.to_dict() == evaluate(clf, X, (y == "bad").astype(float)).to_dict()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["good", "ugly"], "X has 200 samples, but y has 2 labels"),
        (
            ["ugly"] * 200,
            "none of the classes ugly is in the training data: the model's classes are bad, good",
        ),
        ([None] + ["good"] * 199, "row 0 of y has no label: remove rows without a label"),
        ([float("nan")] * 200, "row 0 of y has no label"),
    ],
)
def test_labels_that_cannot_be_judged_are_refused(classifier, unseen, y, message):
    with pytest.raises(EvaluationError, match=message):
        evaluate(classifier, unseen[0], np.array(y, dtype=object))


def test_weights_that_do_not_fit_are_refused(classifier, unseen):
    with pytest.raises(EvaluationError, match=r"sample_weight has shape \(3,\): give \(200,\)"):
        evaluate(classifier, *unseen, sample_weight=[1, 2, 3])
    with pytest.raises(EvaluationError, match="finite, 0 or more"):
        evaluate(classifier, *unseen, sample_weight=-np.ones(200))


@pytest.fixture(scope="module")
def regressor(table):
    X, _ = table
    return RebelRegressor("stump", n_rounds=5, cross_fit=3).fit(X, 10 * X[:, 0])


def test_a_row_of_weight_2_counts_in_errors_of_numbers_as_the_row_twice(regressor, unseen):
    X, y = unseen[0], 10 * unseen[0][:, 0] + 1
    twice = np.repeat(np.arange(len(y)), np.where(y > 0, 2, 1))
    weighted = evaluate(regressor, X, y, sample_weight=np.where(y > 0, 2.0, 1.0))
    repeated = evaluate(regressor, X[twice], y[twice])
    for figure in ("squared", "explained", "constant_error", "coverage"):
        assert getattr(weighted, figure) == pytest.approx(getattr(repeated, figure), rel=1e-12)
    assert weighted.error.value == pytest.approx(repeated.error.value, rel=1e-12)
    # A repeated row is no second observation, so weights give the wider interval.
    assert weighted.error.high > repeated.error.high


def test_costs_of_numbers_and_other_objects_are_refused(regressor, table):
    X, _ = table
    with pytest.raises(EvaluationError, match="costs are for classes: leave it out"):
        evaluate(regressor, X, X[:, 0], costs=np.ones((400, 2)))
    with pytest.raises(EvaluationError, match="positive is for classes"):
        left_out(regressor, X[:, 0], positive="bad")
    with pytest.raises(EvaluationError, match="X has 400 samples, but y has 3 numbers"):
        evaluate(regressor, X, X[:3, 0])
    with pytest.raises(EvaluationError, match="StandardScaler is neither a classifier nor"):
        evaluate(StandardScaler(), X, X[:, 0])


def test_scores_of_rebel_subcosts_have_a_log_loss(table):
    X, y = table
    clf = RebelClassifier("stump", n_rounds=5, costs=COSTS, subcosts="rebel").fit(X, y)
    found = evaluate(clf, X, y)
    assert found.log_loss > 0
    assert found.calibration is not None


def test_a_single_class_is_always_right():
    X, y = np.zeros((4, 1)), ["one"] * 4
    with pytest.warns(match="only one class"):
        clf = RebelClassifier().fit(X, y)
    found = evaluate(clf, X, y)
    assert (found.accuracy.value, found.cost.value, found.calibration) == (1, 0, None)


def test_figures_survive_json(evaluation):
    stored = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert Evaluation.from_dict(stored).to_dict() == evaluation.to_dict()
    assert Evaluation.from_dict(stored).text() == evaluation.text()


def test_the_text_has_the_figures_and_their_source(classifier, unseen):
    text = evaluate(classifier, *unseen, source="test.csv").text()
    for part in ("200 samples: test.csv", "accuracy", "mean cost", "always 'bad'", "decided as"):
        assert part in text


# ---- left-out samples


@dataclass(frozen=True)
class LeftOut:
    """What `CrossFit` keeps of the samples that its parts had left out."""

    left_out: np.ndarray
    rows: np.ndarray


def test_left_out_samples_are_judged_by_the_scores_of_those_who_left_them_out(
    classifier, table, unseen
):
    X, y = table
    clf = copy(classifier)
    rows = np.arange(399, 199, -1)
    clf.cross_fit_ = LeftOut(clf.ensemble_.scores(X[rows]), rows)
    found = left_out(clf, y)
    assert found.source == LEFT_OUT
    assert found.is_left_out
    by_table = replace(evaluate(clf, X[rows], y[rows]), source=LEFT_OUT)
    assert found.to_dict() == by_table.to_dict()
    np.testing.assert_array_equal(found.judged.rows, rows)
    with pytest.raises(EvaluationError, match="fitted to at least 400"):
        left_out(clf, y[:399])


def test_without_a_cross_fit_nothing_was_left_out(classifier, table):
    assert left_out(classifier, table[1][:200]) is None


def test_left_out_refuses_costs_by_sample_that_it_cannot_know():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=200), "amount": rng.uniform(1, 100, 200)})
    y = np.where(X["x"] + rng.normal(size=200) > 0, "bad", "good")
    clf = RebelClassifier("tree", n_rounds=20, costs={("bad", "good"): "amount"}).fit(X, y)
    with pytest.raises(EvaluationError, match=r"give left_out the table .* as X, or .* as costs"):
        left_out(clf, y)
    given = np.zeros((200, 2, 2))
    given[:, 0, 1], given[:, 1, 0] = X["amount"], 1
    assert left_out(clf, y, X=X).cost == left_out(clf, y, costs=given).cost
    own = RebelClassifier("tree", n_rounds=20).fit(
        X, y, costs=given[np.arange(200), (y == "good") * 1]
    )
    with pytest.raises(EvaluationError, match="differ from sample to sample"):
        left_out(own, y)


# ---- the positive class


def test_the_positive_class_is_the_rarer_one_or_the_one_that_costs_more_to_miss(table):
    X, y = table
    names = np.where(y == "bad", "ja", "nein")  # "bad" is rarer, and first in sorted order
    plain = RebelClassifier("stump", n_rounds=10).fit(X, names)
    assert evaluate(plain, X, names).positive == "ja"
    dear = RebelClassifier("stump", n_rounds=10, costs={("nein", "ja"): 5}).fit(X, names)
    assert evaluate(dear, X, names).positive == "nein"
    assert evaluate(dear, X, names, positive="ja").positive == "ja"
    dear.metadata_ = {"positive": "ja"}
    assert evaluate(dear, X, names).positive == "ja"


def test_every_figure_on_two_classes_is_about_the_same_class(classifier, unseen):
    X, y = unseen
    decided = classifier.predict(X)
    for name, other in (("bad", "good"), ("good", "bad")):
        found = evaluate(classifier, X, y, positive=name)
        two = found.two_class
        assert two["sensitivity"].value == pytest.approx(np.mean(decided[y == name] == name))
        assert two["specificity"].value == pytest.approx(np.mean(decided[y == other] == other))
        assert two["positive predictive value"].value == pytest.approx(
            np.mean(y[decided == name] == name)
        )
        assert found.calibration.of_class == name
        assert f"AUC, area under the ROC curve ('{name}' is positive)" in found.text()
        assert f"calibration error (probability of '{name}')" in found.text()
        assert Evaluation.from_dict(found.to_dict()).text() == found.text()


def test_a_positive_class_that_is_none_is_refused(classifier, unseen):
    with pytest.raises(ValueError, match="positive='ugly' is not a class: choose from bad, good"):
        evaluate(classifier, *unseen, positive="ugly")
