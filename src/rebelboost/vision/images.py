"""Images as grey bytes: from arrays, and from files by Pillow; and in other sizes."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rebelboost.base.arrays import Bytes
from rebelboost.exceptions import ImageError
from rebelboost.vision.features import Size

MOST_PIXELS = 100_000_000
"""Maximum number of pixels of an image."""
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
"""Files that count as images in a folder."""
LUMA = (299, 587, 114)
"""Thousandths of red, green and blue in grey [ITU-R 601], as in Pillow and OpenCV."""
UNIT = 1 << 11
"""Denominator of the weights of pixels: 8 bits of a pixel and twice 11 bits fit into 31."""


def grey_image(image: Any, name: str = "the image") -> Bytes:
    """(H, W) grey bytes of an array: grey or colour; bytes, or floats from 0 to 1."""
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] in {1, 3, 4}:
        array = array[..., 0] if array.shape[2] == 1 else _grey_of_colours(array[..., :3], name)
    elif array.ndim != 2:
        raise ImageError(
            f"{name} has shape {array.shape}: give (height, width), or (height, width, 3) for colours"
        )
    if 0 in array.shape:
        raise ImageError(f"{name} is empty: its shape is {array.shape}")
    if array.size > MOST_PIXELS:
        raise ImageError(f"{name} has {array.size:,} pixels, more than {MOST_PIXELS:,}: resize it")
    return np.ascontiguousarray(_bytes(array, name))


def _grey_of_colours(array: Any, name: str) -> Bytes:
    red, green, blue = np.moveaxis(_bytes(array, name).astype(np.int32), -1, 0)
    r, g, b = LUMA
    return ((r * red + g * green + b * blue + 500) // 1000).astype(np.uint8)


def _bytes(array: Any, name: str) -> Bytes:
    if array.dtype == np.uint8:
        return array
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind == "f":
        inside = np.isfinite(array).all() and (array >= 0).all() and (array <= 1).all()
        if not inside:
            raise ImageError(
                f"{name} has floats outside 0 to 1, or NaN: divide by the largest possible value"
            )
        return np.rint(255 * array).astype(np.uint8)
    if array.dtype.kind in "iu":
        if (array < 0).any() or (array > 255).any():
            raise ImageError(
                f"{name} has integers from {array.min()} to {array.max()}: scale them to 0 to 255"
            )
        return array.astype(np.uint8)
    raise ImageError(f"{name} has type {array.dtype}: give bytes, or floats from 0 to 1")


def grey_windows(images: Any) -> Bytes:
    """(N, H, W) grey bytes of images of one size."""
    array = np.asarray(images) if isinstance(images, np.ndarray) else None
    if array is not None and array.ndim == 3 and 0 not in array.shape:
        return np.ascontiguousarray(_bytes(array, "the images"))
    each = [grey_image(image, f"image {i}") for i, image in enumerate(images)]
    if not each:
        raise ImageError("there are no images")
    shapes = sorted({image.shape for image in each})
    if len(shapes) > 1:
        raise ImageError(
            f"the images have several sizes, such as {shapes[0]} and {shapes[1]}: resize them"
        )
    return np.stack(each)


def read_image(path: str | os.PathLike[str]) -> Bytes:
    """Grey bytes of an image file. A file that cannot be read raises `ImageError`."""
    return grey_image(_decoded(Path(path), "L"), str(path))


def read_colours(path: str | os.PathLike[str]) -> Bytes:
    """(H, W, 3) bytes of an image file, to draw on."""
    return np.asarray(_decoded(Path(path), "RGB"))


def _decoded(path: Path, mode: str) -> Any:
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ImageError(
            "reading image files needs Pillow: pip install rebelboost[vision]"
        ) from None
    if path.is_dir():
        raise ImageError(f"{path} is a folder: give an image file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large images, which are refused below
            with Image.open(path) as file:
                _check_size(path, *file.size)
                if file.mode.startswith("I") or file.mode == "F":
                    return _of_wide_pixels(np.asarray(file, dtype=np.float64), mode)
                return ImageOps.exif_transpose(file).convert(mode)
    except (ImageError, FileNotFoundError, PermissionError):
        raise
    except Image.DecompressionBombError:
        raise ImageError(f"{path} has more than {MOST_PIXELS:,} pixels: resize it") from None
    except Exception as error:  # noqa: BLE001  (decoders raise whatever they like on broken files)
        told = " ".join(str(error).split()) or type(error).__name__
        raise ImageError(f"{path} cannot be read as an image ({told[:120]})") from None


def _check_size(path: Path, width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise ImageError(
            f"{path} has {width} × {height} pixels, more than {MOST_PIXELS:,}: resize it"
        )


def _of_wide_pixels(values: Any, mode: str) -> Any:
    """Images of 16 or 32 bits a pixel, whose range is seldom used to the full: stretched to bytes."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    scaled = np.nan_to_num((values - low) / (high - low) if high > low else np.zeros_like(values))
    grey = np.rint(255 * scaled).astype(np.uint8)
    return grey if mode == "L" else np.repeat(grey[..., np.newaxis], 3, axis=2)


def image_files(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Image files of a folder and its subfolders, sorted; a single file is returned as it is."""
    place = Path(folder)
    if place.is_file():
        yield place
    elif not place.is_dir():
        raise ImageError(f"there is no folder {place}")
    else:
        files = (path for path in sorted(place.rglob("*")) if path.suffix.lower() in SUFFIXES)
        yield from (path for path in files if path.is_file())


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
