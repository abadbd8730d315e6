"""Certificates, abstentions with a budget and other priors, as users call them."""

import json

import numpy as np
import pytest

from rebelboost import RebelClassifier, load
from rebelboost.metrics import mean_cost

COSTS = {("ill", "well"): 10}


def table(n, seed=0, ill=0.3):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < ill, "ill", "well")
    return rng.normal(size=(n, 3)) + (y == "ill")[:, np.newaxis] * [1.5, 0.5, 0], y


@pytest.fixture(scope="module")
def clf():
    return RebelClassifier("tree", n_rounds=30, costs=COSTS).fit(*table(400))


@pytest.fixture(scope="module")
def unseen():
    return table(1000, seed=1)


def test_a_certificate_bounds_the_cost_of_the_decisions_and_of_each_class(clf, unseen):
    X, y = unseen
    found = clf.certify(X, y)
    assert found.cost == pytest.approx(mean_cost(y, clf.predict(X), clf.costs_))
    assert found.cost < found.bound < 10
    assert [part.of for part in found.parts] == ["true class ill", "true class well"]
    assert sum(part.n for part in found.parts) == 1000
    assert all(part.cost < part.bound for part in found.parts)
    assert found.parts[1].bound < 1 < found.greatest == 10  # taking the well for ill costs 1
    assert found.bound < clf.certify(X, y, confidence=0.99).bound


def test_a_certificate_is_written_in_words_and_as_json(clf, unseen):
    found = clf.certify(*unseen, at_most=0.05, by=np.where(unseen[0][:, 2] > 0, "north", "south"))
    text = str(found)
    assert "With 95.0 % confidence, a decision costs at most" in text
    assert "is not proven: the mean cost on these rows is too close to it, or above it" in text
    assert "rows of north" in text
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["bound"] == found.bound
    assert len(stored["parts"]) == 4
    # The bound as it is read is not below the bound.
    assert float(text.split("at most ")[1].split(" ", maxsplit=1)[0]) >= found.bound


def test_a_cost_that_is_almost_proven_says_how_many_rows_are_missing(clf, unseen):
    X, y = unseen
    few = clf.certify(X[:150], y[:150])
    at_most = (few.cost + few.bound) / 2
    found = clf.certify(X[:150], y[:150], at_most=at_most)
    assert not found.holds
    assert found.needed > 150
    assert "more rows like these, it would be" in str(found)
    assert clf.certify(X, y, at_most=5).holds


def test_rows_in_groups_give_a_wider_bound(clf, unseen):
    X, y = unseen
    grouped = clf.certify(X, y, groups=np.arange(1000) // 50)
    assert grouped.total.n_units == 20
    assert grouped.bound > clf.certify(X, y).bound
    assert "1,000 rows in 20 groups" in str(grouped)
    assert "none of which may be larger than the largest of these" in str(grouped)
    assert "counts groups" not in str(clf.certify(X, y))


def test_costs_by_row_need_a_greatest_cost_or_say_what_they_assume(clf, unseen):
    X, y = unseen
    own = np.random.default_rng(0).exponential(size=(1000, 2))
    assert "the bound holds if no new row costs more" in str(clf.certify(X, y, costs=own))
    assert "costs more" not in str(clf.certify(X, y, costs=own, largest_cost=20))
    with pytest.raises(ValueError, match=r"largest_cost is 0\.1, but a decision here costs"):
        clf.certify(X, y, costs=own, largest_cost=0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"confidence": 1}, "confidence is 1: give a probability from 0.5 to below 1"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\): give \(1000,\)"),
        ({"sample_weight": -np.ones(1000)}, "finite, 0 or more, and not 0 everywhere"),
    ],
)
def test_what_cannot_be_certified_is_refused(clf, unseen, given, message):
    with pytest.raises(ValueError, match=message):
        clf.certify(*unseen, **given)


# ---- choosing a rule


def test_the_rule_with_fewest_abstentions_is_chosen_among_those_that_are_proven(clf, unseen):
    chosen = clf.choose_rule(*unseen, [0.0, 0.2, 0.5], at_most=10.0)
    assert chosen.name == "abstain on 0 %"
    assert chosen.certificate.n_rules == 3
    assert "chosen among 3" in str(chosen.certificate)


def test_bounds_allow_for_the_number_of_rules(clf, unseen):
    alone = clf.certify(*unseen).bound
    chosen = clf.choose_rule(
        *unseen, {"as it is": clf, "dear": clf.with_costs({("well", "ill"): 3})}
    )
    assert chosen.certificates["as it is"].bound > alone
    # Both are charged at the costs of the classifier, not at those by which they decide.
    assert chosen.certificates["dear"].cost == pytest.approx(
        mean_cost(unseen[1], clf.with_costs({("well", "ill"): 3}).predict(unseen[0]), clf.costs_)
    )


def test_rules_of_other_classes_are_refused(clf, unseen):
    X, y = unseen
    other = RebelClassifier("stump", n_rounds=2).fit(X, y == "ill")
    with pytest.raises(ValueError, match="rule 'other' has other classes"):
        clf.choose_rule(X, y, {"other": other})


# ---- abstaining


@pytest.mark.parametrize("budget", [0.0, 0.1, 0.5, 1.0])
def test_no_more_rows_than_the_budget_allows_are_abstained_on(clf, unseen, budget):
    X, _ = unseen
    chosen = clf.with_abstentions(budget, X)
    abstained = chosen.predict(X) == "abstain"
    assert abstained.mean() <= budget
    assert abstained.mean() >= min(budget, 1) - 0.02  # rows with the same cost are decided alike
    least = clf.expected_cost(X).min(axis=1)
    if 0 < budget < 1:
        assert least[abstained].min() >= least[~abstained].max()


def test_without_rows_the_budget_is_met_on_those_that_training_left_out():
    X, _ = table(2000, seed=5)
    many = RebelClassifier("tree", n_rounds=30, costs=COSTS).fit(*table(1500))
    share = np.mean(many.with_abstentions(0.2).predict(X) == "abstain")
    # Three standard deviations of the difference of two shares, of 1,500 and 2,000 rows.
    assert share == pytest.approx(0.2, abs=3 * np.sqrt(0.2 * 0.8 * (1 / 1500 + 1 / 2000)))


def test_a_budget_without_rows_that_nobody_has_left_out_is_refused():
    X, y = table(50)
    alone = RebelClassifier("stump", n_rounds=3).fit(X, y)
    with pytest.raises(ValueError, match="give X, rows such as those to come"):
        alone.with_abstentions(0.2)
    with pytest.raises(ValueError, match="budget is 2: give a share of the rows"):
        alone.with_abstentions(2, X)


# ---- priors


def test_probabilities_follow_the_priors_by_bayes_rule(clf, unseen):
    X, _ = unseen
    before, after = (
        clf.predict_proba(X),
        clf.with_priors({"ill": 0.05, "well": 0.95}).predict_proba(X),
    )
    trained = clf.class_weight_ / clf.class_weight_.sum()
    expected = before * np.array([0.05, 0.95]) / trained
    assert after == pytest.approx(expected / expected.sum(axis=1, keepdims=True), rel=1e-12)
    assert clf.with_priors(trained).predict_proba(X) == pytest.approx(before, abs=1e-12)


def test_decisions_follow_the_priors_also_where_all_mistakes_cost_the_same(unseen):
    X, _ = unseen
    clf = RebelClassifier("tree", n_rounds=30).fit(*table(400))
    rare = clf.with_priors([0.01, 0.99])
    assert np.array_equal(rare.predict(X), clf.classes_[rare.predict_proba(X).argmax(axis=1)])
    assert np.mean(rare.predict(X) == "ill") < np.mean(clf.predict(X) == "ill")


def test_estimated_priors_are_near_the_true_ones_and_lower_the_cost(clf):
    X, y = table(3000, seed=7, ill=0.05)
    found = clf.with_priors("estimate", X)
    share = found.predict_proba(X)[:, 0].mean()
    assert share == pytest.approx(0.05, abs=0.03)
    before = mean_cost(y, clf.predict(X), clf.costs_)
    assert mean_cost(y, found.predict(X), clf.costs_) < before


def test_priors_are_saved_with_the_model(clf, unseen, tmp_path):
    changed = clf.with_priors([0.1, 0.9])
    changed.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert np.array_equal(again.predict_proba(unseen[0]), changed.predict_proba(unseen[0]))


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"ill": 0.1}, "priors lack well: give a frequency for every class"),
        ({"ill": 0.1, "dead": 0.9}, "priors name 'dead': the classes are"),
        ([0.1, 0.2, 0.7], "give one for each of 2 classes"),
        ([0.0, 1.0], "give finite numbers above 0"),
        ("guess", 'or "estimate"'),
        ("estimate", "needs rows such as those to come"),
    ],
)
def test_priors_that_cannot_be_meant_are_refused(clf, priors, message):
    with pytest.raises(ValueError, match=message):
        clf.with_priors(priors)


# ---- a budget of abstentions


def test_a_budget_of_the_estimator_is_met_on_the_rows_that_were_left_out(clf):
    X, y = table(400)
    same = RebelClassifier("tree", n_rounds=30, costs=COSTS, reject_budget=0.2).fit(X, y)
    found = same.abstentions()
    assert 0.17 <= found.share <= 0.2
    assert np.array_equal(same.predict(X), clf.with_abstentions(0.2).predict(X))
    assert set(same.predict(X)) == {"ill", "well", "abstain"}


def test_without_a_price_abstentions_are_charged_nothing_and_with_one_its_price(clf, unseen):
    free = clf.with_abstentions(0.3, unseen[0])
    assert "An abstention is charged with nothing." in str(free.certify(*unseen))
    X, y = table(400)
    priced = RebelClassifier(
        "tree", n_rounds=30, costs=COSTS, reject_cost=0.1, reject_label="?", reject_budget=0.3
    ).fit(X, y)
    assert "An abstention is charged with 0.1." in str(priced.certify(*unseen))
    decided = priced.predict(unseen[0])
    paid = mean_cost(unseen[1], decided, priced.costs_, reject_cost=0.1, reject_label="?")
    assert priced.certify(*unseen).cost == pytest.approx(paid)
    # It abstains only where a decision is expected to cost more than a person's.
    least = priced.expected_cost(unseen[0]).min(axis=1)
    assert (least[decided == "?"] > 0.1).all()
    assert np.mean(decided == "?") <= 0.35


def test_what_abstaining_saves_is_the_expected_cost_of_the_rows_less_the_price(clf, unseen):
    X, _ = unseen
    careful = clf.with_abstentions(0.1, X)
    found = careful.abstentions(X)
    least = clf.expected_cost(X).min(axis=1)
    abstained = careful.predict(X) == "abstain"
    assert np.array_equal(np.sort(found.rows), np.flatnonzero(abstained))
    assert (np.diff(least[found.rows]) <= 0).all()
    assert found.saved == pytest.approx(least[abstained].sum() / len(X))
    assert "abstains on 10.0 % of the rows" in str(found)
    assert str(clf.abstentions(X)) == "The model abstains on none of these rows."


def test_a_budget_is_saved_with_the_model(clf, unseen, tmp_path):
    careful = clf.with_abstentions(0.1)
    careful.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.reject_budget == 0.1
    assert np.array_equal(again.predict(unseen[0]), careful.predict(unseen[0]))


def test_a_budget_follows_other_costs_and_priors(clf):
    careful = clf.with_abstentions(0.2)
    for other in (careful.with_costs({("ill", "well"): 50}), careful.with_priors([0.1, 0.9])):
        assert 0.17 <= other.abstentions().share <= 0.2


def test_a_budget_needs_rows_that_the_fit_left_out():
    X, y = table(100)
    alone = RebelClassifier("stump", n_rounds=3, cross_fit=None, reject_budget=0.1)
    with pytest.raises(ValueError, match="use with_abstentions, and give X"):
        alone.fit(X, y)


def test_a_class_that_the_model_does_not_know_is_named(clf, unseen):
    X, y = unseen
    with pytest.raises(ValueError, match="not known on these rows: they contain class 'dead'"):
        clf.certify(X, np.where(np.arange(1000) == 3, "dead", y))


# ---- without rows to spare


def test_the_chosen_budget_is_the_smallest_that_the_folds_allow(clf):
    _, y = table(400)
    found = clf.choose_budget(y, at_most=1.2)
    left = clf.cross_fit_
    expected = clf.model_.expected_cost(left.left_out)
    paid = clf.costs_[np.searchsorted(clf.classes_, y)[left.rows], expected.argmin(axis=1)]
    least = expected.min(axis=1)
    # Every level that abstains on fewer rows has a bound above the limit.
    level = found.classifier.model_.reject_level
    for higher in np.unique(least[least > level]):
        mean = np.where(least <= higher, paid, 0).mean()
        assert (found.n_folds * mean + 10) / (found.n_folds + 1) > 1.2
    assert found.bound <= 1.2
    assert found.cost == pytest.approx(np.where(least <= level, paid, 0).mean())
    assert "on average over training tables and new rows" in str(found)
    assert "no bound with a stated confidence" in str(found)
    share = np.mean(found.classifier.predict(table(2000, seed=9)[0]) == "abstain")
    assert share == pytest.approx(found.budget, abs=0.08)  # 400 rows: three standard deviations


def test_the_average_cost_is_at_most_the_limit_over_many_training_tables():
    X, y = table(4000, seed=99)
    costs = []
    for seed in range(6):
        own = RebelClassifier("stump", n_rounds=10, cross_fit=10, costs=COSTS).fit(
            *table(150, seed=seed)
        )
        found = own.choose_budget(table(150, seed=seed)[1], at_most=1.1)
        assert found.holds
        costs.append(found.classifier.certify(X, y).cost)
    assert np.mean(costs) <= 1.1


def test_too_few_folds_for_a_limit_say_how_many_it_takes(clf):
    _, y = table(400)
    found = clf.choose_budget(y, at_most=0.2)
    assert not found.holds
    assert found.classifier is None
    assert "It takes 49 folds or more" in str(found)  # 10 / (49 + 1) = 0.2


def test_other_labels_than_those_of_the_fit_are_refused(clf):
    with pytest.raises(ValueError, match="give the labels that it was fitted to"):
        clf.choose_budget(["ill", "well"], at_most=1)
