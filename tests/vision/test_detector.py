import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebelboost import ImageError, ImageWarning, Tree, kernels
from rebelboost.vision import Detector, Stage
from rebelboost.vision.images import resized
from rebelboost.vision.scanning import FoundWindows, merge_overlaps, scales_between
from rebelboost.vision.training import lowest_threshold, window_trees
from vision.conftest import WINDOW, draw_street, small_detector

ONE_SIZE = {"min_size": WINDOW, "max_size": WINDOW}


def overlap(one, other):
    """Intersection over union of boxes (left, top, width, height)."""
    shared = 1.0
    for i in range(2):
        first, last = max(one[i], other[i]), min(one[i] + one[i + 2], other[i] + other[i + 2])
        shared *= max(0.0, last - first)
    return shared / (one[2] * one[3] + other[2] * other[3] - shared)


# ---- what it finds


def test_the_best_boxes_are_the_houses(detector, scene):
    image, boxes = scene
    found = detector.detect(image)
    for box in boxes:
        assert max(overlap(box, found[i].box) for i in range(3)) > 0.7
    assert (found.scores[3:] < found.scores[2] / 4).all()
    assert (found.scores > 0).all()
    assert (np.diff(found.scores) <= 0).all()


@pytest.mark.parametrize("scale", [1.3, 2.0, 2.9])
def test_larger_houses_are_found_too(detector, scene, scale):
    image, boxes = scene
    large = resized(image, (round(scale * image.shape[0]), round(scale * image.shape[1])))
    found = detector.detect(large, scale_factor=1.15)
    for box in boxes:
        assert max(overlap(tuple(scale * x for x in box), each.box) for each in found) > 0.6


def test_smaller_houses_are_found_if_asked_for(detector, scene):
    image, boxes = scene
    small = resized(image, (image.shape[0] * 3 // 4, image.shape[1] * 3 // 4))
    found = detector.detect(small, min_size=(11, 14), scale_factor=1.1)
    best = [max([overlap(tuple(0.75 * x for x in box), f.box) for f in found]) for box in boxes]
    assert min(best) > 0.5


def test_a_shifted_image_shifts_its_boxes(detector, scene):
    image, _ = scene
    before = detector.detect(np.pad(image, 30), **ONE_SIZE)
    after = detector.detect(np.pad(image, ((33, 27), (24, 36))), **ONE_SIZE)
    # Boxes are means of windows, which round differently elsewhere.
    shift = np.array([-6, 3, 0, 0])
    np.testing.assert_allclose(after.boxes, before.boxes + shift, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(after.scores, before.scores)
    assert len(before) > 0


@pytest.mark.parametrize("change", [lambda p: p + 60, lambda p: 2 * p, lambda p: 2 * p + 5])
def test_brightness_and_contrast_change_no_decision(haar_detector, scene, change):
    image = scene[0] // 3
    before = haar_detector.detect(image, **ONE_SIZE)
    after = haar_detector.detect(change(image), **ONE_SIZE)
    np.testing.assert_array_equal(after.boxes, before.boxes)
    np.testing.assert_array_equal(after.scores, before.scores)
    assert len(before) == 3


@pytest.mark.parametrize("change", [lambda p: p + 60, lambda p: 2 * p + 5])
def test_brightness_and_contrast_change_no_decision_on_channels(detector, scene, change):
    # Magnitudes of gradients are rounded, so scores may change a little.
    image = scene[0] // 3
    before, after = (detector.detect(p, **ONE_SIZE) for p in (image, change(image)))
    np.testing.assert_allclose(after.boxes[:3], before.boxes[:3], atol=0.5)
    assert len(before) >= 3


def test_colours_floats_and_files_give_the_same_boxes(detector, scene, tmp_path):
    pil = pytest.importorskip("PIL.Image")
    image = scene[0]
    expected = detector.detect(image)
    pil.fromarray(image).save(tmp_path / "street.png")
    coloured = np.repeat(image[..., np.newaxis], 3, axis=2)
    for same in (coloured, image / 255, image.astype(int), tmp_path / "street.png"):
        np.testing.assert_array_equal(detector.detect(same).boxes, expected.boxes)


def test_an_image_smaller_than_the_window_has_no_boxes(detector):
    found = detector.detect(np.zeros((10, 100), dtype=np.uint8))
    assert len(found) == 0
    assert found.n_windows == 0
    assert found.terms_per_window == 0


def test_a_lower_threshold_finds_at_least_as_many_windows(detector, scene):
    image = scene[0]
    normal, low = (detector.detect(image, threshold=t).n_merged.sum() for t in (0.0, -3.0))
    assert low >= normal


# ---- the soft cascade


def test_most_windows_are_left_after_a_few_terms(detector, scene):
    found = detector.detect(scene[0])
    assert found.terms_per_window < len(detector.model_) / 2


def test_without_exit_thresholds_all_terms_are_used_and_no_box_is_lost(detector, scene):
    from dataclasses import replace

    never = np.full(len(detector.model_), -np.inf)
    full = Detector(WINDOW)
    full.model_ = replace(detector.model_, exit_thresholds=never)
    everything, quick = full.detect(scene[0]), detector.detect(scene[0])
    assert everything.n_terms == everything.n_windows * len(full.model_)
    assert quick.n_merged.sum() <= everything.n_merged.sum()
    np.testing.assert_array_equal(quick.scores[:3], everything.scores[:3])


@given(st.lists(st.floats(-9, 9), min_size=1), st.sampled_from([0.5, 0.99, 1.0]))
def test_the_threshold_detects_the_share_asked_for(scores, share):
    threshold = lowest_threshold(np.array(scores), share)
    assert threshold <= 0
    assert np.mean(np.array(scores) > threshold) >= share


# ---- training


def test_stages_record_falling_false_alarms(detector):
    stages = detector.stages_
    assert all(isinstance(stage, Stage) for stage in stages)
    assert stages[-1].n_terms == 40
    assert stages[-1].false_alarm_rate < stages[0].false_alarm_rate
    assert stages[-1].n_backgrounds > stages[0].n_backgrounds
    assert detector.detection_rate_ >= 0.95


def test_the_callback_is_told_of_every_stage(crops, streets):
    told = []
    small = Detector(WINDOW, n_terms=8, n_features=200, n_windows=600, callback=told.append)
    assert small.fit(crops, streets).stages_ == told


def test_training_twice_gives_the_same_bits_on_any_number_of_threads(haar_detector, crops, streets):
    again = small_detector("haar", n_jobs=2).fit(crops, streets)
    for ours, theirs in zip(again.model_.rectangles, haar_detector.model_.rectangles, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again.model_.trees.outputs, haar_detector.model_.trees.outputs)
    np.testing.assert_array_equal(
        again.model_.exit_thresholds, haar_detector.model_.exit_thresholds
    )


def test_the_pruned_search_gives_detectors_the_trees_of_a_full_search(crops, streets, monkeypatch):
    options = {"n_terms": 10, "n_features": 300, "n_windows": 1000, "outputs": "tree"}
    pruned = Detector(WINDOW, **options).fit(crops, streets)
    assert window_trees(2, "tree").search == "pruned"
    full = Tree(2, "tree", search="exhaustive")
    monkeypatch.setattr("rebelboost.vision.detector.window_trees", lambda *_: full)
    exhaustive = Detector(WINDOW, **options).fit(crops, streets)
    for name in ("features", "thresholds", "outputs"):
        np.testing.assert_array_equal(
            getattr(pruned.model_.trees, name), getattr(exhaustive.model_.trees, name)
        )
    sizes = np.abs(pruned.model_.trees.outputs).reshape(10, 4)
    np.testing.assert_array_equal(sizes, sizes[:, :1].repeat(4, axis=1))  # leaves choose the sign


def test_numpy_kernels_find_the_same_boxes(compiled, detector, scene):
    quick = detector.detect(scene[0], scale_factor=1.5)
    with kernels.using("reference"):
        slow = detector.detect(scene[0], scale_factor=1.5)
    np.testing.assert_array_equal(slow.boxes, quick.boxes)
    np.testing.assert_array_equal(slow.scores, quick.scores)
    assert slow.n_terms == quick.n_terms


def test_a_higher_price_of_a_miss_raises_the_scores_of_objects(crops, streets):
    means = []
    for price in (1, 100):
        options = {"n_terms": 4, "n_features": 50, "n_windows": 600, "price_of_a_miss": price}
        trained = Detector(WINDOW, detection_rate=0.01, **options).fit(crops, streets)
        means.append(trained.score_windows(crops).mean())
    assert means[1] > means[0]


def test_crops_of_other_sizes_are_resized_with_a_notice(crops, streets):
    large = [resized(crop, (32, 40)) for crop in crops[:30]]
    with pytest.warns(ImageWarning, match="30 of 30 crops were resized to 16 × 20"):
        Detector(WINDOW, n_terms=4, n_features=50, n_windows=300).fit(large, streets)


def test_backgrounds_that_are_too_small_are_skipped_with_a_notice(crops, streets):
    tiny = np.zeros((10, 10), dtype=np.uint8)
    with pytest.warns(ImageWarning, match="1 of 11 backgrounds are smaller"):
        Detector(WINDOW, n_terms=4, n_features=50, n_windows=300).fit(crops, [*streets, tiny])


@pytest.mark.parametrize(
    ("n_crops", "backgrounds", "message"),
    [
        (9, None, "9 crops are too few"),
        (20, [], "there are no backgrounds"),
        (20, [np.zeros((4, 4), np.uint8)], "smaller than the window"),
        (20, [np.zeros(4)], "background 0 has shape"),
    ],
)
def test_training_data_that_cannot_serve_are_refused(crops, streets, n_crops, backgrounds, message):
    given = streets if backgrounds is None else backgrounds
    with pytest.raises(ImageError, match=message):
        Detector(WINDOW).fit(crops[:n_crops], given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 24}, "height and width"),
        ({"window": (2, 50)}, "at least 6 pixels"),
        ({"window": (400, 400)}, "at most"),
        ({"features": "hog"}, 'choose "haar" or "channels"'),
        ({"n_terms": 0}, "n_terms is 0"),
        ({"depth": 9}, "depth is 9"),
        ({"outputs": "leaves"}, "outputs is 'leaves': give \"leaf\" or"),
        ({"price_of_a_miss": 0}, "price_of_a_miss is 0"),
        ({"detection_rate": 1.5}, "detection_rate is 1.5"),
        ({"step": 0}, "step is 0"),
    ],
)
def test_parameters_out_of_range_are_refused(crops, streets, options, message):
    with pytest.raises(ValueError, match=message):
        Detector(**{"window": WINDOW, **options}).fit(crops, streets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale_factor": 1.0}, "scale_factor is 1.0"),
        ({"overlap": 1}, "overlap is 1"),
        ({"min_size": 5}, "give height and width"),
        ({"min_size": (1, 1)}, "at least a tenth"),
    ],
)
def test_options_of_a_search_out_of_range_are_refused(detector, options, message):
    with pytest.raises(ValueError, match=message):
        detector.detect(np.zeros((50, 50)), **options)


def test_an_unfitted_detector_says_so():
    with pytest.raises(ValueError, match="not fitted"):
        Detector().detect(np.zeros((50, 50)))


# ---- merging, scales, explanations


def found_at(boxes, scores):
    return FoundWindows(
        np.array(boxes, float), np.array(scores, float), np.zeros((len(boxes), 6, 6), np.uint8)
    )


def test_overlapping_windows_are_merged_and_others_are_not():
    found = found_at(
        [(0, 0, 10, 10), (50, 0, 10, 10), (1, 0, 10, 10), (2, 2, 4, 4)], [1, 3, 2, 0.5]
    )
    merged, counts = merge_overlaps(found, 0.5)
    assert counts.tolist() == [1, 3]
    assert merged.scores.tolist() == [3, 2]
    np.testing.assert_array_equal(merged.boxes[0], [50, 0, 10, 10])
    assert 0 < merged.boxes[1, 0] < 2


def test_nothing_merges_to_nothing():
    merged, counts = merge_overlaps(found_at(np.empty((0, 4)), []), 0.5)
    assert merged.boxes.shape == (0, 4)
    assert len(counts) == 0


def test_scales_grow_by_the_factor_up_to_the_largest():
    np.testing.assert_allclose(scales_between(1, 2, 1.25), [1, 1.25, 1.5625, 1.953125])
    np.testing.assert_allclose(scales_between(2, 2, 1.25), [2])
    assert len(scales_between(2, 1.9, 1.25)) == 0


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(0, 255))
def test_a_constant_image_stays_constant_when_it_is_resized(height, width, new, grey):
    image = np.full((height, width), grey, dtype=np.uint8)
    assert (resized(image, (new, 41 - new)) == grey).all()


def test_resizing_keeps_a_linear_slope():
    image = np.repeat(np.arange(0, 200, 4, dtype=np.uint8)[np.newaxis], 50, axis=0)
    half = resized(image, (25, 25)).astype(int)
    np.testing.assert_array_equal(np.diff(half[:, 2:-2], axis=1), 8)


def test_an_explanation_sums_to_the_score(detector, scene):
    found = detector.detect(scene[0])[0]
    why = detector.explain(found)
    assert why.score == pytest.approx(found.score, abs=1e-12)
    total = why.contributions.sum() - detector.model_.threshold
    assert total == pytest.approx(found.score, abs=1e-9)
    table = why.table(5)
    assert len(table["term"]) == 5
    sizes = np.abs(table["contribution"])
    assert (np.diff(sizes) <= 0).all()
    for boxes in (b for row in table["rectangles"] for b in row):
        assert all(x >= 0 and x + w <= WINDOW[1] and y + h <= WINDOW[0] for x, y, w, h, _ in boxes)


def test_explanations_and_detections_can_be_drawn(detector, scene):
    plt = pytest.importorskip("matplotlib.pyplot")
    image = scene[0]
    found = detector.detect(image)
    assert len(found.plot(image).patches) == len(found)
    left, right = detector.explain(found[0]).plot()
    assert left.get_title().startswith("for: +")
    assert right.get_title().startswith("against: ")
    assert len(left.patches) > 0
    plt.close("all")


def test_detections_are_a_table(detector, scene):
    table = detector.detect(scene[0]).table()
    assert list(table) == ["left", "top", "width", "height", "score", "windows"]
    assert {len(column) for column in table.values()} == {len(detector.detect(scene[0]))}


def test_streets_without_houses_raise_few_false_alarms(detector):
    rng = np.random.default_rng(99)
    found = [detector.detect(draw_street(rng)) for _ in range(10)]
    assert sum(map(len, found)) <= sum(each.n_windows for each in found) / 5000
