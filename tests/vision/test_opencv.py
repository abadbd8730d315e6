"""Cascades that we export are read and run by OpenCV 4, with the same decisions."""

from dataclasses import replace

import numpy as np
import pytest

from rebelboost.vision import Detector
from rebelboost.vision.opencv_xml import stage_ends
from vision.conftest import WINDOW, small_detector

cv2 = pytest.importorskip("cv2")
if not hasattr(cv2, "CascadeClassifier"):
    pytest.skip("OpenCV 5 has no cascades", allow_module_level=True)


@pytest.fixture(scope="module", params=[1, 2])
def trained(request, crops, streets):
    return small_detector("haar", depth=request.param, step=2).fit(crops, streets)


def our_windows(detector, image):
    """Windows that pass the stages of the cascade, at steps of 2, of enough contrast for OpenCV."""
    model = detector.model_
    ends = np.array(stage_ends(len(model))) - 1
    exits = np.full(len(model), -np.inf)
    exits[ends] = model.exit_thresholds[ends]
    scores, used = replace(model, exit_thresholds=exits).scan(image, step=2)
    rows, columns = np.nonzero((scores > model.threshold) & (used == len(model)))
    boxes = {(2 * int(x), 2 * int(y)) for y, x in zip(rows, columns, strict=True)}
    inside = np.lib.stride_tricks.sliding_window_view(image[1:-1, 1:-1], np.subtract(WINDOW, 2))
    return {(x, y) for x, y in boxes if inside[y, x].std() > 10}


def opencv_windows(path, image):
    cascade = cv2.CascadeClassifier(str(path))
    assert not cascade.empty()
    size = (WINDOW[1], WINDOW[0])
    assert tuple(cascade.getOriginalWindowSize()) == size
    found = cascade.detectMultiScale(image, 1.1, 0, 0, size, size)
    return {(int(x), int(y)) for x, y, _, _ in found}


def test_opencv_finds_the_same_windows(trained, scene, tmp_path):
    path = tmp_path / "houses.xml"
    text = trained.to_opencv_xml(path)
    assert path.read_text() == text
    # OpenCV leaves out the window after one that fails in the first stage, and the last row and column.
    image = scene[0]
    ours, theirs = our_windows(trained, image), opencv_windows(path, image)
    assert len(theirs) >= 3
    assert theirs <= ours
    near = {(x + dx, y) for x, y in theirs for dx in (-2, 0, 2)}
    assert ours <= near


def test_opencv_finds_the_houses_at_all_scales(trained, scene, tmp_path):
    path = tmp_path / "houses.xml"
    trained.to_opencv_xml(path)
    image, boxes = scene
    found = cv2.CascadeClassifier(str(path)).detectMultiScale(image, 1.1, 2)
    for left, top, _, _ in boxes:
        assert any(abs(x - left) < 6 and abs(y - top) < 6 for x, y, _, _ in found)


def test_features_of_gradients_cannot_be_exported(crops, streets):
    detector = Detector(WINDOW, "channels", n_terms=9, n_features=300, n_windows=300)
    with pytest.raises(ValueError, match='features="haar"'):
        detector.fit(crops, streets).to_opencv_xml()


def test_stages_grow_to_all_terms():
    assert stage_ends(200) == [2, 8, 32, 128, 200]
    assert stage_ends(2) == [2]
    assert stage_ends(1) == [1]
