"""Small classification problems for Hypothesis: ties, constants, missing values, zero costs."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost import RebelClassifier, Stump, Tree


@dataclass
class Problem:
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    costs: np.ndarray

    def fit(self, learner, **options):
        """One plain run of boosting: the papers' decision needs no cross-fitting."""
        options = {"n_rounds": 10, "costs": self.costs, "decision": "argmax", **options}
        model = RebelClassifier(learner, **options)
        return model.fit(self.X, self.y, sample_weight=self.weight)


# Few values make ties; many make every gain its own.
grid = st.integers(-3, 3).map(float)
fine = st.floats(-4, 4, width=32)
missing = st.just(np.nan)


@st.composite
def problems(draw, values=None, weights=None, max_samples=40):
    """2 to 4 classes, all of which occur with some weight."""
    n_classes = draw(st.integers(2, 4))
    n_samples = draw(st.integers(n_classes + 1, max_samples))
    n_features = draw(st.integers(1, 4))
    if values is None:
        values = draw(st.sampled_from([grid, fine, grid | missing, fine | missing]))
    X = draw(hnp.arrays(np.float64, (n_samples, n_features), elements=values))
    y = draw(hnp.arrays(np.int64, n_samples, elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    if weights is None:
        weights = st.sampled_from([0.0, 1.0, 1.0, 2.0]) | st.floats(0.01, 10)
    weight = draw(hnp.arrays(np.float64, n_samples, elements=weights))
    weight[:n_classes] += 1
    cost = st.sampled_from([0.0, 0.1, 1.0, 1.0, 5.0]) | st.floats(0.01, 100)
    costs = draw(hnp.arrays(np.float64, (n_classes, n_classes), elements=cost))
    np.fill_diagonal(costs, 0)
    costs[0, 1] += 1  # one mistake costs something
    return Problem(X, y, weight, costs)


def random_problem(seed, n_samples=60, n_features=4, n_classes=3, noise=1.0):
    """Noisy blobs: no two gains are equal, as far as floats go."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n_samples - n_classes)]
    X = rng.normal(size=(n_classes, n_features))[y]
    X += noise * rng.normal(size=(n_samples, n_features))
    costs = rng.uniform(0.2, 3, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    return Problem(X, y, rng.uniform(0.3, 2, size=n_samples), costs)


one_output = st.sampled_from([Stump(), Tree(depth=2, outputs="tree"), Tree(4, outputs="tree")])
leaf_outputs = st.sampled_from([Tree(depth=1), Tree(depth=3), Tree(depth=5, smoothing=0.0)])
learners = one_output | leaf_outputs
subcosts = st.sampled_from(["thesis", "rebel"])
