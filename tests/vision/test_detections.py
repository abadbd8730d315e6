import math

import numpy as np
import pytest

from rebelboost.vision.detections import count_detections

TRUTH = np.array([[0.0, 0, 10, 10], [50, 0, 10, 10]])


@pytest.mark.parametrize(
    ("boxes", "right", "false"),
    [
        ([], 0, 0),
        ([[0, 0, 10, 10]], 1, 0),
        ([[0, 0, 10, 10], [1, 0, 10, 10]], 1, 1),  # the second finds it again
        ([[3, 0, 10, 10]], 1, 0),  # 70 of 130
        ([[4, 0, 10, 10]], 0, 1),  # 60 of 140
        ([[50, 0, 10, 10], [0, 0, 10, 10], [90, 0, 5, 5]], 2, 1),
    ],
)
def test_boxes_are_matched_with_true_ones_once(boxes, right, false):
    counts = count_detections(np.array(boxes, dtype=float).reshape(-1, 4), TRUTH)
    assert (counts.n_true, counts.n_right, counts.n_false) == (2, right, false)


def test_shares_of_nothing_are_undefined():
    counts = count_detections(np.empty((0, 4)), np.empty((0, 4)))
    assert math.isnan(counts.recall)
    assert math.isnan(counts.precision)
    assert count_detections(TRUTH, TRUTH).plus(counts).recall == 1
