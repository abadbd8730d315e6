"""Measure accuracy and cost on samples that were not used in training.

The samples come from a test table (`evaluate`) or are the held-out samples of a cross-fit (`left_out`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Scores
from rebelboost.base.names import ClassNames, listed, plain, printed
from rebelboost.costs.by_sample import own_costs
from rebelboost.costs.report import by_row
from rebelboost.data.encoder import is_present
from rebelboost.estimators.base import encode_table, table_scores
from rebelboost.estimators.positive import positive_class
from rebelboost.evaluation.calibration import calibration
from rebelboost.evaluation.figures import LEFT_OUT
from rebelboost.evaluation.intervals import Estimate, WeightedRows, mean_cost_interval
from rebelboost.evaluation.result import Evaluation, Judged
from rebelboost.exceptions import EvaluationError
from rebelboost.metrics import cost_report
from rebelboost.model.fitted import FittedClassifier

LEAST_PROBABILITY = 1e-15
"""Probabilities are clipped here in log-losses, so that they stay finite."""


def evaluate(  # noqa: PLR0913  (scikit-learn's interface)
    clf: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    costs: Any = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
    source: str = "a test table",
) -> Evaluation:
    """Evaluate a fitted classifier on samples that it was not fitted to.

    Parameters
    ----------
    clf : RebelClassifier
        Fitted classifier.
    X, y : table of shape (N, d), labels of shape (N,)
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
    source : str
        Name of the table, for texts.
    """
    _check_classifier(clf)
    code = positive_class(clf, positive)
    scored = Scored(table_scores(clf, X), _own_costs(clf, X, costs), code)
    return _judge(clf.model_, scored, y, None, (sample_weight, groups), source)


def left_out(
    clf: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    costs: Any = None,
    groups: ArrayLike | None = None,
    positive: Any = None,
) -> Evaluation | None:
    """Evaluate a cross-fitted classifier on its training samples, each by fits that did not see it.

    A cross-fit is an average of several fits, each of which leaves out one part of the samples. The
    result is None if there was no cross-fit. Models that were loaded from a file can be evaluated
    too.

    Parameters
    ----------
    clf : RebelClassifier
        Fitted classifier.
    y : array of shape (N,)
        Labels that it was fitted to.
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
    """
    _check_classifier(clf)
    scores = getattr(clf.cross_fit_, "left_out", None)
    rows = getattr(clf.cross_fit_, "rows", None)
    if scores is None or rows is None or len(rows) == 0:  # models saved without rows have none
        return None
    rows = np.asarray(rows)
    check_fitted_rows(rows, len(np.asarray(y)))
    own = None
    if costs is not None:
        own = own_costs(costs, len(np.asarray(y)), list(clf.model_.classes))
    elif X is not None:
        own = _own_costs(clf, X)
    elif clf.model_.by_sample:
        raise EvaluationError(
            "the costs of this model differ from sample to sample: give left_out the table that it was "
            "fitted to as X, or the samples' costs as costs"
        )
    code = positive_class(clf, positive)
    scored = Scored(scores, None if own is None else own[rows], code)
    return _judge(clf.model_, scored, y, rows, (sample_weight, groups), LEFT_OUT)


class Scored(NamedTuple):
    """Scores of samples, their own costs, and the class that figures on two classes are about."""

    scores: Scores
    costs: Floats | None
    """(N, K, K) costs[n, true, decided]; None if costs are by class."""
    positive: int | None
    """Code of the positive class; None if there are not two classes."""


def _own_costs(clf: Any, X: Any, given: Any = None) -> Floats | None:
    if given is None and not clf.model_.by_sample:
        return None
    found: Floats = clf.model_.costs_of(encode_table(clf, X), given)
    return found


def _judge(
    model: FittedClassifier,
    scored: Scored,
    y: ArrayLike,
    rows: Ints | None,
    weight_and_groups: tuple[ArrayLike | None, ArrayLike | None],
    source: str,
) -> Evaluation:
    scores, costs, positive = scored
    labels = _labels(y, len(scores), rows)
    weight = _weight(weight_and_groups[0], labels)
    groups = _groups(weight_and_groups[1], labels)
    rows = np.arange(len(labels)) if rows is None else rows
    labels, weight = labels[rows], None if weight is None else weight[rows]
    codes, unknown = _codes(labels, model.classes)
    known = codes >= 0 if weight is None else (codes >= 0) & (weight > 0)
    _check_some(known, unknown, model.classes)
    scores, rows, true = scores[known], rows[known], codes[known]
    weight = None if weight is None else weight[known]
    costs = None if costs is None else costs[known]
    decided = _decisions(model, model.labels(scores, costs))
    posterior = model.posterior(scores)
    judged = Judged(rows, true, decided, posterior, costs)
    mass = np.ones(len(true)) if weight is None else weight
    sampling = WeightedRows(mass, None if groups is None else groups[rows])
    return _evaluation(model, judged, sampling, positive, (source, unknown))


def _evaluation(
    model: FittedClassifier,
    judged: Judged,
    sampling: WeightedRows,
    positive: int | None,
    source_and_unknown: tuple[str, Mapping[Any, int]],
) -> Evaluation:
    classes, rule, weight = list(model.class_names), model.rule, sampling.weight
    names = np.array([*classes, rule.reject_label], dtype=object)
    confusion = cost_report(
        names[judged.true],
        names[judged.decided],
        model.costs,
        labels=classes,
        sample_weight=weight,
        reject_cost=rule.reject_cost,
        reject_label=rule.reject_label,
    )
    n = len(judged.true)
    if judged.costs is not None:
        prices = judged.prices(model.costs, rule.reject_cost)
        confusion = by_row(confusion, judged.true, judged.decided, prices, weight)
    is_decided = judged.decided < len(classes)
    is_right = (judged.true == judged.decided).astype(np.float64)
    of_decided = sampling.of(is_decided)
    shares = model.class_weight / np.sum(model.class_weight)
    chosen = None if positive is None else (positive, classes[positive])
    source, unknown = source_and_unknown
    return Evaluation(
        source=source,
        n=n,
        accuracy=of_decided.share(is_right[is_decided]),
        cost=_cost(model, judged, sampling),
        confusion=confusion,
        commonest=classes[int(np.argmax(model.class_weight))],
        n_rejected=float(confusion.counts[:, len(classes) :].sum()),
        log_loss=_log_loss(judged.posterior, judged.true, weight),
        shares_log_loss=_log_loss(np.tile(shares, (n, 1)), judged.true, weight),
        probable_cost=_probable_cost(model, judged, weight),
        calibration=calibration(judged.posterior, judged.true, sampling, chosen),
        auc=_auc(judged, weight),
        unknown=unknown,
        judged=judged,
        n_groups=None if sampling.groups is None else len(np.unique(sampling.groups)),
        n_effective=of_decided.share_number(is_right[is_decided]) if is_decided.any() else 0.0,
        recalls=_rates(is_right, judged.true, sampling, len(classes)),
        precisions=_rates(is_right, judged.decided, sampling, len(classes)),
        positive=None if positive is None else classes[positive],
    )


def _cost(model: FittedClassifier, judged: Judged, sampling: WeightedRows) -> Estimate:
    """The mean cost, whose interval allows for all costs that are possible."""
    reject = [] if model.rule.reject_cost is None else [model.rule.reject_cost]
    possible = model.costs if judged.costs is None else judged.costs
    prices = judged.prices(model.costs, model.rule.reject_cost)
    paid = prices[np.arange(len(prices)), judged.decided]
    n_samples = min(sampling.number(paid), sampling.share_number((paid > 0).astype(np.float64)))
    greatest = max([float(possible.max()), *reject])
    return mean_cost_interval(paid, sampling.weight, n_samples, greatest)


def _rates(
    is_right: BySample, of: Labels, sampling: WeightedRows, n_classes: int
) -> tuple[Estimate, ...]:
    """The share of correct decisions among the samples of each class, true or decided."""
    return tuple(sampling.of(of == k).share(is_right[of == k]) for k in range(n_classes))


def _probable_cost(model: FittedClassifier, judged: Judged, weight: BySample) -> float | None:
    """Mean cost of deciding for the most probable class, which ignores the costs."""
    if not model.weighs_costs:
        return None
    decided = judged.posterior.argmax(axis=1)
    rows = np.arange(len(decided))
    costs = model.costs[judged.true, decided]
    if judged.costs is not None:
        costs = judged.costs[rows, judged.true, decided]
    return float(np.average(costs, weights=weight))


def _auc(judged: Judged, weight: BySample) -> float | None:
    """Area under the ROC curve of two classes, if both occur; it is the same for each of them."""
    posterior = judged.posterior
    if posterior.shape[1] != 2 or len(np.unique(judged.true)) < 2:
        return None
    return area_under_roc(judged.true, posterior[:, 1], weight)


def area_under_roc(labels: Labels, scores: BySample, weight: BySample) -> float:
    """The same number as scikit-learn's `roc_auc_score`, whose module takes long to import.

    `labels` are 0 and 1. Samples with the same score are one step of the curve.
    """
    counted = weight != 0
    order = np.argsort(-scores[counted], kind="stable")
    ranked, hits, weight = (each[counted][order] for each in (scores, labels, weight))
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    found = np.stack([np.cumsum((1 - hits) * weight)[ends], np.cumsum(hits * weight)[ends]])
    corners = np.diff(found, 2).any(axis=0)  # points between others on a line add nothing
    found = found[:, np.concatenate([[True], corners, [True]])] if len(ends) > 2 else found
    if not found[:, -1].all():  # one of the classes has no weight
        return float("nan")
    false, true = np.insert(found, 0, 0.0, axis=1) / found[:, -1:]
    return float((np.diff(false) * (true[1:] + true[:-1]) / 2.0).sum())


def _check_classifier(clf: Any) -> None:
    if not is_classifier(clf):
        raise EvaluationError(
            f"{type(clf).__name__} is not a classifier: give a fitted RebelClassifier"
        )


def _labels(y: ArrayLike, n_scores: int, rows: Ints | None) -> NDArray[Any]:
    labels: NDArray[Any] = column_or_1d(y)
    if rows is None and len(labels) != n_scores:
        raise EvaluationError(f"X has {n_scores} samples, but y has {len(labels)} labels")
    return labels


def _weight(sample_weight: ArrayLike | None, labels: NDArray[Any]) -> BySample | None:
    if sample_weight is None:
        return None
    weight: BySample = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != labels.shape:
        raise EvaluationError(f"sample_weight has shape {weight.shape}: give {labels.shape}")
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise EvaluationError("sample_weight must be finite, 0 or more, and not 0 everywhere")
    return weight


def _groups(given: ArrayLike | None, labels: NDArray[Any]) -> Ints | None:
    if given is None:
        return None
    groups: NDArray[Any] = column_or_1d(given)
    if len(groups) != len(labels):
        raise EvaluationError(f"y has {len(labels)} labels, but groups has {len(groups)} values")
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> tuple[Labels, dict[Any, int]]:
    """Return the code of each label, −1 for unknown classes, and the counts of unknown classes."""
    names, found = ClassNames(classes), dict[Any, int | None]()
    unknown = Counter[Any]()
    codes = np.full(len(labels), -1, dtype=np.int32)
    for i, label in enumerate(labels.tolist()):
        if not is_present(label):
            raise EvaluationError(f"row {i} of y has no label: remove rows without a label")
        if label not in found:
            found[label] = names.find(label)
        code = found[label]
        if code is None:
            unknown[label] += 1
        else:
            codes[i] = code
    return codes, dict(sorted(unknown.items(), key=lambda item: printed(item[0])))


def _check_some(known: NDArray[np.bool_], unknown: Mapping[Any, int], classes: Any) -> None:
    if known.any():
        return
    if not unknown:
        raise EvaluationError("there are no samples to evaluate: give a table with rows")
    raise EvaluationError(
        f"none of the classes {listed(list(unknown))} is in the training data: the model's classes "
        f"are {listed([plain(name) for name in classes])}"
    )


def _decisions(model: FittedClassifier, decided: NDArray[Any]) -> Labels:
    """Return the code of each decision; abstentions have the number of classes as code."""
    names = ClassNames(model.classes)
    codes = {label: names.find(label) for label in set(decided.tolist())}
    abstained = len(model.classes)
    return np.array(
        [abstained if codes[d] is None else codes[d] for d in decided.tolist()], dtype=np.int32
    )


def _log_loss(posterior: Floats, true: Labels, weight: BySample) -> float:
    own = posterior[np.arange(len(true)), true]
    return float(np.average(-np.log(np.maximum(own, LEAST_PROBABILITY)), weights=weight))


def check_fitted_rows(rows: Ints, n_labels: int) -> None:
    """Raise an error unless there is a label for each row that was held out in training."""
    needed = int(rows.max(initial=-1)) + 1
    if n_labels < needed:
        raise EvaluationError(
            f"y has {n_labels} labels, but the model was fitted to at least {needed}: "
            "give the labels that it was fitted to"
        )
