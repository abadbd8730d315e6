"""scale="auto": which units are chosen, and which are not tried to the end."""

from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, Similarity
from rebelboost.selection import scale as scales


def test_within_counts_standard_errors_of_differences_sample_by_sample():
    # Above the best on 2 of 4 samples by 1: a sum of 2, standard error √(4 · ¼) = 1.
    paid = {"none": np.array([1.0, 1, 0, 0]), "standard": np.zeros(4)}
    assert list(scales.within(2, paid)) == ["none", "standard"]
    assert list(scales.within(1.99, paid)) == ["standard"]


def test_scales_that_do_equally_well_leave_the_plainest():
    same = np.array([0.0, 1, 1])
    assert scales.plainest(dict.fromkeys(("none", "standard", "whitened"), same)) == "none"
    # By one sample of three: a sum of 1, standard error √(4/9 + 1/9 + 1/9) < 1.
    assert scales.plainest({"none": same, "standard": np.array([0.0, 0, 1])}) == "standard"


@pytest.mark.parametrize(
    ("none", "tried"),
    [
        (0.9, {"none": 1, "standard": 3, "whitened": 3}),
        (0.02, {"none": 3, "standard": 3, "whitened": 3}),
    ],
)
def test_a_scale_far_behind_on_the_first_third_is_not_tried_on_the_others(monkeypatch, none, tried):
    wrong = {"none": none, "standard": 0.02, "whitened": 0.0}
    calls = Counter()

    def held_out_costs(settings, _samples, part):
        scale = settings.learner.scale
        calls[scale] += 1
        costs = np.zeros(np.count_nonzero(part.out))
        costs[: round(wrong[scale] * len(costs))] = 1
        return costs

    monkeypatch.setattr(scales, "_held_out_costs", held_out_costs)
    X, y = load_iris(return_X_y=True)
    RebelClassifier(Similarity(), n_rounds=2).fit(X, y)
    assert calls == tried
