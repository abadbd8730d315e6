"""The area under the ROC curve is scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from rebelboost.evaluation.binary import area_under_roc


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 200),
    decimals=st.sampled_from([0, 1, 2, 16]),
    weights=st.sampled_from(["ones", "whole", "any", "some zero"]),
)
def test_the_area_is_that_of_scikit_learn(seed, n, decimals, weights):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.append([0, 1], rng.integers(0, 2, n - 2))).astype(np.int32)
    scores = np.round(rng.random(n) + 0.3 * labels, decimals)
    weight = {
        "ones": np.ones(n),
        "whole": rng.integers(1, 5, n).astype(float),
        "any": rng.random(n) + 0.1,
        "some zero": np.where(rng.random(n) < 0.3, 0.0, rng.random(n)),
    }[weights]
    if weight[labels == 0].sum() == 0 or weight[labels == 1].sum() == 0:
        weight = np.ones(n)
    expected = roc_auc_score(labels, scores, sample_weight=weight)
    found = area_under_roc(labels, scores, weight)
    if weights in {"ones", "whole"}:  # sums of weights are exact
        assert found == expected
    # Versions of scikit-learn add up equal scores in another order: 200 roundings, about 1e-16 each.
    assert found == pytest.approx(expected, rel=1e-13)


def test_a_class_without_weight_has_no_area():
    labels, weight = np.array([0, 1, 1]), np.array([0.0, 1, 1])
    assert np.isnan(area_under_roc(labels, np.array([0.1, 0.5, 0.9]), weight))
