"""The detector of the papers: plain AdaBoost on exact stumps of Haar features."""

import numpy as np
import pytest

from rebelboost import RebelClassifier
from rebelboost.boosting.fit import train
from rebelboost.boosting.settings import Settings
from rebelboost.data.samples import Samples
from rebelboost.model.trees import Trees
from rebelboost.rows.base import MemoryRows
from rebelboost.vision import Detector
from rebelboost.vision.detector import EXACT_STUMP
from rebelboost.vision.features import Windows, n_planes
from rebelboost.vision.training import WindowTrees, between_stages, bin_windows
from rebelboost.vision.transformer import feature_pool
from vision.conftest import WINDOW

FEW = {"n_terms": 12, "n_features": 60, "n_windows": 600, "max_stages": 3}


def test_its_terms_are_those_of_adaboost_on_the_values_of_the_features():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (400, *WINDOW), dtype=np.uint8)
    images[:150, 3:8] //= 2
    labels = (np.arange(400) < 150).astype(np.int32)
    pool = feature_pool("haar", WINDOW, 1, 40, 0)
    windows = Windows(images, n_planes(pool), 1)
    data = bin_windows(windows, pool, "exact")
    samples = Samples(np.zeros((400, 0)), labels, 1 - np.eye(2))
    settings = Settings(WindowTrees(data, EXACT_STUMP), 15, tol=0.0)
    ((_, ours),) = train(MemoryRows.of(samples), settings).of_kind(Trees)
    clf = RebelClassifier.papers("adaboost", n_rounds=15).fit(windows.values(pool), labels)
    ((_, theirs),) = clf.ensemble_.of_kind(Trees)
    np.testing.assert_array_equal(ours.features, theirs.features)
    np.testing.assert_array_equal(ours.thresholds, theirs.thresholds)
    np.testing.assert_array_equal(ours.outputs, theirs.outputs)


@pytest.mark.parametrize("cascade", ["soft", "staged"])
def test_it_finds_objects(crops, streets, cascade):
    detector = Detector.papers("viola_jones", window=WINDOW, cascade=cascade, **FEW)
    detector.fit(crops, streets)
    assert detector.detection_rate_ > 0.8
    exits = detector.model_.exit_thresholds
    if cascade == "staged":
        assert not np.isfinite(exits[[0, 2, 4, 5, 6]]).any()
        assert np.isfinite(exits[[1, 3, 7]]).all()


def test_stages_end_after_two_four_and_eight_terms():
    exits = between_stages(np.arange(9.0))
    np.testing.assert_array_equal(np.flatnonzero(np.isfinite(exits)), [1, 3, 7])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Detector.papers("viola"), "choose viola_jones"),
        (lambda: Detector.papers("viola_jones", shrinkage=0.5), "part of the published method"),
    ],
)
def test_what_is_not_published_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": "exact"}, "for depth=1 and outputs"),
        ({"bins": 1000}, "2 to 255"),
        ({"shrinkage": 0}, "above 0"),
        ({"cascade": "hard"}, '"soft" or "staged"'),
        ({"weight_trimming": 0}, "above 0"),
    ],
)
def test_parameters_that_cannot_be_are_refused(options, message, crops, streets):
    with pytest.raises(ValueError, match=message):
        Detector(WINDOW, **options).fit(crops, streets)
