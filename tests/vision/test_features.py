import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from rebelboost import RebelClassifier
from rebelboost.base.arrays import PLANES
from rebelboost.vision import RectangleFeatures
from rebelboost.vision.features import (
    HAAR_TYPES,
    Windows,
    channel_features,
    haar_features,
    integral_images,
    n_haar_features,
    take_features,
    window_features,
)
from rebelboost.vision.training import bin_windows

rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
FOUR_TYPES = ["left-right", "top-bottom", "middle column", "diagonal"]


def random_images(rng, n=6, size=(12, 14)):
    return rng.integers(0, 256, (n, *size), dtype=np.uint8)


@pytest.mark.paper
def test_a_24_by_24_window_has_45396_haar_features_at_offsets_of_2():
    assert len(haar_features((24, 24), 2).planes) == 45_396


@pytest.mark.parametrize(
    ("window", "types", "count"),
    [
        ((24, 24), FOUR_TYPES, 134_736),
        ((24, 24), HAAR_TYPES, 162_336),
        ((19, 19), HAAR_TYPES, 63_960),
    ],
)
def test_haar_features_at_all_offsets_are_as_many_as_published(window, types, count):
    assert len(haar_features(window, 1, types).planes) == count


@pytest.mark.parametrize("window", [(24, 24), (19, 19), (7, 12)])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_haar_features_are_counted_without_listing_them(window, step):
    assert n_haar_features(window, step) == len(haar_features(window, step).planes)


def test_a_large_window_draws_features_and_does_not_list_them_all():
    images = random_images(np.random.default_rng(0), 2, (100, 200))
    assert RectangleFeatures(n_features=50).fit_transform(images).shape == (2, 50)
    with pytest.raises(ValueError, match="give n_features"):
        RectangleFeatures().fit(images)


@given(rng=rngs)
def test_sums_from_integral_images_are_direct_sums(rng):
    (image,) = random_images(rng, 1)
    sums = integral_images(image[np.newaxis], 2).astype(int)
    for _ in range(20):
        (top, bottom), (left, right) = (
            np.sort(rng.integers(0, side + 1, 2)) for side in image.shape
        )
        part = image[top:bottom, left:right].astype(int)
        for plane, direct in zip(sums, (part**2, part), strict=True):
            found = (
                plane[bottom, right] - plane[bottom, left] - plane[top, right] + plane[top, left]
            )
            assert found == direct.sum()


def black_minus_white(image, name, top, left, size):
    """Feature by its picture: +1 on black, −1 on white; the middle of three counts twice."""
    part = image[top : top + size[0], left : left + size[1]].astype(int)
    (down, across), _ = HAAR_TYPES[name]
    cells = [np.hsplit(row, across) for row in np.vsplit(part, down)]
    signs = {
        "left-right": [[-1, 1]],
        "top-bottom": [[-1], [1]],
        "middle column": [[-1, 2, -1]],
        "middle row": [[-1], [2], [-1]],
        "diagonal": [[1, -1], [-1, 1]],
    }[name]
    return sum(signs[i][j] * cells[i][j].sum() for i in range(down) for j in range(across))


@pytest.mark.parametrize("name", HAAR_TYPES)
def test_a_haar_feature_is_black_minus_white_over_the_contrast(name):
    image = random_images(np.random.default_rng(7), 1)[0]
    features = haar_features(image.shape, 1, [name])
    values = window_features(image[np.newaxis], features)[0]
    inner = image[1:-1, 1:-1].astype(float)
    contrast = inner.size * inner.std()
    for i in range(0, len(values), 97):
        top, left, bottom, right = features.corners[i, :4].tolist()
        direct = black_minus_white(image, name, top, left, (bottom - top, right - left))
        assert values[i] == pytest.approx(direct / contrast, rel=1e-12, abs=1e-15)


def test_a_channel_feature_is_its_share_of_the_gradient():
    image = random_images(np.random.default_rng(8), 1)[0]
    features = channel_features(image.shape, 200)
    values = window_features(image[np.newaxis], features)[0]
    gy, gx = np.gradient(image.astype(float))
    magnitude = np.floor(4 * np.hypot(2 * gx, 2 * gy))[1:-1, 1:-1]
    plane = PLANES.index("magnitude")
    for i in np.flatnonzero(features.planes == plane):
        top, left, bottom, right = features.corners[i, :4] - 1
        share = magnitude[top:bottom, left:right].sum() / magnitude.sum()
        assert values[i] == pytest.approx(share, rel=1e-12)


def test_the_six_orientations_share_out_the_magnitude():
    sums = integral_images(random_images(np.random.default_rng(9), 1), len(PLANES)).astype(np.int64)
    np.testing.assert_array_equal(sums[2], sums[3:].sum(axis=0))


@pytest.mark.parametrize(("rows", "plane"), [(False, "0°"), (True, "90°")])
def test_an_edge_is_in_the_plane_of_its_gradient(rows, plane):
    image = np.zeros((10, 10), dtype=np.uint8)
    image[:, 5:] = 200
    sums = integral_images((image.T.copy() if rows else image)[np.newaxis], len(PLANES))
    inside = {PLANES[p] for p in range(3, len(PLANES)) if sums[p, -1, -1] > 0}
    assert inside == {plane}


@pytest.mark.parametrize("kind", ["haar", "channels"])
@pytest.mark.parametrize("grey", [0, 1, 128, 255])
def test_all_features_of_a_constant_image_are_0(kind, grey):
    features = RectangleFeatures(kind).fit_transform(np.full((2, 12, 14), grey, dtype=np.uint8))
    assert not features.any()


@pytest.mark.parametrize("kind", ["haar", "channels"])
@given(rng=rngs, more=st.integers(0, 127))
def test_brightness_changes_no_bit(kind, rng, more):
    images = random_images(rng) // 2
    features = RectangleFeatures(kind, n_features=300).fit(images)
    brighter = features.transform(images + np.uint8(more))
    np.testing.assert_array_equal(brighter, features.transform(images))


@given(rng=rngs)
def test_contrast_changes_no_bit_of_haar_features(rng):
    # Twice the contrast is exact in binary; other factors round in the last place.
    images = random_images(rng) // 2
    features = RectangleFeatures(n_features=300).fit(images)
    np.testing.assert_array_equal(
        features.transform(images * np.uint8(2)), features.transform(images)
    )


@given(rng=rngs)
def test_contrast_changes_shares_of_the_gradient_by_rounding_only(rng):
    # The magnitude 4·|∇p| is rounded down: that of a pixel doubles, or doubles plus 1.
    images = random_images(rng) // 2
    total = integral_images(images, len(PLANES))[2 :: len(PLANES), -1, -1].min()
    features = RectangleFeatures("channels", n_features=300).fit(images)
    change = features.transform(images * np.uint8(2)) - features.transform(images)
    assert np.abs(change).max() <= images[0].size / total


@pytest.mark.parametrize("kind", ["haar", "channels"])
def test_chosen_features_are_columns_of_all(kind):
    images = random_images(np.random.default_rng(1))
    every = RectangleFeatures(kind, n_features=500).fit_transform(images)
    some = RectangleFeatures(kind, n_features=500, chosen=[7, 3, 499]).fit_transform(images)
    np.testing.assert_array_equal(some, every[:, [7, 3, 499]])


def test_the_transformer_takes_colours_and_floats_and_lists():
    images = random_images(np.random.default_rng(2), 3)
    features = RectangleFeatures().fit(images)
    expected = features.transform(images)
    coloured = [np.repeat(image[..., np.newaxis], 3, axis=2) for image in images]
    np.testing.assert_array_equal(features.transform(coloured), expected)
    np.testing.assert_array_equal(features.transform(images / 255), expected)
    assert len(features.get_feature_names_out()) == expected.shape[1]


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((2, 12, 15), np.uint8), "fit had 12 × 14"),
        (np.full((2, 12, 14), 300), "scale them to 0 to 255"),
        (np.full((2, 12, 14), np.nan), "floats outside 0 to 1"),
        (np.zeros((2, 12, 14), complex), "has type complex128"),
        ([np.zeros((12, 14)), np.zeros((12, 15))], "several sizes"),
        ([np.zeros(5)], "has shape"),
        ([], "no images"),
    ],
)
def test_images_that_do_not_fit_are_refused(images, message):
    features = RectangleFeatures().fit(np.zeros((1, 12, 14), np.uint8))
    with pytest.raises(ValueError, match=message):
        features.transform(images)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "sift"}, 'choose "haar" or "channels"'),
        ({"chosen": [-1]}, "integers from 0 to"),
        ({"n_features": 0}, "1 or more"),
    ],
)
def test_options_that_do_not_exist_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RectangleFeatures(**options).fit(np.zeros((1, 12, 14), np.uint8))


def test_bins_of_blocks_of_features_are_those_of_all_at_once():
    images = random_images(np.random.default_rng(3), 40, (12, 12))
    features = take_features(haar_features((12, 12)), np.arange(700))
    windows = Windows(images, 2)
    data = bin_windows(windows, features, 16)
    values = windows.values(features)
    for f in (0, 255, 256, 699):
        expected = np.searchsorted(data.binner.edges[f], values[:, f], side="left")
        np.testing.assert_array_equal(data.column(f), expected)
    assert data.n_features == 700
    assert data.bins.blocks.nbytes == 704 * 40


def test_a_pipeline_learns_where_the_bright_half_is():
    rng = np.random.default_rng(5)
    images, right = rng.integers(0, 100, (80, 12, 12), dtype=np.uint8), np.arange(80) % 2 == 1
    images[right, :, 6:] += 100
    images[~right, :, :6] += 100
    model = make_pipeline(RectangleFeatures(n_features=200), RebelClassifier("stump", n_rounds=3))
    assert model.fit(images[:60], right[:60]).score(images[60:], right[60:]) == 1
