import numpy as np
import pandas as pd
import pytest

from kernels import builders
from rebelboost import RebelClassifier, Tree, kernels
from rebelboost.data.pandas_frames import values_of
from rebelboost.model import coded_trees, trees
from rebelboost.model.coded_trees import coded
from rebelboost.model.trees import Trees


def random_forest(seed, n_thresholds):
    """Trees of several depths on numbers and categories, some of whose nodes have no split."""
    rng = np.random.default_rng(seed)
    n_features, depths = 5, [0, 1, 4, 7, 7]
    arrays = builders.random_trees(rng, depths, n_features, 3, categories=False)
    features = arrays.features.copy()
    features[rng.random(len(features)) < 0.2] = -1
    sets = np.flatnonzero(features == 4)  # the feature with categories
    category = np.full(len(features), -1, np.int32)
    category[sets] = np.arange(len(sets))
    thresholds = rng.integers(0, n_thresholds, len(features)) / 8
    thresholds[(features == -1) | (features == 4) | (rng.random(len(features)) < 0.05)] = np.inf
    missing_right = np.where(features == -1, 0, arrays.missing_right).astype(np.uint8)
    right = rng.integers(0, 2, (len(sets), 256)).astype(np.uint8)
    right[:, 255] = missing_right[sets]  # no encoder gives this code
    return Trees(
        arrays.depths,
        features,
        thresholds,
        missing_right,
        category,
        right,
        np.zeros(len(arrays.outputs), np.int8),
        arrays.outputs,
        np.ones(len(arrays.outputs)),
    )


def samples(n_thresholds, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2 * n_thresholds, (300, 5)) / 16
    X[:, 4] = rng.integers(-2, 258, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("n_thresholds", [1, 20, 3000])
@pytest.mark.parametrize("seed", range(5))
def test_coded_trees_have_the_scores_of_the_trees_to_the_last_bit(seed, n_thresholds):
    forest, X = random_forest(seed, n_thresholds), samples(n_thresholds, seed)
    expected, found = np.zeros((300, 3)), np.zeros((300, 3))
    kernels.active.predict(X, forest.walked, 1, 5, expected, 1)
    coded(forest).add_scores(X, found, 1, 5, 1)
    assert np.array_equal(found, expected)


def test_a_feature_with_many_thresholds_has_several_columns():
    form = coded(random_forest(0, 3000))
    assert np.diff(form.columns.starts).max() <= coded_trees.MOST_CODES


def test_trees_that_need_too_many_columns_are_walked_as_they_are(monkeypatch):
    monkeypatch.setattr(coded_trees, "MOST_COLUMNS", 3)
    assert coded(random_forest(0, 20)) is None


def test_trees_with_a_category_that_no_encoder_gives_are_walked_as_they_are():
    forest = random_forest(0, 20)
    forest.right[0, 255] ^= 1
    assert coded(forest) is None


def test_trees_without_splits_are_walked_as_they_are():
    none = Trees.none(2)
    assert coded(none) is None


def test_many_samples_have_the_scores_of_few(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=200), "b": pd.Categorical(rng.choice(list("xyz"), 200))})
    y = (X["a"] > 0).to_numpy() ^ (X["b"] == "x").to_numpy()
    model = RebelClassifier(Tree(3), n_rounds=10, cross_fit=None).fit(X, y).model_
    values = values_of(X, list(X), model.encoder.codes)
    few = model.scores(values)
    monkeypatch.setattr(trees, "MANY_SAMPLES", 1)
    assert np.array_equal(model.scores(values), few)
