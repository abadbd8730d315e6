"""Kernel machines: the regression behind them, and classifiers whose reasons are training rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ensembles
from rebelboost import KernelSimilarity, RebelClassifier, kernels, load
from rebelboost.data.samples import Samples
from rebelboost.exceptions import ModelFileError
from rebelboost.files import safetensors
from rebelboost.learners.kernel import RIDGES, System
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.selection import kernel_runner
from rebelboost.selection.candidates import KERNEL


def turned(seed, n):
    """Three classes along a direction in which no column shows much, and which the metric has to find."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(n, 4))
    labels = np.digitize(inner[:, 0] + 0.2 * rng.normal(size=n), [-0.5, 0.5])
    mixing = np.random.default_rng(9).normal(size=(4, 4)) * [0.3, 1, 1, 3]
    return inner @ mixing.T, np.array(["low", "middle", "high"])[labels]


X, y = turned(0, 240)
NEW, TRUE = turned(1, 300)


@pytest.fixture(scope="module")
def fitted():
    return RebelClassifier("kernel").fit(X, y)


def function_of(model):
    (terms,) = [terms for _, terms in model.model_.ensemble.of_kind(SmoothSimilarities)]
    (function,) = terms.functions
    return function


# ---- the regression


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(RIDGES), st.integers(2, 4), st.integers(1, 21))
def test_outputs_are_those_of_kernel_ridge_regression_on_the_samples(seed, ridge, n_classes, n):
    """Points with the weights of several samples stand for these samples."""
    from sklearn.kernel_ridge import KernelRidge

    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    mass = rng.integers(0, 3, (n, n_classes)).astype(float)
    mass[:, 0] += mass.sum(axis=1) == 0
    r = ((points[:, np.newaxis] - points) ** 2).sum(axis=2).astype(np.float32)
    a, b = System.of(0.7, r, mass).solve(ridge)
    doubles = r.astype(np.float64)
    f = (0.7 - doubles) / (0.7 + doubles)
    found = f @ a + b

    counts, places = mass.ravel().astype(int), np.indices(mass.shape).reshape(2, -1)
    rows, classes = (np.repeat(where, counts) for where in places)
    targets = np.eye(n_classes)[classes]
    # Penalties are relative to points of the mean weight; those of scikit-learn, to samples of weight 1.
    model = KernelRidge(alpha=ridge * len(rows) / n, kernel="precomputed")
    gram = 0.7 / (0.7 + doubles)
    middle = targets.mean(axis=0)
    model.fit(gram[np.ix_(rows, rows)], targets - middle)
    estimated = model.predict(gram[:, rows]) + middle
    np.testing.assert_allclose(found, 2 * (estimated - 1 / n_classes), atol=1e-9)


def test_the_metric_of_a_fold_does_not_know_the_classes_that_it_leaves_out():
    kept = np.arange(len(X)) % 5 > 0
    codes = np.unique(y, return_inverse=True)[1].astype(np.int32)

    def terms(labels):
        samples = Samples(X, labels, 1 - np.eye(3)).rows(kept)
        return kernel_runner.machines(samples, settings_of(KERNEL), [0])[0]

    altered = np.where(kept, codes, 0).astype(np.int32)
    np.testing.assert_array_equal(terms(codes).scores(NEW), terms(altered).scores(NEW))


def settings_of(learner):
    from rebelboost.boosting.settings import Settings

    return Settings(learner, 1)


# ---- classifiers


def test_it_learns_a_metric_where_no_column_shows_the_classes(fitted):
    raw = RebelClassifier(KernelSimilarity("none")).fit(X, y)
    assert fitted.score(NEW, TRUE) > raw.score(NEW, TRUE) + 0.1


def test_neither_the_order_of_rows_nor_the_unit_of_weights_changes_it(fitted):
    order = np.random.default_rng(0).permutation(len(X))
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    again = RebelClassifier("kernel").fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))
    light, heavy = (
        RebelClassifier("kernel").fit(X, y, sample_weight=unit * weight) for unit in (1, 1024)
    )
    np.testing.assert_array_equal(light.predict_proba(NEW), heavy.predict_proba(NEW))
    assert (light.predict_proba(NEW) != fitted.predict_proba(NEW)).any()


def test_threads_and_kernels_give_the_same_bits(fitted):
    threaded = RebelClassifier("kernel", n_jobs=3).fit(X, y)
    ensembles.assert_same(threaded, fitted)
    few = RebelClassifier("kernel").fit(X[:60], y[:60])
    with kernels.using("reference"):
        again = RebelClassifier("kernel").fit(X[:60], y[:60])
        np.testing.assert_array_equal(again.predict_proba(NEW), few.predict_proba(NEW))
    ensembles.assert_same(again, few)


def test_the_model_is_fitted_to_all_samples_once(fitted):
    assert sorted(function_of(fitted).rows.tolist()) == list(range(len(X)))
    assert len(fitted.ensemble_) <= 2  # the machine, and perhaps an offset


def test_samples_without_weight_are_left_out():
    weight = (np.arange(len(X)) % 4 > 0).astype(float)
    model = RebelClassifier("kernel").fit(X, y, sample_weight=weight)
    assert (function_of(model).rows % 4 > 0).all()


def test_training_rows_are_limited():
    model = RebelClassifier(KernelSimilarity(examples=50)).fit(X, y)
    assert len(function_of(model).rows) == 50
    assert model.score(NEW, TRUE) > 0.5


@pytest.mark.parametrize("options", [{"cross_fit": None}, {"early_stopping": True}])
def test_a_single_fit_is_refused(options):
    with pytest.raises(ValueError, match="held-out samples"):
        RebelClassifier("kernel", **options).fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("scale", "metric"), ("examples", 1)])
def test_options_are_checked(name, value):
    with pytest.raises(ValueError, match=name):
        KernelSimilarity(**{name: value})


def test_few_samples_and_points_that_coincide():
    few = RebelClassifier("kernel").fit([[0.0], [0.0], [1.0], [1.0], [1.0]], list("aabbb"))
    assert few.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    same = RebelClassifier("kernel").fit(np.zeros((6, 2)), list("aabbbb"))
    np.testing.assert_allclose(same.predict_proba(np.zeros((1, 2))).sum(), 1)


# ---- explanations


def test_contributions_of_rows_sum_to_the_scores(fitted):
    whys = fitted.explain(NEW[:20])
    for why, scores in zip(whys, fitted.decision_function(NEW[:20]), strict=True):
        assert not why.features
        pulls = [share.by_class for share in why.examples]
        np.testing.assert_allclose(why.baseline + np.sum(pulls, axis=0), scores, atol=1e-9)


def test_a_row_that_is_near_pulls_towards_its_class(fitted):
    """A row's output for its own class is what the others leave unexplained, and so positive."""
    function, codes = function_of(fitted), np.searchsorted(fitted.classes_, y)
    own = function.a[np.arange(len(X)), codes[function.rows]]
    assert (own > 0).mean() > 0.95
    near = [whys.terms for whys in fitted.explain(NEW[:5], top=5)]
    said = [reason.what for terms in near for reason in terms["low"].for_]
    assert said
    assert all(text.startswith(("near row", "far from row")) for text in said)
    assert all("(low)" in text for text in said if text.startswith("near"))


def test_the_baseline_is_the_mean_score_of_the_training_rows(fitted):
    baseline = fitted.explain(NEW[:1])[0].baseline
    np.testing.assert_allclose(baseline, fitted.decision_function(X).mean(axis=0), atol=1e-6)


def test_rows_that_pull_most_are_in_the_summary(fitted):
    function = function_of(fitted)
    strongest = function.rows[np.ptp(function.a, axis=1).argmax()]
    text = str(fitted.summary())
    assert "a kernel machine with 240 training rows" in text
    assert f"row {strongest} " in text


def test_it_has_no_importances_of_features(fitted):
    with pytest.raises(AttributeError, match="need trees or a smooth function"):
        _ = fitted.feature_importances_


def test_the_default_names_training_rows():
    rng = np.random.default_rng(0)
    points, centres = rng.normal(size=(240, 5)), np.random.default_rng(3).normal(size=(12, 5))
    labels = ((points[:, np.newaxis] - centres) ** 2).sum(axis=2).argmin(axis=1) % 3
    mixed = points @ np.random.default_rng(4).normal(size=(5, 5))
    model = RebelClassifier(n_rounds=40).fit(mixed, labels)
    shares = {each.name: each.share for each in model.cross_fit_.standings}
    assert shares["kernel machine"] > 0.5
    assert "standardised similarities" not in shares  # the kernel machine takes their place
    why = model.explain(mixed[:1])[0]
    assert any("similar to" in line for line in str(why).splitlines())
    total = why.baseline + sum(each.by_class for each in (*why.features, *why.examples))
    np.testing.assert_allclose(total, why.scores, atol=1e-9)


# ---- files


def test_a_model_file_gives_the_same_bits_and_reasons(fitted, tmp_path):
    fitted.save(tmp_path / "kernel.safetensors")
    loaded = load(tmp_path / "kernel.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(NEW), fitted.predict_proba(NEW))
    assert str(loaded.explain(NEW[:3])) == str(fitted.explain(NEW[:3]))


def test_a_file_that_says_nothing_clear_of_its_reasons_is_refused(fitted, tmp_path):
    path = tmp_path / "kernel.safetensors"
    fitted.save(path)
    contents = safetensors.read(path)
    arrays = dict(contents.arrays) | {"smooth.names_rows": np.array([2], dtype=np.uint8)}
    safetensors.write(path, arrays, contents.texts)
    with pytest.raises(ModelFileError, match="names_rows"):
        load(path)
