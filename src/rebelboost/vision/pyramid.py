"""Resized copies of an image, in each of which objects of one size fill the window."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rebelboost.base.arrays import Bytes
from rebelboost.vision.features import Size

UNIT = 1 << 11
"""Denominator of the weights of pixels: 8 bits of a pixel and twice 11 bits fit into 31."""


class Level(NamedTuple):
    """An image at one scale."""

    image: Bytes
    """(h, w)"""
    scale: tuple[float, float]
    """Height and width of a pixel of the level, in pixels of the original."""


def resized(image: Bytes, size: Size) -> Bytes:
    """Resize a grey image by weights that fall linearly with distance, over at least two pixels a side.

    The arithmetic is in integers: the result is the same on every machine.
    """
    if image.shape == size:
        return image
    down = _weights(image.shape[0], size[0]) @ image.astype(np.int32)
    both = _weights(image.shape[1], size[1]) @ np.ascontiguousarray(down.T)
    rounded = (both + UNIT * UNIT // 2) // (UNIT * UNIT)
    return np.ascontiguousarray(rounded.T.astype(np.uint8))


def _weights(n_in: int, n_out: int) -> sparse.csr_matrix:
    """(n_out, n_in) integer weights; each row sums to `UNIT`."""
    ratio = n_in / n_out
    reach = max(1.0, ratio)
    centre = (np.arange(n_out) + 0.5) * ratio - 0.5
    first = np.ceil(centre - reach).astype(np.int64)
    at = first[:, np.newaxis] + np.arange(int(2 * reach) + 1)
    weight = np.maximum(0, 1 - np.abs(at - centre[:, np.newaxis]) / reach)
    weight[(at < 0) | (at >= n_in)] = 0
    shares = np.rint(UNIT * weight / weight.sum(axis=1, keepdims=True)).astype(np.int32)
    largest = np.argmax(shares, axis=1)
    shares[np.arange(n_out), largest] += UNIT - shares.sum(axis=1, dtype=np.int32)
    rows = np.repeat(np.arange(n_out), at.shape[1])
    cells = (shares.ravel(), (rows, np.clip(at, 0, n_in - 1).ravel()))
    return sparse.csr_matrix(cells, shape=(n_out, n_in))


def scales_between(smallest: float, largest: float, factor: float) -> NDArray[np.float64]:
    """Scales from the smallest to the largest, each `factor` times the one before it."""
    if largest < smallest:
        return np.empty(0)
    n = int(np.floor(np.log(largest / smallest) / np.log(factor) + 1e-9)) + 1
    return np.cumprod(np.append(smallest, np.full(n - 1, factor)))


def levels(image: Bytes, window: Size, scales: NDArray[np.float64]) -> Iterator[Level]:
    """The image at each scale at which a window fits into it."""
    for scale in scales:
        size = round(image.shape[0] / scale), round(image.shape[1] / scale)
        if size[0] >= window[0] and size[1] >= window[1]:
            yield Level(resized(image, size), (image.shape[0] / size[0], image.shape[1] / size[1]))
