"""Models that rise or fall with some columns: proved, and checked on every cell."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebelboost import RebelClassifier, RebelRegressor, Stump, Tree, load
from rebelboost.model.monotone import leads, projected, relation_of, risen, violations
from rebelboost.model.terms import Queries
from rebelboost.model.trees import Trees


def table(seed, n_samples=120):
    """Three columns of few values, one with gaps, and a category."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "up": rng.integers(0, 6, n_samples).astype(float),
            "down": rng.integers(0, 6, n_samples).astype(float),
            "free": np.where(rng.random(n_samples) < 0.1, np.nan, rng.integers(0, 4, n_samples)),
            "kind": rng.choice(["a", "b", "c"], n_samples),
        }
    )
    z = (
        X.up
        - X.down
        + np.nan_to_num(X.free) * (X.kind == "a")
        + rng.normal(scale=2, size=n_samples)
    )
    return X, z


def every_cell(X):
    """All combinations of the values that occur, in the order of the columns."""
    values = [
        [*sorted(set(X[name].dropna())), *([None] if X[name].isna().any() else [])] for name in X
    ]
    cells = pd.DataFrame(list(product(*values)), columns=X.columns)
    return cells.astype(X.dtypes.to_dict()), [len(own) for own in values]


def steps(predictions, shape, axis):
    return np.diff(predictions.reshape(shape), axis=axis)


def assert_monotone(predictions, shape):
    # Probabilities of equal scores may differ by rounding of the posterior, not of the scores.
    assert steps(predictions, shape, 0).min() >= -1e-12
    assert steps(predictions, shape, 1).max() <= 1e-12


DIRECTIONS = {"up": 1, "down": -1}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 5), n_classes=st.integers(2, 4))
def test_probabilities_of_higher_classes_rise_in_every_cell(seed, depth, n_classes):
    X, z = table(seed)
    y = np.searchsorted(np.quantile(z, np.arange(1, n_classes) / n_classes), z)
    clf = RebelClassifier(
        Tree(depth=depth), n_rounds=15, cross_fit=3, training="neutral", monotone=DIRECTIONS
    )
    clf.fit(X, y)
    cells, shape = every_cell(X)
    above = np.cumsum(clf.predict_proba(cells)[:, ::-1], axis=1)[:, ::-1]
    for k in range(1, n_classes):
        assert_monotone(above[:, k], shape)
    # Mistakes of equal cost: the highest score decides.
    assert_monotone(clf.predict(cells), shape)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 5))
def test_predictions_of_numbers_rise_in_every_cell(seed, depth):
    X, z = table(seed)
    model = RebelRegressor(Tree(depth=depth), n_rounds=20, cross_fit=None, monotone=DIRECTIONS)
    cells, shape = every_cell(X)
    predictions = model.fit(X, z).predict(cells)
    assert steps(predictions, shape, 0).min() >= -1e-12 * np.abs(predictions).max()
    assert steps(predictions, shape, 1).max() <= 1e-12 * np.abs(predictions).max()


def test_decisions_and_expected_costs_follow_with_two_classes():
    X, z = table(1)
    y = np.where(z > 0, "yes", "no")
    clf = RebelClassifier(costs={("no", "yes"): 4}, monotone=DIRECTIONS).fit(X, y)
    cells, shape = every_cell(X)
    assert_monotone((clf.predict(cells) == "yes").astype(float), shape)
    costs = clf.expected_cost(cells)
    assert_monotone(costs[:, 0], shape)  # of deciding no: a missed yes
    assert_monotone(-costs[:, 1], shape)


def test_without_the_parameter_the_same_table_gives_a_model_that_does_not_keep_to_it():
    X, z = table(1)
    clf = RebelClassifier("tree", n_rounds=30).fit(X, z > 0)
    assert any(violations(clf.ensemble_.groups[0].terms, {0: 1, 1: -1}))


def test_the_guarantee_says_what_is_proven():
    X, z = table(2)
    clf = RebelClassifier("tree", n_rounds=10, monotone=DIRECTIONS).fit(
        X, np.where(z > 0, "yes", "no")
    )
    told = str(clf.guarantee_)
    assert "The probability of yes never falls as up rises, all else being equal." in told
    assert "The probability of yes never rises as down rises, all else being equal." in told
    assert "Decisions follow" in told
    assert len(clf.guarantee_.to_dict()["monotone"]) == 3


def test_decisions_between_ordered_classes_follow_only_if_the_costs_let_them():
    X, z = table(3)
    y = np.digitize(z, [-2, 2])
    clf = RebelClassifier("tree", n_rounds=10, training="neutral", monotone=DIRECTIONS).fit(X, y)
    assert "Decisions follow" in str(clf.guarantee_)
    distance = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    by_distance = clf.with_costs(distance)
    assert "Decisions follow" in str(by_distance.guarantee_)
    cells, shape = every_cell(X)
    assert_monotone(by_distance.predict(cells), shape)
    odd = clf.with_costs({(0, 1): 1, (0, 2): 0.1, (1, 0): 1, (1, 2): 1, (2, 0): 1, (2, 1): 5})
    assert "Decisions need not follow, with these costs" in str(odd.guarantee_)
    assert clf.with_priors([0.2, 0.3, 0.5]).model_.monotone == ()


def test_the_promise_is_saved_and_checked_on_loading(tmp_path):
    from dataclasses import replace

    from rebelboost.exceptions import ModelFileError

    X, z = table(4)
    clf = RebelClassifier("tree", n_rounds=10, monotone=DIRECTIONS).fit(X, z > 0)
    clf.save(tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").model_.monotone == ((0, 1), (1, -1))
    free = RebelClassifier("tree", n_rounds=30).fit(X, z > 0)
    free.model_ = replace(free.model_, monotone=((0, 1),))
    with pytest.raises(ModelFileError, match="do not rise or fall with the features"):
        free.save(tmp_path / "n.safetensors")


def test_only_learners_that_can_promise_it_are_compared():
    X, z = table(5)
    clf = RebelClassifier(n_rounds=20, monotone=DIRECTIONS).fit(X, z > 0)
    assert not clf.ensemble_.example_rows
    assert not any("similarities" in each.name for each in clf.cross_fit_.standings)
    assert not any("depth 10" in each.name for each in clf.cross_fit_.standings)
    stumps = RebelClassifier(Stump(), n_rounds=10, monotone=DIRECTIONS).fit(X, z > 0)
    assert stumps.model_.monotone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotone": {"height": 1}}, "monotone names 'height': the columns are up, down"),
        ({"monotone": {"kind": 1}}, "monotone names 'kind', which holds categories"),
        ({"monotone": {"up": 2}}, "monotone gives 2 for 'up': give 1 or -1"),
        ({"monotone": DIRECTIONS, "learner": "similarity"}, "not by Similarity"),
        ({"monotone": DIRECTIONS, "learner": Tree(outputs="tree")}, "not by Tree"),
    ],
)
def test_what_cannot_be_promised_is_refused(options, message):
    X, z = table(6)
    with pytest.raises(ValueError, match=message):
        RebelClassifier(**{"learner": "tree", "n_rounds": 3, **options}).fit(X, z > 0)


def test_three_classes_trained_on_costs_are_refused():
    X, z = table(7)
    costs = [[0, 1, 5], [1, 0, 1], [2, 1, 0]]
    clf = RebelClassifier("tree", n_rounds=3, costs=costs, training="costs", monotone=DIRECTIONS)
    with pytest.raises(ValueError, match='set training="neutral"'):
        clf.fit(X, np.digitize(z, [-2, 2]))


# ---- one tree


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_relation_of_leaves_is_the_one_that_points_show(seed):
    """Raising a feature leads from one leaf to another exactly if the relation, before its closure, says so."""
    rng = np.random.default_rng(seed)
    X, z = table(seed)
    tree = RebelClassifier(Tree(depth=3), n_rounds=1, cross_fit=None).fit(X, z > 0).ensemble_[0]
    assert isinstance(tree, Trees)
    related = relation_of(tree, {0: 1, 1: -1})
    codes = (
        X.assign(kind=X.kind.map({"a": 0, "b": 1, "c": 2})).to_numpy(dtype=float).copy(order="C")
    )
    moved = codes.copy()
    moved[:, 0] += rng.integers(0, 6, len(X))
    moved[:, 1] -= rng.integers(0, 6, len(X))
    before, after = tree.regions(Queries(codes)), tree.regions(Queries(moved))
    if related is None:
        assert np.array_equal(before, after)
        return
    assert (related[before, after] | (before == after)).all()
    # Values that rise stay, others come to rise, and their weighted mean stays about what it was.
    values, weight = leads(tree.outputs), rng.uniform(0.1, 1, len(tree.outputs))
    found = projected(values, weight, related)
    assert np.array_equal(risen(found, related), found)
    assert np.array_equal(projected(found, weight, related), found)
