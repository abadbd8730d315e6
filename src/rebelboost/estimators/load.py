"""Load an estimator from a model file."""

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from rebelboost.estimators.base import with_parameters
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.exceptions import ModelFileError
from rebelboost.files.model_file import unpack_model
from rebelboost.files.safetensors import Contents, read

Model = RebelClassifier | RebelRegressor
ESTIMATORS: dict[str, type[Model]] = {
    "RebelClassifier": RebelClassifier,
    "RebelRegressor": RebelRegressor,
}


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model saved by `RebelClassifier.save` or `RebelRegressor.save`.

    The loaded model makes the same predictions, bit for bit. Loading executes no code from the file.

    A model that the command `rebel train` has trained reads rows as they stand in a table, as
    `rebel predict` does: a dict of column and cell, a list of dicts, or a data frame. Cells may be text,
    such as dates and numbers with decimal commas, or numbers and dates.

    Parameters
    ----------
    path : str or path-like
        The model file.

    Returns
    -------
    RebelClassifier or RebelRegressor
        The fitted estimator.

    Raises
    ------
    ModelFileError
        If the file is damaged or is not a model file.
    """
    try:
        return restore(read(path))
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)} {fault}") from None


def restore(contents: Contents) -> Model:
    """Create an estimator from the contents of a model file."""
    stored = unpack_model(contents, _known())
    estimator: Model = with_parameters(ESTIMATORS[stored.estimator], stored.parameters)
    estimator.model_ = stored.model
    estimator.history_ = stored.history
    estimator.cross_fit_ = stored.cross_fit
    if isinstance(estimator, RebelClassifier):
        estimator.plan_ = stored.plan
    estimator.metadata_ = stored.metadata
    return estimator


@cache
def _known() -> Mapping[str, AbstractSet[str]]:
    """The parameter names of each estimator; scikit-learn finds them by inspection, which is slow."""
    return {name: kind().get_params(deep=False).keys() for name, kind in ESTIMATORS.items()}
