"""Evaluate a model on samples that were not used in training.

The samples come from a test table (`evaluate`) or are the held-out samples of a cross-fit (`left_out`).
"""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_regressor

from rebelboost.evaluation import classes, regression
from rebelboost.evaluation.given import Given, checked, held_out_scores
from rebelboost.evaluation.parts import column_of
from rebelboost.evaluation.regression import RegressionEvaluation
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import EvaluationError

AnyEvaluation = Evaluation | RegressionEvaluation


def evaluate(  # noqa: PLR0913  (scikit-learn's interface)
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    costs: Any = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    by: Any = None,
    source: str = "a test table",
) -> Any:
    """Evaluate a fitted model on samples that it was not fitted to.

    Parameters
    ----------
    model : RebelClassifier or RebelRegressor
        Fitted model.
    X, y : table of shape (N, d), labels or numbers of shape (N,)
        Test samples. Samples of classes that are not in the training data are counted separately,
        in ``unknown``.
    sample_weight : array of shape (N,), optional
        Weights of the samples.
    costs : array or data frame, optional
        The samples' own costs, as in `RebelClassifier.predict`. Each sample is decided by its own
        costs, and the mean cost is of those.
    groups : array of shape (N,), optional
        Samples of one group (such as a patient) are not independent, which widens the intervals.
    positive : class label, optional
        Of two classes, the one whose sensitivity, predictive value and calibration are given. Default:
        the class that is more expensive to miss or, if both cost the same, the rarer one in the
        training data.
    by : str or array of shape (N,), optional
        Also give the results by group of rows: name of a column of `X`, or the value of each row, such as
        its region. Numbers of many values are divided at the quartiles.
    source : str
        Name of the table, for texts.

    Returns
    -------
    Evaluation or RegressionEvaluation
        Accuracy, cost and calibration of a classifier; the errors of a regressor.
    """
    given = checked(y, sample_weight, groups)
    if _is_regressor(model, costs, positive, by):
        return regression.tested(model, X, given, source)
    given = _with_column(given, X, by)
    return classes.tested(model, X, given, costs, positive, source)


def left_out(  # noqa: PLR0913  (scikit-learn's interface)
    model: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    costs: Any = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    by: Any = None,
) -> Any:
    """Evaluate a cross-fitted model on its training samples, each by fits that did not see it.

    A cross-fit is an average of several fits, each of which leaves out one part of the samples. The
    result is None if there was no cross-fit. Models that were loaded from a file can be evaluated
    too.

    Parameters
    ----------
    model : RebelClassifier or RebelRegressor
        Fitted model.
    y : array of shape (N,)
        Labels or numbers that it was fitted to.
    sample_weight : array of shape (N,), optional
        Weights that it was fitted with.
    X : table of shape (N, d), optional
        Table that it was fitted to. Required if costs differ from sample to sample and `costs` are not
        given.
    costs : array or data frame, optional
        The samples' own costs, as in `RebelClassifier.predict`.
    groups : array of shape (N,), optional
        Groups that it was fitted with. Intervals are those of new groups.
    positive : class label, optional
        As in `evaluate`.
    by : str or array of shape (N,), optional
        As in `evaluate`; the name of a column needs `X`.

    Returns
    -------
    Evaluation, RegressionEvaluation or None
        As for `evaluate`.
    """
    numbers = _is_regressor(model, costs, positive, by)
    given = _with_column(checked(y, sample_weight, groups), X, by)
    held = held_out_scores(model, len(given.y))
    if held is None:
        return None
    if numbers:
        return regression.left_out_of(model, held, given)
    return classes.left_out_of(model, held, given, X, costs, positive)


def _with_column(given: Given, X: Any, by: Any) -> Given:
    """Add the column by which results are given."""
    return given if by is None else given._replace(by=column_of(X, by, len(given.y)))


def _is_regressor(model: Any, costs: Any, positive: Any, by: Any) -> bool:
    """Whether the model predicts numbers; otherwise it must be a classifier."""
    if is_regressor(model):
        told = (("costs are", costs), ("positive is", positive), ("by is", by))
        for name, given in told:
            if given is not None:
                raise EvaluationError(f"{name} for classes: leave it out for a regressor")
        return True
    if not is_classifier(model):
        raise EvaluationError(
            f"{type(model).__name__} is neither a classifier nor a regressor: give a fitted "
            "RebelClassifier or RebelRegressor"
        )
    return False
