"""Estimators → model files: arrays and JSON in the safetensors format; `loading` reads them.

Everything that predicts, decides, explains and goes on training is kept, as data: nothing in a file is
ever executed.
"""

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.names import plain
from rebelboost.costs.matrix import cost_matrix
from rebelboost.data.encoder import FeatureEncoder, as_frame
from rebelboost.exceptions import ModelFileError
from rebelboost.files.history import history_arrays
from rebelboost.files.labels import class_arrays
from rebelboost.files.parameters import ParameterEncoder, check_together
from rebelboost.files.remembered import reason_arrays
from rebelboost.files.safetensors import write
from rebelboost.files.terms import term_arrays
from rebelboost.files.texts import Scalar, scalar_arrays, text_arrays
from rebelboost.selection.blend import CrossFit

FORMAT, VERSION = "rebelboost", 1
STANDING = ("rounds", "share", "log_loss", "cost", "n_parts", "shrinkage")
"""Numbers of a candidate in a cross-fit."""

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays, and an object of JSON."""


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file."""
    estimator._validate_params()  # what would be refused on loading is better refused now
    tensors, spaces = term_arrays(estimator.ensemble_)
    arrays, model = _parameters(estimator)
    arrays |= tensors
    model["spaces"] = spaces
    arrays |= history_arrays(estimator.history_)
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
    encoder = ParameterEncoder()
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
    if estimator.cross_fit_ is not None:
        arrays |= _cross_fit(estimator.cross_fit_)
    return arrays, {
        "classes": kind,
        "subcosts": estimator.subcosts_,
        "decoder": {
            "temperature": float(decoder.temperature),
            "precision": float(decoder.precision),
            "loss": decoder.loss,
        },
        "cross_fit": estimator.cross_fit_ is not None,
    }


def _cross_fit(found: CrossFit) -> dict[str, NDArray[Any]]:
    """How candidates did on what their fits had left out, and the scores of those samples."""
    numbers = [[getattr(each, name) for name in STANDING] for each in found.standings]
    return {
        "cross_fit.standings": np.array(numbers, dtype=np.float64).reshape(-1, len(STANDING)),
        "cross_fit.runs": np.array(found.runs, dtype=np.int64),
        "cross_fit.found": np.array([found.log_loss, found.cost], dtype=np.float64),
        "cross_fit.left_out": found.left_out,
        "cross_fit.rows": found.rows.astype(np.int64),
        **text_arrays("cross_fit.names", [each.name for each in found.standings]),
    }


def _baseline(estimator: Any) -> Parts:
    return {}, {"baseline": float(estimator.baseline_)}


def row_arrays(labels: dict[int, Any]) -> dict[str, NDArray[Any]]:
    """The user's names of rows; of what is neither text nor number, such as a date, the text."""
    named = [plain(label) for label in labels.values()]
    said = [label if isinstance(label, Scalar) else str(label) for label in named]
    rows = np.array(list(labels), dtype=np.int64)
    return {"rows.numbers": rows} | scalar_arrays("rows", said, "give rows other names")
