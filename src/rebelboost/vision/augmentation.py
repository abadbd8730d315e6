"""Random copies of crops: shifted, resized, narrowed and turned a little, as objects in images are."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from rebelboost.base.arrays import Bytes, Floats

SHIFT = 0.025
"""Largest shift, as a share of each side."""
RESIZING = 0.08
"""Logarithm of the largest factor by which a copy is larger or smaller."""
NARROWER, WIDER, SHEAR = 0.12, 0.06, 0.08
"""Logarithms of the largest factors by which a copy is narrower or wider, and its largest shear. An object that
is turned away from the camera looks narrower."""


def with_copies(
    crops: Bytes, groups: NDArray[np.int64], n: int, turn: float, seed: int
) -> tuple[Bytes, NDArray[np.int64]]:
    """(N, H, W) crops and n copies of each, turned by up to `turn` degrees; copies stay in the crop's group."""
    rng = np.random.default_rng(seed)
    copies = [np.stack([_copy(crop, turn, rng) for crop in crops]) for _ in range(n)]
    return np.concatenate([crops, *copies]), np.tile(groups, 1 + n)


def _copy(crop: Bytes, turn: float, rng: np.random.Generator) -> Bytes:
    """Pixels outside of the crop repeat its border."""
    angle = np.deg2rad(rng.uniform(-turn, turn))
    size = np.exp(rng.uniform(-RESIZING, RESIZING))
    shift = SHIFT * rng.uniform(-1, 1, 2) * crop.shape
    matrix: Floats = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    narrow = np.exp(rng.uniform(-WIDER, NARROWER))
    matrix = matrix @ np.array([[1, rng.uniform(-SHEAR, SHEAR)], [0, narrow]]) / size
    middle = (np.array(crop.shape) - 1) / 2
    values = ndimage.affine_transform(
        crop.astype(np.float64), matrix, middle + shift - matrix @ middle, order=1, mode="nearest"
    )
    return np.rint(values).astype(np.uint8)
