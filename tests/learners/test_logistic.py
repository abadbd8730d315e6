"""Logistic regression: the trees of one split that it is written as, and its place in the race."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from rebelboost import RebelClassifier, kernels, load
from rebelboost.data.samples import Samples
from rebelboost.kernels import reference
from rebelboost.learners import logistic
from rebelboost.learners.logistic import Logistic, logistic_trees
from rebelboost.model.ensemble import Ensemble

NAME = "logistic regression"


def noisy(seed, n, n_classes=2):
    """Numbers with ties and missing values, and a category, of which the classes depend a little."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.2, 2] = np.nan
    X[:, 3] = rng.integers(0, 3, n)
    score = X[:, 0] + 0.5 * X[:, 1] + (X[:, 3] == 1) + np.isnan(X[:, 2]) + rng.logistic(size=n)
    labels = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return Samples(
        X,
        labels.astype(np.int32),
        1 - np.eye(n_classes),
        categorical=np.array([0, 0, 0, 1], dtype=np.uint8),
    )


def fitted(samples, stage=2, **options):
    found = dict(logistic_trees(samples, Logistic(**options), range(len(logistic.PENALTIES))))
    return Ensemble.of([found[stage]], samples.n_classes)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(2, 40))
def test_the_trees_add_up_to_the_regression_on_columns(seed, n_classes, bins):
    samples = noisy(seed, 60, n_classes)
    columns = logistic.columns_of(samples, bins)
    rng = np.random.default_rng(seed)
    solved = rng.normal(size=(n_classes, 1 + columns.features.shape[1]))
    trees = logistic.staircases(columns, solved)
    expected = solved[:, 0] + columns.features.astype(np.float64) @ solved[:, 1:].T
    found = Ensemble.of([trees], n_classes).scores(samples.X)
    # Columns are stored in single precision; there are at most 15, of a few standard deviations.
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert set(trees.depths[1:].tolist()) <= {1}


def test_outputs_of_each_split_are_zero_on_average_over_the_samples():
    samples = noisy(0, 200)
    (_, trees), *_ = logistic_trees(samples, Logistic(), [0])
    split = np.flatnonzero(trees.depths == 1)
    leaves = trees.leaf_offsets[split, np.newaxis] + [0, 1]
    means = (trees.cover[leaves][:, :, np.newaxis] * trees.outputs[leaves]).sum(axis=1)
    np.testing.assert_allclose(means, 0, atol=1e-12)
    for tree, own in zip(split, leaves, strict=True):
        regions = trees.take(np.array([tree])).regions(_queries(samples))
        share = np.bincount(regions, minlength=2) / len(samples)
        np.testing.assert_allclose(trees.cover[own], share, atol=1e-12)


def _queries(samples):
    from rebelboost.model.terms import Queries

    return Queries(samples.X)


def test_straight_lines_are_found_as_well_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    labels = (X @ [1, -1, 0.5, 0, 0] + rng.logistic(size=3000) > 0).astype(np.int32)
    samples = Samples(X[:1000], labels[:1000], 1 - np.eye(2))
    scores = fitted(samples, bins=255).scores(X[1000:])
    p = 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
    theirs = LogisticRegression().fit(X[:1000], labels[:1000]).predict_proba(X[1000:])[:, 1]
    own, other = (_log_loss(each, labels[1000:]) for each in (p, theirs))
    assert own < other + 0.005  # ranks take part too, which the truth does not need


def _log_loss(p, y):
    return -np.mean(np.log(np.where(y == 1, p, 1 - p)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_neither_the_order_of_rows_nor_the_kernels_change_a_bit(n_classes, monkeypatch):
    samples = noisy(1, 120, n_classes)
    expected = fitted(samples).scores(samples.X)
    order = np.random.default_rng(0).permutation(len(samples))
    np.testing.assert_array_equal(fitted(samples.take(order)).scores(samples.X), expected)
    monkeypatch.setattr(kernels, "active", reference)
    np.testing.assert_array_equal(fitted(samples).scores(samples.X), expected)


def test_a_doubled_sample_is_a_doubled_weight():
    samples = noisy(2, 100)
    twice = samples.take(np.append(np.arange(100), np.arange(10)))
    weighted = Samples(
        samples.X,
        samples.labels,
        samples.costs,
        weight=np.where(np.arange(100) < 10, 2.0, 1.0),
        categorical=samples.categorical,
    )
    # The penalty is relative to the effective number of samples, which is 108 in one case, 103 in the other.
    found, expected = (fitted(each).scores(samples.X) for each in (weighted, twice))
    assert np.corrcoef(found[:, 1], expected[:, 1])[0, 1] > 0.999


def test_columns_without_a_difference_are_left_out():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(50), np.full(50, np.nan), np.full(50, 1e300), rng.normal(size=50)])
    samples = Samples(X, (X[:, 3] > 0).astype(np.int32), 1 - np.eye(2))
    columns = logistic.columns_of(samples, 32)
    assert np.diff(columns.starts).tolist() == [0, 0, 0, 2]
    assert np.isfinite(fitted(samples).scores(X)).all()


def test_categories_of_many_levels_are_rates_of_other_folds():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 60, 900)
    rate = np.random.default_rng(1).random(60)
    y = (rng.random(900) < rate[level]).astype(np.int32)
    X = level[:, np.newaxis].astype(np.float64)
    samples = Samples(X[:600], y[:600], 1 - np.eye(2), categorical=np.ones(1, dtype=np.uint8))
    (_, trees), *_ = logistic_trees(samples, Logistic(), [1])
    assert trees.level_means
    scores = Ensemble.of([trees], 2).scores(X[600:])
    assert np.corrcoef(scores[:, 1], rate[level[600:]])[0, 1] > 0.6


# ---- in the race


def test_it_takes_part_with_two_classes_and_few_features(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.digitize(X[:, 0] + rng.logistic(size=200), [-0.7, 0.7])

    def names(labels, **options):
        model = RebelClassifier(n_rounds=10, **options).fit(X, labels)
        return [standing.name for standing in model.cross_fit_.standings]

    assert NAME in names(y > 0)
    assert NAME not in names(y)
    assert NAME not in names(y > 0, loss="squared")
    monkeypatch.setattr("rebelboost.selection.candidates.FEATURES_FOR_LOGISTIC", 2)
    assert NAME not in names(y > 0)


def test_a_noisy_straight_line_is_won_by_it_and_the_model_can_be_stored(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    X["e"] = pd.Categorical(rng.choice(["red", "green", "blue"], 400))
    y = X["a"] + X["b"] + (X["e"] == "red") + rng.logistic(size=400) > 0
    model = RebelClassifier().fit(X, y)
    shares = {standing.name: standing.share for standing in model.cross_fit_.standings}
    assert shares[NAME] > 0.2
    model.save(tmp_path / "model.safetensors")
    stored = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(stored.predict_proba(X), model.predict_proba(X))
    used = model.feature_importances_
    assert used[[0, 1]].min() > used[[2, 3]].max()


def test_it_has_no_rounds():
    with pytest.raises(ValueError, match="bins"):
        Logistic(bins=1)
    with pytest.raises(ValueError, match="no rounds"):
        Logistic().prepare(None)
