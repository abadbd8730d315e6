"""What a detector may be given: its parameters, crops of objects, backgrounds, sizes of objects."""

import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rebelboost.base.arrays import Bytes
from rebelboost.data.binning import MOST_BINS
from rebelboost.exceptions import ImageError, ImageWarning
from rebelboost.vision.features import Size
from rebelboost.vision.images import grey_image, read_image, resized


def check_parameters(given: Any) -> None:
    """Raise an error that names the parameter and what it may be."""
    rules: list[tuple[str, bool, str]] = [
        ("n_terms", 1 <= given.n_terms <= 100_000, "1 or more"),
        ("depth", 1 <= given.depth <= 6, "1 to 6"),
        ("outputs", given.outputs in ("leaf", "tree"), '"leaf" or "tree"'),
        ("price_of_a_miss", 0 < given.price_of_a_miss <= 1e6, "a number above 0, up to 10⁶"),
        ("detection_rate", 0 < given.detection_rate <= 1, "a share above 0, up to 1"),
        ("false_alarm_rate", 0 <= given.false_alarm_rate < 1, "a rate from 0 to below 1"),
        ("early_misses", 0 <= given.early_misses < 1, "a share from 0 to below 1"),
        ("copies", 0 <= given.copies <= 100, "0 to 100"),
        ("turn", 0 <= given.turn <= 180, "0 to 180 degrees"),
        ("n_windows", given.n_windows >= 100, "100 or more"),
        ("max_stages", given.max_stages >= 1, "1 or more"),
        ("shrinkage", 0 < given.shrinkage <= 1, "a factor above 0, up to 1"),
        ("cascade", given.cascade in ("soft", "staged"), '"soft" or "staged"'),
        ("weight_trimming", is_share(given.weight_trimming), "a share above 0, up to 1, or None"),
        ("bins", is_bins(given), '2 to 255, or "exact" for depth=1 and outputs="tree"'),
        ("step", given.step is None or given.step >= 1, "1 or more, or None"),
    ]
    for name, good, wanted in rules:
        if not good:
            raise ValueError(f"{name} is {getattr(given, name)!r}: give {wanted}")


def is_share(value: Any) -> bool:
    """Whether it is None, or a share above 0."""
    return bool(value is None or 0 < value <= 1)


def is_bins(given: Any) -> bool:
    """Whether the number of bins is possible; exact thresholds are for stumps only."""
    if given.bins == "exact":
        return bool(given.depth == 1 and given.outputs == "tree")
    return isinstance(given.bins, int | np.integer) and bool(2 <= given.bins <= MOST_BINS)


FEWEST_CROPS = 10
SHORT_SIDE = 24
"""Shorter side of the window, unless the crops are smaller."""


def any_image(image: Any, name: str) -> Bytes:
    """Grey bytes of an array or a file."""
    return read_image(image) if isinstance(image, str | os.PathLike) else grey_image(image, name)


def training_crops(crops: Iterable[Any], window: Size) -> Bytes:
    """(N, H, W) crops of objects, resized to the window."""
    images = [any_image(crop, f"crop {i}") for i, crop in enumerate(crops)]
    if len(images) < FEWEST_CROPS:
        raise ImageError(
            f"{len(images)} crops are too few to train on: give at least {FEWEST_CROPS}, better 100"
        )
    other = [image.shape for image in images if image.shape != window]
    if other:
        warnings.warn(
            f"{len(other)} of {len(images)} crops were resized to {window[0]} × {window[1]} pixels "
            f"(height × width); one had {other[0][0]} × {other[0][1]}",
            ImageWarning,
            stacklevel=3,
        )
    return np.stack([resized(image, window) for image in images])


def window_for(crops: Sequence[Bytes]) -> Size:
    """The median proportions of the crops, with the shorter side 24, or that of the crops if smaller."""
    height, width = np.median([crop.shape for crop in crops], axis=0)
    ratio = min(1.0, SHORT_SIDE / min(height, width))
    return round(height * ratio), round(width * ratio)


def training_backgrounds(backgrounds: Iterable[Any], window: Size) -> list[Bytes]:
    """Backgrounds that the window fits into."""
    images = [any_image(image, f"background {i}") for i, image in enumerate(backgrounds)]
    if not images:
        raise ImageError("there are no backgrounds: give images without the object")
    large = [i for i in images if i.shape[0] >= window[0] and i.shape[1] >= window[1]]
    if not large:
        raise ImageError(
            f"all {len(images)} backgrounds are smaller than the window of {window[0]} × {window[1]} "
            "pixels: give larger images or a smaller window"
        )
    if len(large) < len(images):
        warnings.warn(
            f"{len(images) - len(large)} of {len(images)} backgrounds are smaller than the window of "
            f"{window[0]} × {window[1]} pixels and were skipped",
            ImageWarning,
            stacklevel=3,
        )
    return large


def scale_of(size: Size, window: Size, name: str) -> float:
    """Scale at which objects of this height and width fill the window."""
    try:
        height, width = (float(side) for side in size)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {size!r}: give height and width") from None
    scale = max(height / window[0], width / window[1])
    if not 0.1 <= scale < 1e6:
        raise ValueError(
            f"{name} is {height:g} × {width:g}: give at least a tenth of the window, "
            f"{window[0]} × {window[1]}"
        )
    return scale
