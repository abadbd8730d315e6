import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from kernels.calls import assert_same
from rebelboost.base.arrays import WindowGrid
from rebelboost.kernels import reference

planes = st.sampled_from([2, 9])
sizes = st.tuples(st.integers(3, 14), st.integers(3, 14))


@given(rng=builders.rngs, n_planes=planes, size=sizes, n=st.integers(1, 5))
def test_compiled_features_equal_reference(compiled, rng, n_planes, size, n):
    images = builders.random_images(rng, n, *size)
    rectangles = builders.random_rectangles(rng, 20, n_planes, *size)
    results = []
    for module in (compiled, reference):
        sums = calls.integrate(module, images, n_planes)
        scales = calls.window_scales(module, sums, n)
        results.append((sums, scales, calls.window_values(module, sums, scales, rectangles)))
    assert_same(*results)


@given(
    rng=builders.rngs,
    n_planes=planes,
    size=sizes,
    more=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    step=st.integers(1, 3),
    depths=st.lists(st.integers(0, 3), max_size=5),
)
def test_compiled_scans_equal_reference(compiled, rng, n_planes, size, more, step, depths):
    (image,) = builders.random_images(rng, 1, size[0] + more[0], size[1] + more[1])
    sums = calls.integrate(compiled, image[np.newaxis], n_planes)
    rectangles = builders.random_rectangles(rng, 6, n_planes, *size)
    trees, floors = builders.random_detector(rng, depths, 6)
    arguments = sums, WindowGrid(*size, step), rectangles, trees, floors
    ours = calls.scan_windows(compiled, *arguments)
    assert_same(ours, calls.scan_windows(reference, *arguments))


def test_threads_change_no_bit_of_a_scan(compiled):
    rng = np.random.default_rng(3)
    image = builders.random_images(rng, 1, 150, 170)
    sums = calls.integrate(compiled, image, 9)
    rectangles = builders.random_rectangles(rng, 9, 9, 20, 30)
    trees, floors = builders.random_detector(rng, [2, 1, 3] * 5, 9)
    arguments = sums, WindowGrid(20, 30), rectangles, trees, floors
    alone = calls.scan_windows(compiled, *arguments)
    for n_threads in (2, 3):
        assert_same(calls.scan_windows(compiled, *arguments, n_threads=n_threads), alone)


def test_a_scan_computes_the_features_of_each_window_cut_out(either):
    rng = np.random.default_rng(4)
    image = rng.integers(0, 256, (14, 17), dtype=np.uint8)
    rectangles = builders.random_rectangles(rng, 3, 2, 8, 9)
    trees, _ = builders.random_detector(rng, [1, 2], 3)
    never = np.full(2, -np.inf)
    sums = calls.integrate(either, image[np.newaxis], 2)
    scores, _ = calls.scan_windows(either, sums, WindowGrid(8, 9), rectangles, trees, never)
    cut = np.lib.stride_tricks.sliding_window_view(image, (8, 9)).reshape(-1, 8, 9).copy()
    inside = calls.integrate(either, cut, 2)
    scales = calls.window_scales(either, inside, len(cut))
    values = calls.window_values(either, inside, scales, rectangles)
    expected = np.zeros((len(cut), 1))
    either.predict(values, trees, 0, 2, expected, 1)
    np.testing.assert_array_equal(scores.ravel(), expected[:, 0])


def test_sums_beyond_32_bits_wrap_around_and_windows_stay_exact(either):
    bright = np.full((1, 300, 300), 255, dtype=np.uint8)  # the squares sum to 5.9 · 10⁹
    sums = calls.integrate(either, bright, 2)[0]
    assert int(sums[-1, -1]) == 300 * 300 * 255**2 % 2**32
    corner = sums[300:, 300:] - sums[200, 300] - sums[300, 200] + sums[200, 200]
    assert int(corner[0, 0]) == 100 * 100 * 255**2


@pytest.mark.parametrize("kind", ["gradient", "grey"])
def test_a_window_without_contrast_has_factors_of_0(either, kind):
    sums = calls.integrate(either, np.full((1, 6, 7), 50, dtype=np.uint8), 9)
    assert not calls.window_scales(either, sums, 1).any()
