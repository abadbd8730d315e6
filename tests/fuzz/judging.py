"""Altered model files, and what must come of them.

An alteration is of one of three sorts.

- *bytes*: of the file as it lies there, checksum and all. It must be refused, or load to the same
  predictions.
- *structure*: of sizes, offsets, types, shapes, names, the number of items, or the shape of the
  metadata, behind the checksum, which is made anew where the file still has readable arrays. It must
  be refused, or load to the same predictions.
- *values*: numbers, indices or words are replaced by others, behind the checksum. It must be refused
  or, where the new values keep all rules, load: it is then another sound model (a threshold of 2 in
  place of 1). It must answer everything, with whatever predictions: probabilities are distributions,
  costs and reasons are finite, it can be pickled, saved and loaded again, and says the same then.

Refused means `ModelFileError`. Any other exception is a failure, so is a crash, so are more seconds of
loading than `PATIENCE`, and so are more bytes of memory than twice the file and `ALLOWANCE`, the interpreter's
own part. To count these is slow: where they are not, addresses beyond `ROOM` are refused by the system.
"""

import copy
import json
import pickle
import resource
import tempfile
import time
import traceback
import tracemalloc
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fuzz.altering import BYTES, VALUES, Altered
from fuzz.inside import IN_ARRAYS, IN_METADATA
from fuzz.kinds import BY_KIND
from fuzz.outside import IN_BYTES, IN_HEADER
from fuzz.plausible import PLAUSIBLE
from rebelboost import ModelFileError
from rebelboost.estimators.load import restore
from rebelboost.evaluation import left_out
from rebelboost.files import safetensors as tensors

ALLOWANCE, ROOM = 4 << 20, 32 << 20
PATIENCE = 2.0
"""Processor seconds of a load; the files have some ten thousand bytes, and take a thousandth of this."""
SIZE = Path("/proc/self/statm")
IN_MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
"""Where models are saved again: it need not outlast the computer."""
N_TRAINED = 150
"""Labels that a model is told it was trained on; some were trained on fewer."""
UNEVEN = 1e-9
"""Largest distance from 1 of a sum of probabilities, which is a few thousand roundings of doubles."""


def alter(blob, rng):
    """One alteration of a model file."""
    if rng.random() < 0.2:
        altered, what = rng.choice(IN_BYTES)(blob, rng)
        return Altered(altered, BYTES, what)
    return Altered(
        *rng.choice(rng.choice([IN_HEADER, IN_ARRAYS, IN_METADATA, BY_KIND, *2 * [PLAUSIBLE]]))(
            blob, rng
        )
    )


# ---- what must come of them


class Outcome(NamedTuple):
    refused: bool
    same: bool
    fault: str
    extra: int
    """Bytes of memory beyond twice the file, if they were counted."""


def load_model(blob):
    return restore(tensors.parse(blob))


def load_measured(blob, load=load_model):
    """A model or the fault, and the most memory that loading took, the file itself included."""
    tracemalloc.start()
    try:
        model, fault = loaded(blob, load)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return model, fault, peak + len(blob)


def loaded(blob, load=load_model):
    """A model or the fault."""
    try:
        return load(blob), ""
    except ModelFileError as error:
        return None, str(error)


@contextmanager
def limited(n_bytes):
    """Let allocations fail that would need more than so many bytes of addresses."""
    if not SIZE.exists():
        yield
        return
    least, most = resource.getrlimit(resource.RLIMIT_AS)
    now = int(SIZE.read_bytes().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + n_bytes, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (least, most))


def _load_judged(altered, base, *, measured):
    """A model or the fault, and the memory beyond twice the file."""
    twice, extra, began = 2 * len(altered.blob), 0, time.process_time()
    if measured:
        model, fault, peak = load_measured(altered.blob, base.load)
        extra = peak - twice
        assert extra <= ALLOWANCE, f"{altered.what}: {peak} bytes for {len(altered.blob)}"
    else:
        with limited(twice + ROOM):
            model, fault = loaded(altered.blob, base.load)
    seconds = time.process_time() - began
    assert seconds <= PATIENCE, f"{altered.what}: {seconds:.1f} s to load"
    return model, fault, extra


def check(altered, base, *, measured=True, stored=True):
    """Judge an alteration of a base; store what says the same again only if `stored`."""
    model, fault, extra = _load_judged(altered, base, measured=measured)
    if model is None:
        assert fault, "a fault without a name"
        return Outcome(refused=True, same=False, fault=fault, extra=extra)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            now = base.answer(model, base.X)
        except ValueError as error:  # such as costs in a column with negative numbers
            assert altered.sort == VALUES, altered.what
            if not is_own(error):
                raise
            return Outcome(refused=True, same=False, fault=f"asked, it {error}", extra=extra)
        same = _all_equal(base.said, now)
        if altered.sort == VALUES:
            base.ask_more(model, base.X)
        if altered.sort == VALUES and (stored or not same):
            _store_again(model, base, now)
    assert same or altered.sort == VALUES, f"{altered.what}: other predictions"
    return Outcome(refused=False, same=same, fault="", extra=extra)


def _store_again(model, base, said):
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        path = Path(folder) / "again"
        model.save(path)
        again = base.load(path.read_bytes())
    for other in (again, pickle.loads(pickle.dumps(model))):
        assert _all_equal(said, base.answer(other, base.X)), "stored again, it says something else"


def _all_equal(one, other):
    return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)


def _equal(one, other):
    # NumPy pickles arrays in the byte order of the machine.
    if one.dtype.newbyteorder("=") != other.dtype.newbyteorder("="):
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


# ---- questions


def answer(model, X):
    """What a model says of samples, by name; all of it sound."""
    X = _with_names(model, X)
    said = {"predict": model.predict(X)}
    if not hasattr(model, "classes_"):
        _finite(said["predict"], "predictions")
        if model.model_.intervals is not None:
            said["interval"] = _interval(model, X)
        return said
    said["decision_function"] = model.decision_function(X)
    said["predict_proba"] = model.predict_proba(X)
    said["expected_cost"] = model.expected_cost(X)
    _finite(said["decision_function"], "scores")
    _distribution(said["predict_proba"])
    _finite(said["expected_cost"], "expected costs")
    assert (said["expected_cost"] >= 0).all(), "negative costs"
    if model.cascade_ is not None:
        said["early"] = model.cascade_.predict_proba(X)
        _distribution(said["early"])
        said["terms"] = model.cascade_.terms_used(X)
    return said


def _interval(model, X):
    most = _most_coverage(model.model_.intervals)
    if most <= 0:
        return np.empty(0)
    bounds = model.predict_interval(X, min(0.5, most))
    _finite(bounds, "intervals")
    assert (bounds[:, 0] <= bounds[:, 1]).all(), "an interval that ends before it begins"
    return bounds


def _most_coverage(intervals):
    total = float(np.sum(intervals.weight))
    return 0.99 * (total - 1) / (total + 1)


def _finite(numbers, what):
    assert np.isfinite(numbers).all(), f"{what} that are not finite"


def _distribution(P):
    _finite(P, "probabilities")
    assert (P >= 0).all(), "negative probabilities"
    assert (np.abs(P.sum(axis=1) - 1) <= UNEVEN).all(), "probabilities that do not sum to 1"


def ask_more(model, X):
    """Ask for all else: reasons, the plain form, terms, history."""
    X = _with_names(model, X)
    explanation = model.explain(X[:2])
    str(explanation)
    for each in explanation:
        _finite(each.baseline, "reasons")
        for reason in each.features:
            _finite(reason.by_class, "reasons")
    str(model.summary())
    repr(model)
    if hasattr(model, "classes_"):
        str(model.guarantee_)
        with own_errors():
            str(left_out(model, np.resize(model.classes_, N_TRAINED)))
        with own_errors():
            model.with_costs(1 - np.eye(len(model.classes_))).predict(X)
        with own_errors():
            copy.copy(model).cascade(agreement=0.9)
    else:
        with own_errors():
            str(left_out(model, np.arange(N_TRAINED, dtype=float)))
    json.dumps(model.to_dict())
    model.history_.table()
    for term in model.ensemble_:
        term.describe()


@contextmanager
def own_errors():
    """Let the library refuse what it is asked for, by an error that it raises itself."""
    try:
        yield
    except ValueError as error:
        if not is_own(error):
            raise


def is_own(error):
    """Whether the library raises this error itself, on purpose."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return "rebelboost" in last.filename and (last.line or "").startswith("raise")


def _with_names(model, X):
    """The samples, by the names that the model has for the columns."""
    if hasattr(X, "columns") and hasattr(model, "feature_names_in_"):
        return X.set_axis(list(model.feature_names_in_), axis=1)
    return X
