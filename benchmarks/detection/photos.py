"""Photos: backgrounds without faces, and some with the boxes of their faces."""

import re
from typing import NamedTuple

import numpy as np

import data
from rebelboost.vision.images import grey_image, image_files, read_image, resized

LARGE = 500_000
"""Pixels from which a photo is halved: it would take most of the time of the search."""


class FacePhoto(NamedTuple):
    name: str
    image: np.ndarray
    boxes: list[tuple[float, float, float, float]]  # left, top, width, height


def backgrounds() -> list[np.ndarray]:
    return [read_image(path) for path in image_files(data.folder() / "photos" / "backgrounds")]


def pip_backgrounds() -> list[np.ndarray]:
    """Images without faces that come with scikit-image and scikit-learn; large ones at half their size."""
    from skimage import data as photos
    from sklearn.datasets import load_sample_image

    images = [
        photos.astronaut()[200:],  # below the face
        photos.cell(),
        photos.clock(),
        photos.immunohistochemistry(),
        photos.microaneurysms(),
        photos.retina(),
        np.where(photos.horse(), 0, 255).astype(np.uint8),
        load_sample_image("china.jpg"),
        load_sample_image("flower.jpg"),
    ]
    greys = [grey_image(image, "a photo") for image in images]
    return [
        resized(grey, (grey.shape[0] // 2, grey.shape[1] // 2)) if grey.size > LARGE else grey
        for grey in greys
    ]


def lfw_crops(side: int, n_cuts: int) -> np.ndarray:
    """Faces of scikit-image's lfw_subset, some in half profile, each cut `n_cuts` times like CBCL's."""
    from skimage.data import lfw_subset

    rng = np.random.default_rng(0)
    cut = []
    for face in lfw_subset()[:100]:
        large = resized(np.rint(255 * face).astype(np.uint8), (100, 100))
        for _ in range(n_cuts):
            size = 75 * np.exp(rng.uniform(-0.06, 0.06))
            top = round(48 - size / 2 + rng.uniform(-2, 2))
            left = round(50 - size / 2 + rng.uniform(-2, 2))
            window = large[top : top + round(size), left : left + round(size)]
            cut.append(resized(window, (side, side)))
    return np.stack(cut)


def streets(part: str) -> list[np.ndarray]:
    """Images of the car data, none with a face: the crops of "train", or the images of "test"."""
    with np.load(data.path("uiuc_cars")) as arrays:
        if part == "train":
            return [*arrays["train_others"], *arrays["train_cars"]]
        return [arrays[name] for name in arrays if name.startswith("test_")]


def face_photos() -> list[FacePhoto]:
    """Those with boxes made by hand."""
    folder, photos = data.folder() / "photos", {}
    for listing in sorted(folder.glob("dlib_*.xml")):
        for file, inside in re.findall(
            r"<image file='([^']+)'[^>]*>(.*?)</image>", listing.read_text(), flags=re.DOTALL
        ):
            path = folder / f"dlib_{file}"
            if path.exists():
                boxes = re.findall(
                    r"<box top='(-?\d+)' left='(-?\d+)' width='(\d+)' height='(\d+)'", inside
                )
                own = [(float(x), float(y), float(w), float(h)) for y, x, w, h in boxes]
                photos.setdefault(file, FacePhoto(file, read_image(path), own))
    return list(photos.values())


def found_and_false(
    boxes: list[tuple[float, ...]], truth: list[tuple[float, float, float, float]]
) -> tuple[int, int]:
    """Faces found, and boxes that are none: a box is right if its middle is in the face and sizes agree."""
    left, false = list(truth), 0
    for x, y, w, h in boxes:
        right = [
            t
            for t in left
            if t[0] < x + w / 2 < t[0] + t[2]
            and t[1] < y + h / 2 < t[1] + t[3]
            and 0.4 < w / t[2] < 2.5
        ]
        if right:
            left.remove(right[0])
        else:
            false += 1
    return len(truth) - len(left), false
