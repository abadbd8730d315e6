import numpy as np
import pytest

from rebelboost.vision import Detector

WINDOW = (16, 20)


def draw_house(rng):
    """A bright house with a gable and a dark door, of varying size, place and light."""
    image = rng.integers(30, 90, WINDOW).astype(float)
    top, bottom, left, right = (
        5 + rng.integers(3),
        12 + rng.integers(3),
        3 + rng.integers(3),
        14 + rng.integers(3),
    )
    image[top:bottom, left:right] += rng.uniform(40, 110)
    middle = (left + right) // 2
    for row in range(top):
        half = row * (right - left) // (2 * top)
        image[row, middle - half : middle + half + 1] += rng.uniform(20, 80)
    image[top + 3 : bottom, middle - 1 : middle + 2] -= rng.uniform(30, 80)
    return np.clip(image * rng.uniform(0.6, 1.1) + rng.uniform(-10, 25), 0, 255).astype(np.uint8)


def draw_street(rng, height=120, width=160):
    """Noise, bars, bright boxes, gables without houses: no houses."""
    image = rng.integers(30, 90, (height, width)).astype(float)
    for _ in range(40):
        top, left = rng.integers(0, height - 12), rng.integers(0, width - 15)
        part = image[top : top + rng.integers(3, 12), left : left + rng.integers(3, 15)]
        part += rng.uniform(-60, 110) * (np.tri(*part.shape) if rng.random() < 0.4 else 1)
    return np.clip(image, 0, 255).astype(np.uint8)


@pytest.fixture(scope="session")
def crops():
    rng = np.random.default_rng(1)
    return np.stack([draw_house(rng) for _ in range(150)])


@pytest.fixture(scope="session")
def streets():
    rng = np.random.default_rng(2)
    return [draw_street(rng) for _ in range(10)]


@pytest.fixture(scope="session", params=["haar", "channels"])
def detector(request, crops, streets):
    return small_detector(request.param).fit(crops, streets)


@pytest.fixture(scope="session")
def haar_detector(crops, streets):
    return small_detector("haar").fit(crops, streets)


def small_detector(features, **options):
    return Detector(
        WINDOW, features, n_terms=40, n_features=800, n_windows=4000, max_stages=6, **options
    )


@pytest.fixture
def scene():
    """A street with three new houses, and their boxes: left, top, width, height."""
    rng = np.random.default_rng(77)
    image = draw_street(rng, 150, 200)
    boxes = [(20, 30, 20, 16), (120, 20, 20, 16), (90, 100, 20, 16)]
    for left, top, width, height in boxes:
        image[top : top + height, left : left + width] = draw_house(rng)
    return image, boxes
