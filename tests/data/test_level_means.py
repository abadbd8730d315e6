"""Means of the levels of categories: over other rows, exact, and stored with the model."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from ensembles import assert_same
from rebelboost import RebelClassifier, RebelRegressor, Tree, load
from rebelboost.data.folds import numbered
from rebelboost.data.level_means import (
    COUNT,
    FEWEST_LEVELS,
    N_FOLDS,
    SMOOTHING,
    with_level_means,
)
from rebelboost.data.samples import Samples
from rebelboost.evaluation import held_out_importance

N, N_LEVELS = 900, 60
TREES = Tree(depth=3)


def drawn(seed=0, n=N, n_levels=N_LEVELS, n_classes=2):
    """A table with a category whose levels have effects, beside a number, and the scores."""
    rng = np.random.default_rng(seed)
    level = rng.integers(n_levels, size=n)
    number = rng.normal(size=n)
    score = 2 * np.random.default_rng(99).normal(size=n_levels)[level] + number + rng.normal(size=n)
    X = pd.DataFrame({"town": pd.Categorical([f"t{i:03}" for i in level]), "number": number})
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score), score


class Watcher:
    """Is told of every round by itself."""

    def on_rounds(self, batch):
        return False

    def on_end(self):
        pass


def samples_of(seed=0, n_classes=3, weight=None):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(N_LEVELS, size=N), rng.normal(size=N)]).astype(float)
    X[rng.uniform(size=N) < 0.1, 0] = np.nan
    labels = rng.integers(n_classes, size=N).astype(np.int32)
    costs = 1.0 - np.eye(n_classes)
    return Samples(X, labels, costs, weight=weight, categorical=np.array([1, 0], dtype=np.uint8))


@pytest.mark.parametrize("weight", [None, np.random.default_rng(3).integers(1, 5, N).astype(float)])
def test_values_are_shrunk_means_over_the_rows_of_other_folds(weight):
    samples = samples_of(weight=weight)
    found = with_level_means(samples)
    fold, w = numbered(samples, N_FOLDS, 0), np.ones(N) if weight is None else weight
    level = np.where(np.isnan(samples.X[:, 0]), -1, samples.X[:, 0])
    for means, own in zip(found.columns.means, found.means, strict=True):
        if means.of == COUNT:
            continue
        target = samples.labels == means.of
        a, of_all = SMOOTHING * w.mean(), (w * target).sum() / w.sum()
        for n in range(0, N, 7):
            others = (level == level[n]) & (fold != fold[n])
            expected = ((w * target)[others].sum() + a * of_all) / (w[others].sum() + a)
            assert abs(own[n] - expected) <= 2.0**-21  # they are rounded to multiples of 2⁻²⁰
            everyone = level == level[n]
            expected = ((w * target)[everyone].sum() + a * of_all) / (w[everyone].sum() + a)
            assert abs(means.column(samples.X[[n]])[0] - expected) <= 2.0**-21


def test_values_of_a_level_that_the_fit_has_not_seen_are_the_mean_of_all_rows():
    samples = samples_of()
    for means in with_level_means(samples).columns.means:
        if means.of >= 0:
            unseen = means.of_codes(np.array([N_LEVELS + 5.0]))[0]
            assert abs(unseen - (samples.labels == means.of).mean()) <= 2.0**-21


def test_a_level_of_one_row_tells_nothing_of_its_target():
    samples = samples_of()
    samples.X[:, 0] = np.arange(N)
    found = with_level_means(samples)
    for means, own in zip(found.columns.means, found.means, strict=True):
        assert means.of == COUNT or len(np.unique(own)) == 1


def test_features_with_few_levels_have_no_means():
    samples = samples_of()
    samples.X[:, 0] %= FEWEST_LEVELS
    assert with_level_means(samples) is None


@pytest.mark.parametrize("learner", ["auto", TREES], ids=["auto", "trees"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_order_of_rows_and_threads_change_nothing(learner, n_classes):
    X, y, _ = drawn(n_classes=n_classes)
    others = drawn(1)[0]
    order = np.random.default_rng(5).permutation(N)
    first = RebelClassifier(learner, n_jobs=1).fit(X, y).predict_proba(others)
    moved = RebelClassifier(learner, n_jobs=2).fit(X.iloc[order], y[order]).predict_proba(others)
    np.testing.assert_array_equal(first, moved)


def test_order_of_rows_changes_nothing_in_a_regression():
    X, _, y = drawn()
    order = np.random.default_rng(5).permutation(N)
    first = RebelRegressor(TREES, n_jobs=1).fit(X, y)
    moved = RebelRegressor(TREES, n_jobs=2).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(first.predict(X), moved.predict(X))


def test_scale_of_weights_changes_nothing():
    X, y, _ = drawn()
    weight = np.random.default_rng(3).integers(1, 5, N).astype(float)
    first = RebelClassifier(TREES).fit(X, y, sample_weight=weight)
    scaled = RebelClassifier(TREES).fit(X, y, sample_weight=4 * weight)
    np.testing.assert_array_equal(first.predict_proba(X), scaled.predict_proba(X))


def test_rounds_at_once_are_those_one_by_one():
    X, y, _ = drawn()
    at_once = RebelClassifier(TREES, n_rounds=40, random_state=0).fit(X, y)
    watched = RebelClassifier(TREES, n_rounds=40, random_state=0, callbacks=[Watcher()]).fit(X, y)
    assert_same(at_once, watched)
    tables = [model.history_.table() for model in (at_once, watched)]
    for name in tables[0].keys() - {"seconds"}:
        np.testing.assert_array_equal(*(table[name] for table in tables), err_msg=name)


def test_continued_training_gives_the_model_of_one_fit():
    X, y, _ = drawn()
    whole = RebelClassifier(TREES, n_rounds=20, cross_fit=None).fit(X, y)
    half = RebelClassifier(TREES, n_rounds=10, cross_fit=None, warm_start=True).fit(X, y)
    half.set_params(n_rounds=20).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), half.predict_proba(X))


# ---- quality


def log_loss(model, X, y):
    p = model.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(p).mean()


def test_means_find_levels_that_determine_the_class_by_few_rows():
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=300)
    level = rng.integers(300, size=4000)
    X = pd.DataFrame({"town": pd.Categorical([f"t{i}" for i in level])})
    y = classes[level]
    clf = RebelClassifier().fit(X[:1500], y[:1500])
    seen = np.isin(level[1500:], level[:1500])
    assert (clf.predict(X[1500:]) == y[1500:])[seen].mean() > 0.97


@pytest.mark.parametrize(
    "n_levels", [None, 2000, 200], ids=["unique", "2,000 levels", "200 levels"]
)
def test_a_category_of_noise_harms_no_more_than_chance(n_levels):
    """The mean log-loss is at most two standard errors above that of a model without it."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(6000, 3)), columns=list("abc"))
    y = (X["a"] + X["b"] * X["c"] + rng.logistic(size=6000) > 0).to_numpy().astype(int)
    names = np.arange(6000) if n_levels is None else rng.integers(n_levels, size=6000)
    noisy = X.assign(name=pd.Categorical([f"n{i}" for i in names]))
    without = RebelClassifier().fit(X[:2000], y[:2000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values not seen in training
        within = RebelClassifier().fit(noisy[:2000], y[:2000])
        harm = log_loss(within, noisy[2000:], y[2000:]) - log_loss(without, X[2000:], y[2000:])
    p = without.predict_proba(X[2000:])[np.arange(4000), y[2000:]]
    assert harm <= 2 * np.log(p).std() / np.sqrt(4000)


# ---- files, other programs and words


def test_saved_models_are_equal_for_known_unknown_and_missing_levels(tmp_path):
    X, y, _ = drawn(n_classes=3)
    clf = RebelClassifier().fit(X, y)
    others = pd.DataFrame(
        {"town": ["t001", "t059", "elsewhere", None], "number": [0.1, np.nan, 1, 2]}
    )
    clf.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the unknown level
        for table in (X, others):
            np.testing.assert_array_equal(clf.predict_proba(table), again.predict_proba(table))
    assert_same(clf, again)


def test_more_levels_than_bins_have_means_of_their_own():
    X, y, _ = drawn(n=6000, n_levels=600)
    clf = RebelClassifier(TREES, n_rounds=30, cross_fit=None).fit(X, y)
    assert len(clf.model_.encoder.levels[0]) == 600
    levels = pd.DataFrame({"town": [f"t{i:03}" for i in range(600)], "number": 0.0})
    assert len(np.unique(clf.predict_proba(levels)[:, 1])) > 20


def test_plain_data_have_the_levels_on_each_side():
    X, y, _ = drawn()
    clf = RebelClassifier(TREES, n_rounds=10, cross_fit=None).fit(X, y)
    plain = json.loads(json.dumps(clf.to_dict()))
    levels = plain["categories"]["0"]
    expected = clf.ensemble_.scores(np.array([[*range(len(levels)), np.nan], [0.25] * 61]).T)
    for code, scores in zip([*range(len(levels)), None], expected, strict=True):
        total = np.zeros(2)
        for tree in plain["terms"]:
            at = 0
            for layer in range(tree["depth"]):
                node = 2**layer - 1 + at
                if tree["features"][node] < 0:
                    right = False
                elif tree["features"][node] == 1:
                    right = tree["thresholds"][node] < 0.25
                elif code is None:
                    right = tree["missing_right"][node]
                else:
                    right = code in tree["categories_right"][str(node)]
                at = 2 * at + right
            total += tree["outputs"][at]
        np.testing.assert_allclose(total, scores, rtol=0, atol=1e-12)


def test_rules_and_importances_name_the_category():
    X, y, _ = drawn()
    clf = RebelClassifier(TREES, n_rounds=10, cross_fit=None).fit(X, np.array(["no", "yes"])[y])
    assert any("rate of yes by town" in rule.what for rule in clf.summary().rules)
    assert clf.feature_importances_[0] > 0.3
    assert clf.feature_importances_.shape == (2,)


def test_held_out_importance_tells_levels_with_an_effect_from_noise():
    X, y, _ = drawn(n=2000)
    X["name"] = pd.Categorical(np.random.default_rng(1).integers(500, size=2000).astype(str))
    clf = RebelClassifier(TREES, cross_fit=5).fit(X, y)
    helps = {each.name: each.helps for each in held_out_importance(clf, X, y)}
    assert helps["town"]
    assert not helps.get("name", False)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("trees.mean_nodes", lambda a: a[::-1].copy(), "unknown nodes"),
        ("trees.mean_places", lambda a: a + 100, "mean_places"),
        ("trees.mean_features", lambda a: a + 1, "without levels"),
        ("trees.mean_classes", lambda a: a + 2, "mean_classes"),
        ("trees.mean_values", lambda a: a * np.nan, "not finite"),
    ],
)
def test_files_with_broken_means_are_refused(name, change, fault):
    from rebelboost.base.checks import TensorReader, room
    from rebelboost.exceptions import ModelFileError
    from rebelboost.model.trees import Trees

    X, y, _ = drawn()
    clf = RebelClassifier(TREES, n_rounds=10, cross_fit=None).fit(X, y)
    ((_, trees),) = clf.ensemble_.of_kind(Trees)
    arrays = {f"trees.{key}": array for key, array in trees.to_tensors().items()}
    arrays[name] = change(arrays[name])
    with pytest.raises(ModelFileError, match=fault):
        Trees.from_tensors(
            TensorReader(arrays, room(10**6)), len(trees), np.array([True, False]), 2
        )
