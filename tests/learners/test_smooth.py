"""Smooth similarities: the regression behind them, and classifiers made of them."""

import numpy as np
import pytest

from rebelboost import RebelClassifier, RebelRegressor, SmoothSimilarity, kernels, load
from rebelboost.learners import smooth
from rebelboost.model.smooth import SmoothSimilarities


def products(seed, n):
    """Two classes and a third between them, by a difference of products: no axis-parallel boundary is near."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (n, 4)).astype(float)
    difference = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    return X, np.array(["left", "even", "right"])[np.sign(difference).astype(int) + 1]


X, y = products(0, 300)
NEW, TRUE = products(1, 600)


def squared(a, b):
    return ((a[:, np.newaxis] - b) ** 2).sum(axis=2).astype(np.float32)


def small_basis(width=1.0, n=40, n_examples=12):
    points = np.random.default_rng(0).normal(size=(n, 3))
    distances = squared(points[:n_examples], points)
    tau = width * smooth.typical(distances)
    return smooth.make_basis(tau, distances, distances[:, :n_examples]), distances


EVERYTHING = np.arange(40, dtype=np.int32)


# ---- the regression


def test_outputs_of_the_similarities_give_the_scores_of_the_features():
    basis, distances = small_basis()
    solved = np.random.default_rng(1).normal(size=(3, 1 + basis.features.shape[1]))
    solved[:, 1 + len(basis.chosen) :] = 0
    a, b = basis.outputs(solved)
    f = (basis.tau - distances.T) / (basis.tau + distances.T)
    # Features are rounded to 2⁻²⁴, and coefficients of about 1 are added up.
    np.testing.assert_allclose(f @ a + b, basis.scores(solved, EVERYTHING), atol=1e-5)


def test_the_penalty_is_that_of_features_with_a_variance_of_one():
    basis, _ = small_basis()
    variance = basis.features.astype(np.float64).var(axis=0).sum()
    assert basis.ridge(3.0) == pytest.approx(3 * variance / 40, rel=1e-6)


def test_larger_penalties_use_fewer_features():
    basis, _ = small_basis(16.0, 40, 40)
    used = [basis.n_features(penalty) for penalty in (100.0, 1.0, 1e-9)]
    assert used == sorted(used)
    assert used[0] < used[-1] == len(basis.factor)


def test_number_path_is_ridge_regression(monkeypatch):
    monkeypatch.setattr(smooth, "FADED", 0.0)
    basis, _ = small_basis()
    rng = np.random.default_rng(2)
    target, weight = rng.normal(size=40), rng.exponential(size=40)
    (found,) = smooth.regression_path(basis, target, weight, (0.1,))
    design = np.column_stack([np.ones(40), basis.features])
    penalty = basis.ridge(0.1) * np.eye(design.shape[1])
    penalty[0, 0] = 0  # the constant is free
    share = weight / weight.sum()
    expected = np.linalg.solve(design.T * share @ design + penalty, design.T * share @ target)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6, atol=1e-9)


def test_class_path_is_logistic_regression_of_each_class(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(smooth, "MOST_STEPS", 2000)
    monkeypatch.setattr(smooth, "PRECISION", 1e-12)
    monkeypatch.setattr(smooth, "FADED", 0.0)
    basis, _ = small_basis()
    labels = np.random.default_rng(3).integers(0, 3, 40)
    *_, found = smooth.class_path(basis, np.eye(3)[labels], (10.0, 1.0))
    for k in range(3):
        # Scores are half the log-odds, so coefficients of log-odds are penalised a quarter as much.
        model = LogisticRegression(C=4 / (40 * basis.ridge(1.0)), tol=1e-10, max_iter=10_000)
        model.fit(basis.features.astype(np.float64), labels == k)
        np.testing.assert_allclose(2 * found[k, 1:], model.coef_[0], rtol=1e-3, atol=1e-4)


def test_scores_of_two_classes_are_opposite():
    basis, _ = small_basis()
    mass = np.eye(2)[np.random.default_rng(3).integers(0, 2, 40)]
    for solved in smooth.class_path(basis, mass, (1.0, 0.1)):
        np.testing.assert_array_equal(solved[0], -solved[1])


# ---- classifiers


@pytest.fixture(scope="module")
def fitted():
    return RebelClassifier("smooth").fit(X, y)


def test_it_learns_products_from_few_samples(fitted):
    trees = RebelClassifier("tree").fit(X, y)
    assert fitted.score(NEW, TRUE) > 0.95
    assert trees.score(NEW, TRUE) < 0.92


def test_the_race_uses_it_where_it_is_best():
    clf = RebelClassifier(n_rounds=30).fit(X, y)
    best = max(clf.cross_fit_.standings, key=lambda standing: standing.share)
    assert best.name == "smooth similarities"
    assert clf.score(NEW, TRUE) > 0.95


def test_neither_the_order_of_rows_nor_weights_for_repeated_rows_of_a_group_change_it(fitted):
    order = np.random.default_rng(0).permutation(len(X))
    again = RebelClassifier("smooth").fit(X[order], y[order])
    np.testing.assert_array_equal(again.predict_proba(NEW), fitted.predict_proba(NEW))
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    group = np.arange(len(X))  # repeated rows would be left out by different fits otherwise
    weighted = RebelClassifier("smooth").fit(X, y, sample_weight=weight, groups=group)
    twice = np.repeat(group, weight)
    repeated = RebelClassifier("smooth").fit(X[twice], y[twice], groups=twice)
    # What is known of held-out samples depends on their number, so that offsets differ a little.
    np.testing.assert_allclose(
        weighted.predict_proba(NEW), repeated.predict_proba(NEW), rtol=0, atol=0.02
    )


def test_threads_and_kernels_give_the_same_bits(fitted):
    expected = fitted.predict_proba(NEW)
    with kernels.using("reference"):
        np.testing.assert_array_equal(fitted.predict_proba(NEW), expected)
    threaded = RebelClassifier("smooth", n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(threaded.predict_proba(NEW), expected)


@pytest.mark.parametrize("estimator", [RebelClassifier("smooth"), RebelRegressor(n_rounds=20)])
def test_kernels_train_the_same_bits(estimator):
    few, target = X[:80], y[:80]
    if isinstance(estimator, RebelRegressor):
        target = X[:80, 0] * X[:80, 1]
    ours = estimator.fit(few, target).predict(NEW)
    with kernels.using("reference"):
        np.testing.assert_array_equal(estimator.fit(few, target).predict(NEW), ours)


def test_a_model_file_gives_the_same_bits(fitted, tmp_path):
    fitted.save(tmp_path / "smooth.safetensors")
    np.testing.assert_array_equal(
        load(tmp_path / "smooth.safetensors").predict_proba(NEW), fitted.predict_proba(NEW)
    )


def test_contributions_of_features_sum_to_the_scores(fitted):
    for why, scores in zip(fitted.explain(NEW[:5]), fitted.decision_function(NEW[:5]), strict=True):
        shares = [share.by_class for share in why.features]
        assert len(shares) == 4
        np.testing.assert_allclose(why.baseline + np.sum(shares, axis=0), scores, atol=1e-9)


def test_features_without_effect_get_no_credit():
    noise = np.random.default_rng(5).normal(size=(300, 1))
    wide = RebelClassifier("smooth").fit(np.column_stack([X, noise]), y)
    (function,) = (
        f for _, terms in wide.model_.ensemble.of_kind(SmoothSimilarities) for f in terms.functions
    )
    placed = function.space.place(np.column_stack([X, noise])[:50])
    _, added = function.by_column(placed, 1)
    sizes = np.abs(added).mean(axis=(0, 2))
    assert sizes[4] < 0.2 * sizes[:4].min()


def test_categories_and_missing_values_are_credited_to_their_columns():
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
        }
    )
    labels = (table["colour"] == "red").to_numpy() ^ (rng.random(n) < 0.05)
    clf = RebelClassifier("smooth").fit(table, labels)
    (terms,) = [terms for _, terms in clf.model_.ensemble.of_kind(SmoothSimilarities)]
    assert terms.functions[0].space.feature_of_column.tolist() == [0, 0, 1, 1, 1]
    assert (clf.predict(table) == labels).mean() > 0.9


@pytest.mark.parametrize("options", [{"cross_fit": None}, {"early_stopping": True}])
def test_a_single_fit_is_refused(options):
    with pytest.raises(ValueError, match="held-out samples"):
        RebelClassifier("smooth", **options).fit(X, y)


def test_training_on_costs_is_refused_and_costs_act_in_the_decision():
    costs = np.array([[0, 1, 1], [1, 0, 1], [20, 20, 0]])
    with pytest.raises(ValueError, match="training='neutral'"):
        RebelClassifier("smooth", costs=costs, training="costs").fit(X, y)
    clf = RebelClassifier("smooth", costs=costs).fit(X, y)
    dear = clf.classes_[2]
    assert (clf.predict(NEW) == dear).sum() > (
        RebelClassifier("smooth").fit(X, y).predict(NEW) == dear
    ).sum()


@pytest.mark.parametrize(("name", "value"), [("scale", "whitened"), ("examples", 1)])
def test_options_are_checked(name, value):
    with pytest.raises(ValueError, match=name):
        SmoothSimilarity(**{name: value})


def test_few_samples_and_points_that_coincide():
    few = RebelClassifier("smooth").fit([[0.0], [0.0], [1.0], [1.0], [1.0]], list("aabbb"))
    assert few.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
    same = RebelClassifier("smooth").fit(np.zeros((6, 2)), list("aabbbb"))
    np.testing.assert_allclose(same.predict_proba(np.zeros((1, 2))).sum(), 1)


def test_examples_are_limited():
    clf = RebelClassifier(SmoothSimilarity(examples=20)).fit(X, y)
    (terms,) = [terms for _, terms in clf.model_.ensemble.of_kind(SmoothSimilarities)]
    assert len(terms.functions[0].rows) == 20


def test_importances_and_similar_rows_of_a_smooth_function(fitted):
    sizes = fitted.feature_importances_
    np.testing.assert_allclose(sizes.sum(), 1)
    assert (sizes > 0.1).all()  # all four columns decide alike
    why = fitted.explain(NEW[:1])[0]
    nearest = ((X - NEW[0]) ** 2).sum(axis=1).argmin()
    assert (X[why.similar[0].row] == X[nearest]).all()
    assert "smooth function of the similarity" in str(fitted.summary())
