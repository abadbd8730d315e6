"""Estimators → model files: arrays and JSON in the safetensors format; `loading` reads them.

Everything that predicts, decides, explains and goes on training is kept, as data: nothing in a file is
ever executed.
"""

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.costs import cost_matrix
from rebelboost.crossfit import CrossFit
from rebelboost.exceptions import ModelFileError
from rebelboost.flattening import flatten
from rebelboost.frames import FeatureEncoder, as_frame
from rebelboost.labels import class_arrays
from rebelboost.names import plain
from rebelboost.parameters import Encoder, check_together
from rebelboost.records import history_arrays
from rebelboost.remembered import reason_arrays
from rebelboost.shelving import space_fields, term_arrays
from rebelboost.tensors import write
from rebelboost.texts import Scalar, scalar_arrays, text_arrays

FORMAT, VERSION = "rebelboost", 1
BY_SAMPLE = ("left_out", "rows")
"""Of a cross-fit, where it keeps them: the scores of samples by the fits that left them out."""

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays, and an object of JSON."""


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file."""
    estimator._validate_params()  # what would be refused on loading is better refused now
    flat = flatten(estimator.ensemble_)
    arrays, model = _parameters(estimator)
    arrays |= term_arrays(flat)
    arrays |= history_arrays(estimator.history_, estimator.ensemble_)
    model["spaces"] = [space_fields(examples) for examples in flat.spaces]
    model["n_classes"] = estimator.ensemble_.n_classes
    model["unavoidable_cost"] = float(estimator.ensemble_.unavoidable_cost)
    model["metadata"] = estimator.metadata_
    decides = _decisions if hasattr(estimator, "classes_") else _baseline
    for more, fields in (_features(estimator), decides(estimator)):
        arrays |= more
        model |= fields
    arrays |= row_arrays(getattr(estimator, "row_labels_", {}))
    arrays |= reason_arrays(estimator)
    write(path, arrays, {"format": FORMAT, "version": str(VERSION), "model": _json(model)})


def _json(model: dict[str, Any]) -> str:
    try:
        return json.dumps(model, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"metadata_ holds what JSON has no word for ({error}): keep texts, finite numbers, lists "
            "and dicts there"
        ) from None


def _parameters(estimator: Any) -> Parts:
    encoder = Encoder()
    given = estimator.get_params(deep=False)
    try:
        check_together(given)
    except ModelFileError as fault:
        raise ModelFileError(f"the model {fault}") from None
    if as_frame(given.get("costs")) is not None:
        # The same costs without the names of their table.
        given["costs"] = cost_matrix(
            given["costs"], list(estimator.classes_), estimator.class_weight_
        )
    parameters = encoder.encode_all(given)
    return encoder.arrays, {"estimator": type(estimator).__name__, "parameters": parameters}


def _features(estimator: Any) -> Parts:
    encoder: FeatureEncoder = estimator._encoder
    levels = encoder.levels
    named = hasattr(estimator, "feature_names_in_")
    flat = [level for f in sorted(levels) for level in levels[f]]
    arrays: dict[str, NDArray[Any]] = {
        "categorical": encoder.categorical,
        "categories.counts": np.array([len(levels[f]) for f in sorted(levels)], dtype=np.int32),
    }
    arrays |= scalar_arrays("categories", flat, "turn the column into text first")
    if named:
        arrays |= text_arrays("feature_names", estimator.feature_names_in_.tolist())
    return arrays, {"n_features": int(encoder.n_features), "named": named}


def _decisions(estimator: Any) -> Parts:
    arrays, kind = class_arrays(estimator.classes_)
    decoder = estimator.decoder_
    arrays |= {
        "costs": estimator.costs_,
        "class_weight": estimator.class_weight_,
        "decoder.costs": decoder.costs,
    }
    found: CrossFit | None = estimator.cross_fit_
    if found is not None:
        kept = {name: getattr(found, name, None) for name in BY_SAMPLE}
        arrays |= {f"cross_fit.{name}": a for name, a in kept.items() if a is not None}
    return arrays, {
        "classes": kind,
        "subcosts": estimator.subcosts_,
        "decoder": {
            "temperature": float(decoder.temperature),
            "precision": float(decoder.precision),
            "loss": decoder.loss,
        },
        "cross_fit": None if found is None else _cross_fit(found),
    }


def _cross_fit(found: CrossFit) -> dict[str, Any]:
    return {
        "standings": [list(standing) for standing in found.standings],
        "runs": list(found.runs),
        "log_loss": float(found.log_loss),
        "cost": float(found.cost),
    }


def _baseline(estimator: Any) -> Parts:
    return {}, {"baseline": float(estimator.baseline_)}


def row_arrays(labels: dict[int, Any]) -> dict[str, NDArray[Any]]:
    """The user's names of rows; of what is neither text nor number, such as a date, the text."""
    named = [plain(label) for label in labels.values()]
    said = [label if isinstance(label, Scalar) else str(label) for label in named]
    rows = np.array(list(labels), dtype=np.int64)
    return {"rows.numbers": rows} | scalar_arrays("rows", said, "give rows other names")
