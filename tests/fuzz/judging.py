"""Altered model files, and what must come of them.

An alteration is of one of three sorts.

- *bytes*: of the file as it lies there, checksum and all. It must be refused, or load to the same
  predictions.
- *structure*: of sizes, offsets, types, shapes, names, the number of items, or the shape of the
  metadata, behind the checksum, which is made anew where the file still has readable arrays. It must
  be refused, or load to the same predictions.
- *values*: numbers, indices or words are replaced by others, behind the checksum. It must be refused
  or, where the new values keep all rules, load: it is then another sound model (a threshold of 2 in
  place of 1). It must answer everything, with whatever predictions.

Refused means `ModelFileError`. Any other exception is a failure, so is a crash, and so are more bytes
of memory during loading than twice the file and `ALLOWANCE`, the interpreter's own part.
"""

import json
import tracemalloc
import warnings
from typing import NamedTuple

import numpy as np

from fuzz.altering import BYTES, VALUES, Altered
from fuzz.inside import IN_ARRAYS, IN_METADATA
from fuzz.outside import IN_BYTES, IN_HEADER
from rebelboost import ModelFileError
from rebelboost.estimators.load import restore
from rebelboost.files import safetensors as tensors

ALLOWANCE = 4 << 20


def alter(blob, rng):
    """One alteration of a model file."""
    if rng.random() < 0.2:
        altered, what = rng.choice(IN_BYTES)(blob, rng)
        return Altered(altered, BYTES, what)
    return Altered(*rng.choice(rng.choice([IN_HEADER, IN_ARRAYS, IN_METADATA]))(blob, rng))


# ---- what must come of them


class Outcome(NamedTuple):
    refused: bool
    same: bool
    fault: str
    extra: int
    """Bytes of memory beyond twice the file."""


def load_measured(blob):
    """A model or the fault, and the most memory that loading took, the file itself included."""
    tracemalloc.start()
    try:
        model, fault = restore(tensors.parse(blob)), ""
    except ModelFileError as error:
        model, fault = None, str(error)
    except RecursionError:
        model, fault = None, "nested too deeply"
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return model, fault, peak + len(blob)


def check(altered, X, said):
    """Judge an alteration by what the unaltered model `said`."""
    model, fault, peak = load_measured(altered.blob)
    extra = peak - 2 * len(altered.blob)
    assert extra <= ALLOWANCE, f"{altered.what}: {peak} bytes for a file of {len(altered.blob)}"
    if model is None:
        assert fault, "a fault without a name"
        return Outcome(refused=True, same=False, fault=fault, extra=extra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = answer(model, X)
        if altered.sort == VALUES:
            ask_more(model, X)
    same = said.keys() == now.keys() and all(_equal(said[name], now[name]) for name in said)
    assert same or altered.sort == VALUES, f"{altered.what}: other predictions"
    return Outcome(refused=False, same=same, fault="", extra=extra)


def _equal(one, other):
    if one.dtype != other.dtype:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def answer(model, X):
    """What a model says of samples, by name."""
    X = _with_names(model, X)
    said = {"predict": model.predict(X)}
    names = ["decision_function"]
    if hasattr(model, "classes_"):
        names += ["predict_proba", "expected_cost"]
    return said | {name: getattr(model, name)(X) for name in names if hasattr(model, name)}


def ask_more(model, X):
    """Ask for all else: reasons, the plain form, terms, history."""
    X = _with_names(model, X)
    str(model.explain(X[:2]))
    str(model.summary())
    if hasattr(model, "classes_"):
        str(model.guarantee_)
    json.dumps(model.to_dict())
    model.history_.table()
    for term in model.ensemble_:
        term.describe()


def _with_names(model, X):
    """The samples, by the names that the model has for the columns."""
    if hasattr(X, "columns") and hasattr(model, "feature_names_in_"):
        return X.set_axis(list(model.feature_names_in_), axis=1)
    return X
