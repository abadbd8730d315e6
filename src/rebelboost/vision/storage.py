"""Saving and loading of detectors: arrays and JSON in the safetensors format, checked on loading."""

import json
import math
import os
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import PLANES, RectangleArrays
from rebelboost.base.checks import Fields, TensorReader, require, room
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import Contents, check_version, parse_json, write
from rebelboost.model.trees import Trees
from rebelboost.vision.features import check_window
from rebelboost.vision.model import DetectorModel
from rebelboost.vision.training import Stage
from rebelboost.vision.transformer import KINDS

DETECTOR_FORMAT, DETECTOR_VERSION = "rebelboost detector", 1
LARGEST_WEIGHT = 1 << 15
MOST_STAGES = 1000


class StoredDetector(NamedTuple):
    """The contents of a file."""

    model: DetectorModel
    stages: list[Stage]
    parameters: dict[str, Any]


def write_detector(
    model: DetectorModel,
    stages: list[Stage],
    parameters: dict[str, Any],
    path: str | os.PathLike[str],
) -> None:
    """Write a detector to a file."""
    arrays = {f"trees.{name}": array for name, array in model.trees.to_tensors().items()}
    arrays |= {f"rectangles.{name}": array for name, array in model.rectangles._asdict().items()}
    arrays["floors"] = model.exit_thresholds
    arrays["stages"] = np.array([list(stage) for stage in stages], dtype=np.float64).reshape(
        -1, len(Stage._fields)
    )
    said = {
        "window": list(model.window),
        "n_terms": len(model),
        "threshold": model.threshold,
        **parameters,
    }
    texts = {
        "format": DETECTOR_FORMAT,
        "version": str(DETECTOR_VERSION),
        "detector": json.dumps(said, allow_nan=False),
    }
    write(path, arrays, texts)


def unpack_detector(contents: Contents) -> StoredDetector:
    """Check the contents of a file, and create the detector."""
    texts = contents.texts
    require(texts.get("format") == DETECTOR_FORMAT, "no detector in it")
    check_version(texts, DETECTOR_VERSION)
    require("detector" in texts, "no description of the detector")
    fields = Fields(parse_json(texts["detector"]), "the detector")
    reader = TensorReader(contents.arrays, room(contents.n_bytes))
    sides = fields.list("window")
    whole = len(sides) == 2 and all(type(side) is int and 0 < side < 2**15 for side in sides)
    require(whole, "a window that is not a height and a width")
    try:
        window = check_window(sides)
    except ValueError as error:
        raise ModelFileError(f"has an invalid window ({error})") from None
    rectangles = _take_rectangles(reader, window)
    n_terms = fields.whole("n_terms", 0, 2**31 - 1)
    categorical = np.zeros(len(rectangles.planes), dtype=bool)
    trees = Trees.from_tensors(reader, n_terms, categorical, 1)
    used = trees.features < len(rectangles.planes)
    require(used.all(), "trees with features that do not exist")
    require(n_terms == 0 or len(rectangles.planes) > 0, "trees without features")
    exits = reader.take("floors", np.float64, n_terms)
    require((exits < np.inf).all(), "exit thresholds that are not numbers")
    model = DetectorModel(window, rectangles, trees, exits, fields.number("threshold"))
    parameters = {
        "features": fields.word("features", KINDS),
        "step": fields.whole("step", 1, 2**15),
        "detection_rate": fields.number("detection_rate", 0.0, 1.0),
    }
    stages = _take_stages(reader)
    fields.end()
    reader.end()
    return StoredDetector(model, stages, parameters)


def _take_rectangles(reader: TensorReader, window: tuple[int, int]) -> RectangleArrays:
    planes = reader.indices("rectangles.planes", len(PLANES), None, least=1)
    n = len(planes)
    corners = reader.indices("rectangles.corners", 1 + max(window), n, 12)
    weights = reader.indices("rectangles.weights", LARGEST_WEIGHT + 1, n, 3, least=-LARGEST_WEIGHT)
    top, left, bottom, right = (corners[:, i::4] for i in range(4))
    ordered = (top <= bottom).all() and (left <= right).all()
    inside = (bottom <= window[0]).all() and (right <= window[1]).all()
    require(ordered and inside, "rectangles outside the window")
    return RectangleArrays(planes, corners, weights)


def _take_stages(reader: TensorReader) -> list[Stage]:
    table = reader.numbers("stages", None, len(Stage._fields))
    require(len(table) <= MOST_STAGES and (table >= 0).all(), "invalid stages")
    require((table[:, :3] == np.floor(table[:, :3])).all(), "stages with counts that are not whole")
    return [Stage(*map(math.floor, row[:3]), *row[3:]) for row in table.tolist()]
