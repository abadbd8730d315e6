import numpy as np
import pytest

from rebelboost import Stump, Tree
from rebelboost.boosting.fit import follow, train
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.data.samples import Samples
from rebelboost.rows.base import MemoryRows


def samples_of(rng, n_samples, n_codes):
    """Numbers, some missing, and a column of codes."""
    X = rng.normal(size=(n_samples, 4)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = rng.integers(0, n_codes, n_samples)
    labels = (X[:, 2] % 3).astype(np.int32)
    labels[np.nan_to_num(X[:, 0]) > 1] = 0
    categorical = np.array([0, 0, 1, 0], dtype=np.uint8)
    return Samples(X, labels, 1.0 - np.eye(3), categorical=categorical)


@pytest.mark.parametrize("learner", [Tree(4), Tree(3, outputs="tree"), Stump()], ids=str)
def test_held_out_samples_reach_the_leaves_of_their_values(learner):
    # Codes that training never saw are missing values.
    rng = np.random.default_rng(0)
    seen, held = samples_of(rng, 150, 5), samples_of(rng, 90, 9)
    settings, history = Settings(learner, 12, 0.5), History()
    followed = follow(held, settings)
    ensemble = train(MemoryRows.of(seen), settings, held=followed, history=history)
    np.testing.assert_array_equal(followed.state.scores, ensemble.scores(held.X))
    assert history[-1].held == followed.state.held()
