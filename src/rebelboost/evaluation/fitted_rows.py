"""Check that labels are those that a model was fitted to."""

from rebelboost.base.arrays import Ints
from rebelboost.exceptions import EvaluationError


def check_fitted_rows(rows: Ints, n_labels: int) -> None:
    """Raise an error unless there is a label for each row that was held out in training."""
    needed = int(rows.max(initial=-1)) + 1
    if n_labels < needed:
        raise EvaluationError(
            f"y has {n_labels} labels, but the model was fitted to at least {needed}: "
            "give the labels that it was fitted to"
        )
