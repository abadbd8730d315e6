"""Curves of evaluations: ROC, lift, net benefit, savings by price."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from rebelboost import EvaluationError, RebelClassifier
from rebelboost.evaluation import Evaluation, evaluate
from rebelboost.evaluation.curves import THRESHOLDS, binary_curves
from rebelboost.evaluation.intervals import WeightedRows

COSTS = {("bad", "good"): 5.0}


FEW = np.array([0.1, 0.3, 0.6])


def curves_of(probability, y, weight=None, groups=None, thresholds=FEW):
    weight = np.ones(len(y)) if weight is None else weight
    sampling = WeightedRows(weight, groups)
    return binary_curves(probability, y.astype(bool), sampling, "yes", thresholds)


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0.5, "bad", "good")
    clf = RebelClassifier("stump", n_rounds=20, costs=COSTS, cross_fit=None, training="neutral")
    return clf.fit(X[:200], y[:200]), X[200:], y[200:]


@pytest.fixture(scope="module")
def evaluation(judged):
    return evaluate(*judged)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 120),
    decimals=st.sampled_from([1, 2, 16]),
    n_groups=st.sampled_from([0, 3, 20]),
)
def test_every_point_lies_in_its_interval(seed, n, decimals, n_groups):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2)))
    groups = rng.integers(0, n_groups, n) if n_groups else None
    found = curves_of(np.round(rng.random(n), decimals), y, rng.random(n) + 0.01, groups)
    for band in (found.roc, found.lift, found.net_benefit):
        # The sums are in another order in the interval than in the value.
        assert (band.low <= band.value + 1e-9).all()
        assert (band.value <= band.high + 1e-9).all()


def test_points_of_the_roc_curve_are_scikit_learns():
    rng = np.random.default_rng(0)
    y, probability = rng.integers(0, 2, 60), rng.random(60).round(2)
    found = curves_of(probability, y).roc
    alarms, hits, _ = roc_curve(y, probability, drop_intermediate=False)
    every = set(zip(alarms.tolist(), hits.tolist(), strict=True))
    # Sums in another order: 1e-12.
    for x, up in zip(found.x.tolist(), found.value.tolist(), strict=True):
        assert min(abs(x - a) + abs(up - h) for a, h in every) < 1e-12
    assert (found.x[0], found.value[0], found.x[-1], found.value[-1]) == (0, 0, 1, 1)


def test_net_benefit_is_what_its_definition_says():
    rng = np.random.default_rng(1)
    y, probability = rng.integers(0, 2, 80), rng.random(80).round(2)
    found = curves_of(probability, y, thresholds=THRESHOLDS)
    for t, value, of_all in zip(THRESHOLDS, found.net_benefit.value, found.treat_all, strict=True):
        called = probability >= t
        hits, alarms = np.sum(called & (y == 1)), np.sum(called & (y == 0))
        assert value == pytest.approx(hits / 80 - alarms / 80 * t / (1 - t))
        assert of_all == pytest.approx(y.mean() - (1 - y.mean()) * t / (1 - t))


def test_net_benefit_is_that_of_dcurves():
    dcurves = pytest.importorskip("dcurves")
    import pandas as pd

    rng = np.random.default_rng(2)
    for n, prevalence, digits in ((50, 0.5, 2), (400, 0.1, 16), (3000, 0.3, 3)):
        y = (rng.random(n) < prevalence).astype(int)
        probability = np.clip(0.2 * y + rng.random(n) * 0.8, 0, 1).round(digits)
        table = pd.DataFrame({"outcome": y, "model": probability})
        theirs = dcurves.dca(table, "outcome", ["model"], thresholds=THRESHOLDS)
        found = curves_of(probability, y, thresholds=THRESHOLDS)
        for name, ours in (("model", found.net_benefit.value), ("all", found.treat_all)):
            own = theirs[theirs["model"] == name].sort_values("threshold")["net_benefit"]
            np.testing.assert_allclose(ours, own, rtol=0, atol=1e-12)


def test_lift_is_the_share_of_the_class_among_the_highest_beside_that_among_all():
    y = np.array([1, 1, 0, 1, 0, 0, 0, 0])
    found = curves_of(np.linspace(0.9, 0.1, 8), y).lift
    assert found.x.tolist() == [i / 8 for i in range(1, 9)]
    expected = np.cumsum(y) / np.arange(1, 9) / (3 / 8)
    np.testing.assert_allclose(found.value, expected)


def test_intervals_of_net_benefit_contain_the_truth_in_95_of_100_cases():
    rng, n_trials, hits = np.random.default_rng(3), 100, np.zeros(3)

    def draw(n):
        y = rng.random(n) < 0.3
        odds = np.log(0.3 / 0.7) + 1.5 * (rng.normal(size=n) + 1.5 * y) - 1.125
        return 1 / (1 + np.exp(-odds)), y

    truth = curves_of(*draw(200_000)).net_benefit.value
    for _ in range(n_trials):
        band = curves_of(*draw(100)).net_benefit
        hits += (band.low <= truth) & (truth <= band.high)
    # 100 trials at 95 %: below 0.88 with a probability of 0.4 % only.
    assert (hits / n_trials >= 0.88).all()


# ---- prices


def test_at_the_present_price_the_savings_are_those_of_the_evaluation(evaluation):
    curve = evaluation.cost_curve("bad", "good")
    now = int(np.flatnonzero(curve.saving.x == 1)[0])
    assert curve.price == 5
    assert curve.cost[now] == pytest.approx(evaluation.cost.value)
    saved = evaluation.constant_cost - evaluation.cost.value
    assert curve.saving.value[now] == pytest.approx(saved)


def test_the_model_decides_by_each_price_and_pays_it(judged, evaluation):
    clf, X, y = judged
    curve = evaluation.cost_curve("bad", "good")
    for place in (0, 7, 33, 40):
        price = 5 * curve.saving.x[place]
        other = evaluate(clf.with_costs({("bad", "good"): price, ("good", "bad"): 1.0}), X, y)
        assert curve.cost[place] == pytest.approx(other.cost.value)
        assert curve.constants[place] == other.confusion.constant
        assert curve.saving.value[place] == pytest.approx(other.constant_cost - other.cost.value)


def test_costs_by_row_and_abstentions_have_a_cost_curve(judged):
    clf, X, y = judged
    own = np.abs(X[:, :1]) * np.array([[0.0, 1.0]]) + np.array([[0.5, 0.0]])
    rows = np.where((y == "bad")[:, np.newaxis], [0.0, 5.0], own)
    assert evaluate(clf, X, y, costs=rows).cost_curve() is not None
    careful = evaluate(clf.with_abstentions(0.2, X), X, y)
    curve = careful.cost_curve("bad", "good")
    now = int(np.flatnonzero(curve.saving.x == 1)[0])
    assert curve.cost[now] == pytest.approx(careful.cost.value)
    assert (curve.saving.low <= curve.saving.value + 1e-9).all()


def test_a_price_of_classes_that_are_not_there_is_refused(evaluation):
    with pytest.raises(EvaluationError, match="no price of deciding 'ugly' for 'bad'"):
        evaluation.cost_curve("bad", "ugly")
    with pytest.raises(EvaluationError, match="no price"):
        evaluation.cost_curve("bad", "bad")


def test_curves_are_plain_json_and_an_evaluation_from_a_file_has_none(evaluation):
    told = evaluation.to_dict()
    again = Evaluation.from_dict(json.loads(json.dumps(told)))
    assert again.binary == evaluation.binary
    assert again.curves() is None
    assert again.cost_curve() is None
    json.dumps([evaluation.curves().to_dict(), evaluation.cost_curve().to_dict()], allow_nan=False)
    del told["binary"]  # as in files of earlier versions
    assert Evaluation.from_dict(told).auc is None
