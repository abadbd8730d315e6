"""Ranges of prices, against brute force: the decision holds inside, and changes outside."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost import RebelClassifier
from rebelboost.base.findings import as_json
from rebelboost.costs import prices
from rebelboost.costs.prices import price_ranges
from rebelboost.evaluation import Evaluation, evaluate


def drawn(seed, n_classes, *, rejects):
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(n_classes, 0.7), 6)
    costs = rng.exponential(size=(n_classes, n_classes)) * rng.choice(
        [1, 10], (n_classes, n_classes)
    )
    np.fill_diagonal(costs, 0)
    return posterior, costs, float(rng.exponential()) if rejects else None


def decided(posterior, costs, reject_cost):
    risks = posterior @ costs
    found = risks.argmin(axis=1)
    return (
        found
        if reject_cost is None
        else np.where(risks.min(axis=1) > reject_cost, len(costs), found)
    )


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans())
def test_a_decision_holds_within_the_range_of_each_price_and_not_beyond(seed, n_classes, rejects):
    posterior, costs, reject_cost = drawn(seed, n_classes, rejects=rejects)
    before = decided(posterior, costs, reject_cost)
    found = price_ranges(posterior, costs, before, reject_cost)
    for a in range(n_classes):
        for b in range(n_classes):
            if a == b:
                assert np.isnan(found.low[:, a, b]).all()
                continue
            for n in range(len(posterior)):
                low, high = found.low[n, a, b], found.high[n, a, b]
                inside = [low * 1.0001 + 1e-9, min(high, 1e4) * 0.9999]
                outside = [low * 0.999] if low > 1e-6 else []
                outside += [high * 1.001] if np.isfinite(high) else []
                for price in inside if low < high * 0.999 else []:
                    assert changed(posterior[[n]], costs, a, b, price, reject_cost) == before[n]
                for price in outside:
                    assert changed(posterior[[n]], costs, a, b, price, reject_cost) != before[n]


def changed(posterior, costs, a, b, price, reject_cost):
    other = costs.copy()
    other[a, b] = price
    return decided(posterior, other, reject_cost)[0]


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_price_of_abstaining_has_a_range_too(seed, n_classes):
    posterior, costs, reject_cost = drawn(seed, n_classes, rejects=True)
    before = decided(posterior, costs, reject_cost)
    low, high = price_ranges(posterior, costs, before, reject_cost).abstaining.T
    for n in range(len(posterior)):
        assert decided(posterior[[n]], costs, low[n] * 1.001 + 1e-12)[0] == before[n] or low[n] == 0
        if np.isfinite(high[n]):
            assert decided(posterior[[n]], costs, high[n] * 0.999)[0] == before[n]
            assert decided(posterior[[n]], costs, high[n] * 1.001)[0] != before[n]


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.array(["a", "b", "c"])[(X @ [[1, 0, 1], [0, 1, 0], [0, 0, 1]]).argmax(axis=1)]
    return RebelClassifier("tree", n_rounds=20, costs={("a", "b"): 3}).fit(X, y), X


def test_ranges_of_a_classifier_are_those_at_which_other_costs_change_its_decisions(classifier):
    clf, X = classifier
    found, before = clf.price_ranges(X), clf.predict(X)
    for price in (0.5, 2, 5, 20):
        after = clf.with_costs({("a", "b"): price}).predict(X)
        held = (found.low[:, 0, 1] < price) & (price < found.high[:, 0, 1])
        assert np.array_equal(after == before, held)
    share = found.flipped(clf.costs_, 20 / 3)[0, 1]
    assert share == pytest.approx(np.mean(clf.with_costs({("a", "b"): 20}).predict(X) != before))


def test_ranges_of_a_rule_that_ignores_prices_are_refused(classifier):
    _, X = classifier
    argmax = RebelClassifier("stump", n_rounds=3, decision="argmax").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match='ranges need decision="min_risk"'):
        argmax.price_ranges(X)


@pytest.mark.parametrize("abstains", [False, True])
def test_an_evaluation_counts_the_decisions_that_a_price_changes(classifier, abstains):
    clf, X = classifier
    if abstains:  # above a fixed level: a budget would be met anew at other costs
        level = clf.with_abstentions(0.2, X).model_.reject_level
        clf = copy.copy(clf).set_params(reject_cost=level, reject_label="abstain")
    y, before = clf.classes_[np.arange(len(X)) % 3], clf.predict(X)
    found = evaluate(clf, X, y)
    assert len(found.price_changes) == 6
    for each in found.price_changes:
        cell = (clf.classes_[each.true], clf.classes_[each.decided])
        for factor, share in ((0.5, each.halved), (2, each.doubled)):
            after = clf.with_costs({cell: factor * each.price}).predict(X)
            assert share == pytest.approx(np.mean(after != before))
    largest = [max(each.halved, each.doubled) for each in found.price_changes]
    assert largest == sorted(largest, reverse=True)
    assert largest[0] > 0
    assert "Decisions that change with a price" in str(found)
    again = Evaluation.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.price_changes == found.price_changes


def test_rows_in_parts_are_counted_like_rows_at_once(classifier, monkeypatch):
    clf, X = classifier
    y, rng = clf.predict(X), np.random.default_rng(0)
    costs, weight = rng.uniform(0.5, 2, (len(X), 3)), rng.uniform(0.5, 2, len(X))
    whole = evaluate(clf, X, y, costs=costs, sample_weight=weight).price_changes
    monkeypatch.setattr(prices, "AT_ONCE", 100)
    parts = evaluate(clf, X, y, costs=costs, sample_weight=weight).price_changes
    assert np.array(parts) == pytest.approx(np.array(whole))


def test_an_explanation_has_the_ranges_of_its_decision(classifier):
    clf, X = classifier
    careful, found = clf.with_abstentions(0.5, X), clf.price_ranges(X[:5])
    for n, why in enumerate(clf.explain(X[:5])):
        assert np.array_equal(why.prices.low, found.low[n], equal_nan=True)
        assert np.array_equal(why.prices.high, found.high[n], equal_nan=True)
        assert "Prices over which this decision holds" in str(why)
        table = as_json(why.document())["prices"]
        assert [(a, b) for a, b in zip(table["true"], table["decided"], strict=True)] == [
            (a, b) for a in "abc" for b in "abc" if a != b
        ]
        assert all(
            low <= price <= (np.inf if high is None else high)
            for low, price, high in zip(table["low"], table["price"], table["high"], strict=True)
        )
    abstained = np.flatnonzero(careful.predict(X) == "abstain")[0]
    low, high = careful.explain(X[[abstained]])[0].prices.abstaining
    assert low == 0
    assert high == pytest.approx(careful.expected_cost(X[[abstained]]).min())


def test_prices_are_not_in_explanations_of_decisions_that_ignore_them(classifier):
    _, X = classifier
    argmax = RebelClassifier("stump", n_rounds=3, decision="argmax").fit(X, X[:, 0] > 0)
    assert argmax.explain(X[:1])[0].prices is None
    assert evaluate(argmax, X, X[:, 0] > 0).price_changes == ()
    equal = RebelClassifier("stump", n_rounds=3).fit(X, X[:, 0] > 0)
    assert "Prices" not in str(equal.explain(X[:1])[0])
