"""Metrics that need variances or covariances take those of the training samples."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import rebelboost
from rebelboost import RebelClassifier, Similarity
from rebelboost.data.measured import fit_measured
from stored_models import assert_same_answers, numbers

METRICS = ("seuclidean", "mahalanobis")


@pytest.fixture(scope="module", params=METRICS)
def fitted(request):
    X, y = numbers(n=80)
    return RebelClassifier(Similarity(metric=request.param), n_rounds=20).fit(X, y), X


def test_a_sample_scores_the_same_whatever_other_samples_are_asked_about(fitted):
    model, X = fitted
    scores = model.decision_function(X)
    for some in ([0], [5, 6], list(range(30, 60))):
        np.testing.assert_array_equal(model.decision_function(X[some]), scores[some])
    far = np.concatenate([X[:3], 1e6 * np.ones((50, X.shape[1]))])
    np.testing.assert_array_equal(model.decision_function(far)[:3], scores[:3])


def test_a_loaded_model_measures_by_the_same_parameters(fitted, tmp_path):
    model, X = fitted
    model.save(tmp_path / "m")
    again = rebelboost.load(tmp_path / "m")
    assert_same_answers(model, again, X)
    assert_same_answers(model, again, X[:1])


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_scipy_on_the_training_samples(metric):
    X, _ = numbers(n=50)
    space = fit_measured(metric, X, np.ones(len(X)))
    # SciPy divides by N − 1, we by N; sums are rounded to 2⁻²⁵.
    own = {
        "seuclidean": {"V": X.var(axis=0, ddof=1)},
        "mahalanobis": {"VI": np.linalg.inv(np.cov(X.T))},
    }
    expected = cdist(X, X, metric, **own[metric]) * np.sqrt(len(X) / (len(X) - 1))
    found = space.distances(X, X, np.arange(len(X)), 1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_constant_and_dependent_features_have_finite_distances(metric):
    X, y = numbers(n=60)
    X = np.column_stack([X, np.ones(60), X[:, 0] + X[:, 1]])
    model = RebelClassifier(Similarity(metric=metric), n_rounds=5).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
