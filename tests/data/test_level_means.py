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
    MOST_PAIRS,
    N_FOLDS,
    SIDE,
    SMOOTHING,
    with_level_means,
)
from rebelboost.data.samples import Samples
from rebelboost.evaluation import held_out_importance
from rebelboost.model.trees import Trees

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

    X, y, _ = drawn()
    clf = RebelClassifier(TREES, n_rounds=10, cross_fit=None).fit(X, y)
    ((_, trees),) = clf.ensemble_.of_kind(Trees)
    arrays = {f"trees.{key}": array for key, array in trees.to_tensors().items()}
    arrays[name] = change(arrays[name])
    with pytest.raises(ModelFileError, match=fault):
        Trees.from_tensors(
            TensorReader(arrays, room(10**6)), len(trees), np.array([True, False]), 2
        )


# ---- pairs of categories

N_SIDES = 20


def crossed(seed=0, n=3000):
    """Three categories of which two decide together, and nearly nothing alone; some values are missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(N_SIDES, size=(n, 3)).astype(float)
    rate = np.random.default_rng(99).random((N_SIDES, N_SIDES)) ** 3
    y = (rng.random(n) < rate[codes[:, 0].astype(int), codes[:, 1].astype(int)]).astype(np.int32)
    codes[rng.random(n) < 0.02, 0] = np.nan
    return codes, y


def crossed_samples(seed=0, weight=None):
    X, y = crossed(seed)
    flags = np.ones(3, dtype=np.uint8)
    return Samples(X, y, 1.0 - np.eye(2), weight=weight, categorical=flags)


def crossed_table(seed=0, n=3000):
    X, y = crossed(seed, n)
    texts = {
        name: pd.Categorical([None if np.isnan(code) else f"{name}{code:.0f}" for code in column])
        for name, column in zip(["role", "unit", "town"], X.T, strict=True)
    }
    return pd.DataFrame(texts), np.array(["no", "yes"])[y]


@pytest.mark.parametrize("weight", [None, np.random.default_rng(3).integers(1, 5, 3000) * 1.0])
def test_pairs_that_tell_more_than_both_have_means_over_other_folds(weight):
    samples = crossed_samples(weight=weight)
    found = with_level_means(samples)
    pairs = [each for each in found.columns.means if each.crossing]
    assert {each.features for each in pairs} == {(0, 1)}
    assert len(pairs) == 2  # the count, and the rate
    fold, w = numbered(samples, N_FOLDS, 0), np.ones(3000) if weight is None else weight
    X, target = samples.X, samples.labels == 1
    a, of_all = SMOOTHING * w.mean(), (w * target).sum() / w.sum()
    for means, own in zip(found.columns.means, found.means, strict=True):
        if means.crossing is None or means.of == COUNT:
            continue
        for n in range(0, 3000, 41):
            alike = (X[:, 0] == X[n, 0]) & (X[:, 1] == X[n, 1])
            others = alike & (fold != fold[n])
            expected = ((w * target)[others].sum() + a * of_all) / (w[others].sum() + a)
            assert abs(own[n] - expected) <= 2.0**-21  # they are rounded to multiples of 2⁻²⁰


def test_pairs_of_noise_have_no_means():
    samples = crossed_samples()
    labels = np.random.default_rng(5).integers(0, 2, len(samples)).astype(np.int32)
    found = with_level_means(
        Samples(samples.X, labels, samples.costs, categorical=np.ones(3, "u1"))
    )
    assert not any(each.crossing for each in found.columns.means)


def test_pairs_that_one_row_has_and_missing_values_count_as_others():
    samples = crossed_samples()
    samples.X[0, :2] = N_SIDES + 5  # a pair of its own
    (means, *_) = [
        each for each in with_level_means(samples).columns.means if each.crossing and each.of == 1
    ]
    unknown = np.array([[N_SIDES + 5, N_SIDES + 5, 0], [np.nan, 1, 0], [2, 1e5, 0]])
    assert abs(means.column(unknown) - samples.labels.mean()).max() <= 2.0**-21
    keys = means.crossing.keys.astype(int)
    assert (N_SIDES + 5) * (SIDE + 1) not in keys
    assert (np.diff(keys) > 0).all()


def test_no_more_pairs_are_taken_than_allowed():
    rng = np.random.default_rng(0)
    codes = rng.integers(N_SIDES, size=(4000, 5))
    score = sum(
        np.random.default_rng(i).normal(size=(N_SIDES, N_SIDES))[codes[:, i % 5], codes[:, i // 5]]
        for i in range(25)
    )
    samples = Samples(
        codes.astype(float),
        (score > 0).astype(np.int32),
        1.0 - np.eye(2),
        categorical=np.ones(5, "u1"),
    )
    found = {each.features for each in with_level_means(samples).columns.means if each.crossing}
    assert len(found) == MOST_PAIRS


@pytest.fixture(scope="module")
def of_pairs():
    X, y = crossed_table()
    return RebelClassifier(TREES, n_rounds=30, cross_fit=None, random_state=0).fit(X, y)


def test_pairs_find_what_no_category_tells_alone(of_pairs, monkeypatch):
    X, y = crossed_table(1, 6000)
    monkeypatch.setattr("rebelboost.data.level_means.MOST_PAIRS", 0)
    without = RebelClassifier(TREES, n_rounds=30, cross_fit=None).fit(*crossed_table())
    assert of_pairs.score(X, y) > without.score(X, y) + 0.02


def test_neither_the_order_of_rows_nor_threads_change_models_with_pairs():
    X, y = crossed_table()
    others = crossed_table(1)[0]
    order = np.random.default_rng(5).permutation(len(X))
    first = RebelClassifier(n_jobs=1).fit(X, y)
    moved = RebelClassifier(n_jobs=2).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(first.predict_proba(others), moved.predict_proba(others))


def test_saved_models_with_pairs_are_equal(of_pairs, tmp_path):
    X, _ = crossed_table(1)
    of_pairs.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(of_pairs.predict_proba(X), again.predict_proba(X))
    assert_same(of_pairs, again)


def test_rules_name_both_categories(of_pairs):
    assert any("rate of yes by role × unit" in rule.what for rule in of_pairs.summary().rules)
    why = of_pairs.explain(crossed_table(1)[0].iloc[:1])[0]
    assert "role × unit" in str(why)


def test_plain_data_have_the_pairs_on_each_side(of_pairs):
    plain = json.loads(json.dumps(of_pairs.to_dict()))
    assert any("pairs_right" in tree for tree in plain["terms"])
    codes = crossed(1, 200)[0]
    expected = of_pairs.ensemble_.scores(codes)
    for row, scores in zip(codes.tolist(), expected, strict=True):
        total = np.zeros(2)
        for tree in plain["terms"]:
            at = 0
            for layer in range(tree["depth"]):
                at = 2 * at + _goes_right(tree, 2**layer - 1 + at, row)
            total += tree["outputs"][at]
        np.testing.assert_allclose(total, scores, rtol=0, atol=1e-12)


def _goes_right(tree, node, row):
    feature = tree["features"][node]
    if feature < 0:
        return False
    code = row[feature]
    if str(node) in tree.get("pairs_right", {}):
        told = tree["pairs_right"][str(node)]
        return told["others"] != ([code, row[told["with"]]] in told["but_not"])
    if np.isnan(code):
        return tree["missing_right"][node]
    return code in tree["categories_right"][str(node)]


def test_what_pairs_say_is_not_a_curve_of_one_category(of_pairs):
    ((_, trees),) = of_pairs.ensemble_.of_kind(Trees)
    assert trees.crosses
    assert not trees.is_additive(0)
    assert not trees.is_additive(1)
    assert {0, 1} <= set(trees.used_features.tolist())


def test_monotone_models_split_on_no_pairs():
    X, y = crossed_table()
    X["number"] = np.random.default_rng(0).normal(size=len(X))
    model = RebelClassifier(TREES, n_rounds=10, monotone={"number": 1}).fit(X, y)
    assert not any(trees.crosses for _, trees in model.ensemble_.of_kind(Trees))


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("trees.mean_crossings", lambda a: a + 9, "mean_crossings"),
        ("trees.crossing_features", lambda a: a + 9, "crossing_features"),
        ("trees.crossing_counts", lambda a: a - 1, "crossing_keys"),
        ("trees.crossing_keys", lambda a: a[::-1].copy(), "not in order"),
        ("trees.mean_crossings", np.zeros_like, "another number"),
    ],
)
def test_files_with_broken_pairs_are_refused(of_pairs, name, change, fault):
    from rebelboost.base.checks import TensorReader, room
    from rebelboost.exceptions import ModelFileError

    ((_, trees),) = of_pairs.ensemble_.of_kind(Trees)
    arrays = {f"trees.{key}": array for key, array in trees.to_tensors().items()}
    arrays[name] = change(arrays[name])
    if fault == "another number":
        arrays["trees.crossing_keys"] = arrays["trees.crossing_keys"][:0]
        arrays["trees.crossing_counts"] = arrays["trees.crossing_counts"] * 0
    reader = TensorReader(arrays, room(10**6))
    with pytest.raises(ModelFileError, match=fault):
        Trees.from_tensors(reader, len(trees), np.ones(3, bool), 2)
