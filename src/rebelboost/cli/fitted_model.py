"""Models for prediction alone: read from their files without scikit-learn, which takes a second to import."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import narwhals.stable.v1 as nw
import polars as pl

from rebelboost.base.arrays import Floats
from rebelboost.exceptions import ModelFileError
from rebelboost.files.model_file import DECIDING, unpack_model
from rebelboost.files.safetensors import read
from rebelboost.model.fitted import FittedClassifier, FittedRegressor

# Other parameters are for training; they are checked when an estimator is made of the file.
KNOWN: Mapping[str, Any] = MappingProxyType(
    {"RebelClassifier": frozenset(DECIDING), "RebelRegressor": frozenset()}
)


class FittedModel:
    """A fitted model and its metadata, in place of an estimator."""

    def __init__(self, model: Any, metadata: Mapping[str, Any], n_jobs: int | None) -> None:
        self.model_: Any = model
        self.metadata_ = metadata
        self.n_features_in_ = model.n_features
        if model.feature_names is not None:
            self.feature_names_in_ = model.feature_names
        if isinstance(model, FittedClassifier):
            self.classes_ = model.classes
        self.n_threads = _threads(n_jobs)

    @property
    def predicts_numbers(self) -> bool:
        """Whether it is a regression."""
        return isinstance(self.model_, FittedRegressor)

    def values(self, frame: pl.DataFrame) -> Floats:
        """(N, d) the numbers of a frame of features, which was checked when it was read."""
        values: Floats = self.model_.encoder.transform_frame(nw.from_native(frame, eager_only=True))
        return values


def fitted_model(path: Path) -> FittedModel:
    """Read a model file."""
    try:
        stored = unpack_model(read(path), KNOWN, all_known=False)
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)} {fault}") from None
    return FittedModel(stored.model, stored.metadata, stored.parameters.get("n_jobs"))


def _threads(n_jobs: int | None) -> int:
    """As scikit-learn reads `n_jobs`, at most the number of cores."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    wanted = 1 if n_jobs is None else n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    return max(1, min(wanted, cores))
