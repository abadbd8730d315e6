"""Similarities with a distance of the user's own, of so many samples that not all distances are computed."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from determinism.tables import numbers
from rebelboost import RebelClassifier, Similarity
from rebelboost.data import point_set
from rebelboost.learners import similarity_search

X, Y = numbers()
DISTANCES = cdist(X, X, "sqeuclidean")


@pytest.fixture
def drawn(monkeypatch):
    """How often pairs were drawn outside of the kernels."""
    found, draw = [], similarity_search.draw_pairs
    monkeypatch.setattr(point_set, "MOST_MEASURED", 10)
    monkeypatch.setattr(
        similarity_search, "draw_pairs", lambda *given: found.append(draw(*given)) or found[-1]
    )
    return found


def fitted(subset, n_jobs=1):
    learner = Similarity(metric="precomputed", subset=subset)
    model = RebelClassifier(learner, n_rounds=30, cross_fit=None, n_jobs=n_jobs, random_state=0)
    return model.fit(DISTANCES, Y)


@pytest.mark.parametrize("subset", [60, 2048])
def test_the_loss_never_rises_and_pairs_are_of_two_samples(drawn, subset):
    model = fitted(subset)
    assert sum(map(len, drawn)) > 0
    assert all(pair.anchor != pair.rival for pairs in drawn for pair in pairs)
    losses = model.history_.table()["log_loss"]
    assert (np.diff(losses) <= 0).all()
    assert model.score(DISTANCES, Y) > np.bincount(Y).max() / len(Y)


@pytest.mark.parametrize("subset", [60, 2048])
def test_the_number_of_threads_changes_no_bit(drawn, subset):
    one, two = fitted(subset), fitted(subset, n_jobs=2)
    assert drawn
    np.testing.assert_array_equal(
        one.decision_function(DISTANCES), two.decision_function(DISTANCES), strict=True
    )
