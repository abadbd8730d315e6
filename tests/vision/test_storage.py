"""Detectors in files: the same bits after loading, and refusals."""

import json

import numpy as np
import pytest

import rebelboost
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import Contents, parse, write
from rebelboost.vision import load_detector
from rebelboost.vision.storage import unpack_detector


@pytest.fixture
def path(detector, tmp_path):
    place = tmp_path / "houses.safetensors"
    detector.save(place)
    return place


def test_a_loaded_detector_finds_the_same_boxes(detector, path, scene):
    loaded = load_detector(path)
    ours, theirs = loaded.detect(scene[0]), detector.detect(scene[0])
    np.testing.assert_array_equal(ours.boxes, theirs.boxes)
    np.testing.assert_array_equal(ours.scores, theirs.scores)
    assert ours.n_terms == theirs.n_terms
    assert loaded.stages_ == detector.stages_
    assert loaded.detection_rate_ == detector.detection_rate_
    assert loaded.features == detector.features


def test_saving_a_loaded_detector_writes_the_same_bytes(path, tmp_path):
    load_detector(path).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_a_truncated_or_altered_file_is_refused(path):
    blob = path.read_bytes()
    for spoilt in (b"", blob[:20], blob[:-1], blob[:-9] + bytes([blob[-9] ^ 1]) + blob[-8:]):
        path.write_bytes(spoilt)
        with pytest.raises(ModelFileError, match=r"houses\.safetensors"):
            load_detector(path)


def test_a_classifier_is_not_a_detector_nor_the_other_way_round(path, tmp_path):
    with pytest.raises(ModelFileError, match="no rebelboost model"):
        rebelboost.load(path)
    X = np.arange(20.0).reshape(10, 2)
    model = rebelboost.RebelClassifier("stump", n_rounds=2).fit(X, np.arange(10) % 2)
    model.save(tmp_path / "model.safetensors")
    with pytest.raises(ModelFileError, match="no detector"):
        load_detector(tmp_path / "model.safetensors")


def set_to(value):
    def change(array):
        array = array.copy()
        array.flat[0] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("rectangles.planes", set_to(0), "outside 1 to 8"),
        ("rectangles.planes", set_to(9), "outside 1 to 8"),
        ("rectangles.corners", set_to(-1), "outside 0"),
        ("rectangles.corners", set_to(20), "rectangles outside the window"),
        ("rectangles.weights", set_to(2**20), "outside"),
        ("rectangles.weights", lambda a: a[:-1], "shape"),
        ("trees.features", set_to(10**6), "outside"),
        ("trees.depths", set_to(99), "deeper than"),
        ("trees.outputs", set_to(np.nan), "not finite"),
        ("floors", set_to(np.nan), "exit thresholds"),
        ("floors", lambda a: a[:-1], "shape"),
        ("stages", set_to(-1), "invalid stages"),
        ("stages", set_to(0.5), "not whole"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(path, name, change, fault):
    contents = parse(path.read_bytes())
    arrays = contents.arrays | {name: change(contents.arrays[name])}
    with pytest.raises(ModelFileError, match=fault):
        unpack_detector(Contents(arrays, contents.texts))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"window": [16]}, "a window that is not"),
        ({"window": [16, 0]}, "a window that is not"),
        ({"window": [4, 20]}, "invalid window"),
        ({"n_terms": -1}, "n_terms"),
        ({"threshold": "0"}, "threshold"),
        ({"features": "hog"}, "features"),
        ({"step": 0}, "step"),
        ({"detection_rate": 2}, "detection_rate"),
        ({"more": 1}, "unexpected fields"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(path, change, fault):
    contents = parse(path.read_bytes())
    said = json.loads(contents.texts["detector"]) | change
    texts = contents.texts | {"detector": json.dumps(said)}
    with pytest.raises(ModelFileError, match=fault):
        unpack_detector(Contents(contents.arrays, texts))


def test_a_newer_format_is_refused_with_the_remedy(path):
    contents = parse(path.read_bytes())
    write(path, contents.arrays, contents.texts | {"version": "2"})
    with pytest.raises(ModelFileError, match="install a newer rebelboost"):
        load_detector(path)
