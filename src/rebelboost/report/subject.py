"""The input of a report: model, samples and evaluation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from rebelboost.base.arrays import Ints
from rebelboost.base.cached import cached_property
from rebelboost.base.names import plain, printed
from rebelboost.base.text import number
from rebelboost.data.encoder import as_frame, is_present
from rebelboost.estimators.positive import positive_class
from rebelboost.evaluation.importance import (
    KEPT_IMPORTANCE,
    HeldOutImportance,
    held_out_importance,
)
from rebelboost.evaluation.regression import RegressionEvaluation
from rebelboost.evaluation.result import Evaluation


@dataclass(frozen=True)
class Subject:
    """A model, samples, and the evaluation of the model on them."""

    clf: Any
    X: Any
    y: NDArray[Any]
    evaluation: Evaluation | RegressionEvaluation | None
    data: Mapping[str, Any] = field(default_factory=dict)
    """Information on the data file: "source", "form", "target", "ignored", "notes", …"""
    command: str | None = None
    row_names: Sequence[Any] | None = None
    """Names of the rows of `X`."""
    shows_rows: bool = True
    """Whether single rows are shown."""

    @property
    def predicts_numbers(self) -> bool:
        """Whether the model is a regressor."""
        return bool(is_regressor(self.clf))

    @property
    def is_constant(self) -> bool:
        """Whether the model knows one class only, so that there is nothing to explain."""
        return not self.predicts_numbers and len(self.classes) < 2

    @cached_property
    def classes(self) -> list[str]:
        """Names of the classes as text; none for numbers."""
        return [printed(each) for each in getattr(self.clf, "classes_", ())]

    @cached_property
    def positive(self) -> int | None:
        """Code of the class that texts and plots on two classes are about."""
        named = None if self.decisions is None else self.decisions.positive
        return positive_class(self.clf, named)

    @cached_property
    def importance(self) -> list[HeldOutImportance] | None:
        """What each feature does for held-out rows; of a loaded model, as `rebel train` has stored it."""
        if self.is_constant:
            return None
        if not self.is_of_training:
            return held_out_importance(self.clf, self.X, self.y, unseen=True)
        kept = (self.clf.metadata_ or {}).get(KEPT_IMPORTANCE)
        if kept is not None:
            return [HeldOutImportance(*each) for each in kept]
        return held_out_importance(self.clf, self.X, self.y)

    @property
    def decisions(self) -> Evaluation | None:
        """The evaluation of a classifier."""
        return self.evaluation if isinstance(self.evaluation, Evaluation) else None

    @cached_property
    def columns(self) -> list[str]:
        """Names of the features."""
        named = getattr(self.clf, "feature_names_in_", None)
        if named is None:
            return [f"x{i}" for i in range(self.clf.n_features_in_)]
        return [printed(plain(each)) for each in named]

    @property
    def is_precomputed(self) -> bool:
        """Whether `X` contains distances between samples instead of features."""
        return getattr(self.clf.learner, "metric", None) == "precomputed"

    @property
    def is_of_training(self) -> bool:
        """Whether `X` is the training table; evaluations without results by sample are of it too."""
        found = self.evaluation
        return found is None or found.is_left_out or found.is_from_file

    def rows(self, numbers: Ints) -> Any:
        """Return some rows of `X`, as the same type of table."""
        frame = as_frame(self.X)
        if frame is None:
            return np.asarray(self.X)[numbers]
        return frame[numbers.tolist()].to_native()

    def cells(self, numbers: list[int], n_columns: int) -> list[list[str]]:
        """Return the values of some rows, in the first columns, as text."""
        rows = self.rows(np.array(numbers, dtype=np.int64))
        frame = as_frame(rows)
        values = rows.tolist() if frame is None else frame.rows()
        return [[_cell(value) for value in row[:n_columns]] for row in values]

    def row_name(self, number: int) -> str:
        """Return the name of a row, or its number if there are no names."""
        if self.row_names is not None:
            return printed(self.row_names[number])
        index: Any = getattr(self.X, "index", None)  # of pandas
        return printed(index[number]) if hasattr(index, "__getitem__") else str(number)


def _cell(value: Any) -> str:
    if not is_present(value):
        return "–"
    return number(float(value), 4) if isinstance(value, float) else printed(value)
