import numpy as np
import pytest

from rebelboost.vision.augmentation import with_copies
from vision.conftest import small_detector


def test_copies_stay_in_the_groups_of_their_crops(crops):
    groups = np.arange(len(crops))
    copied, own = with_copies(crops, groups, 2, 10.0, 0)
    assert copied.shape == (3 * len(crops), *crops.shape[1:])
    np.testing.assert_array_equal(copied[: len(crops)], crops)
    np.testing.assert_array_equal(own, np.tile(groups, 3))


def test_without_copies_the_crops_are_as_given(crops):
    copied, own = with_copies(crops, np.arange(len(crops)), 0, 10.0, 0)
    np.testing.assert_array_equal(copied, crops)
    assert len(own) == len(crops)


def test_each_copy_is_another_and_resembles_its_crop():
    rows, columns = np.indices((20, 20))
    ball = (200 * np.exp(-((rows - 9.5) ** 2 + (columns - 6) ** 2) / 20)).astype(np.uint8)
    copied, _ = with_copies(ball[np.newaxis], np.zeros(1, dtype=int), 8, 10.0, 0)
    assert len({copy.tobytes() for copy in copied}) == 9
    for copy in copied:
        assert np.corrcoef(copy.ravel(), ball.ravel())[0, 1] > 0.9


def test_a_turn_moves_pixels_around_the_middle():
    right = np.zeros((21, 21), dtype=np.uint8)
    right[8:13, 15:20] = 200
    copied, _ = with_copies(right[np.newaxis], np.zeros(1, dtype=int), 200, 90.0, 0)
    rows, columns = np.indices(right.shape) - 10
    weights = copied / copied.sum(axis=(1, 2), keepdims=True)
    y, x = (weights * rows).sum(axis=(1, 2)), (weights * columns).sum(axis=(1, 2))
    angle = np.rad2deg(np.arctan2(y, x))
    # Shifts of half a pixel, at a distance of 7, turn by up to 6 degrees more.
    assert np.abs(angle).max() < 96
    assert angle.min() < -60
    assert angle.max() > 60


def test_a_detector_trained_on_copies_finds_turned_houses(crops, streets):
    turned, _ = with_copies(crops[:40], np.arange(40), 1, 60.0, 1)
    aligned, copying = (
        small_detector("channels", copies=n, turn=60.0).fit(crops[40:100], streets[:4])
        for n in (0, 2)
    )
    found = [np.mean(each.score_windows(turned[40:]) > 0) for each in (aligned, copying)]
    assert found[1] > found[0]


@pytest.mark.parametrize(("name", "value"), [("copies", -1), ("turn", 181.0)])
def test_wrong_copies_are_refused_with_their_value(crops, streets, name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}: give 0 to"):
        small_detector("haar", **{name: value}).fit(crops, streets)
