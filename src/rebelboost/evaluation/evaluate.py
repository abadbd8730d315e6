"""Measure accuracy and cost on samples that were not used in training.

The samples come from a test table (`evaluate`) or are the held-out samples of a cross-fit (`left_out`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Scores
from rebelboost.base.names import ClassNames, listed, plain, printed
from rebelboost.costs.by_sample import own_costs
from rebelboost.data.encoder import is_present
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.inputs import threads_of
from rebelboost.evaluation.calibration import calibration
from rebelboost.evaluation.intervals import Estimate, effective_number, mean_cost_interval, share
from rebelboost.evaluation.result import LEFT_OUT, Evaluation, Judged
from rebelboost.exceptions import EvaluationError
from rebelboost.metrics import cost_report
from rebelboost.model.fitted import FittedClassifier

LEAST_PROBABILITY = 1e-15
"""Probabilities are clipped here in log-losses, so that they stay finite."""


def evaluate(
    clf: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    costs: Any = None,
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
    source : str
        Name of the table, for texts.
    """
    _check_classifier(clf)
    model, n_threads = clf.model_, threads_of(clf.n_jobs)
    values = encode_table(clf, X)
    prices = model.costs_of(values, costs, n_threads)
    scores = model.scores(values, n_threads)
    return _judge(model, scores, y, None, sample_weight, prices, source)


def left_out(
    clf: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    costs: Any = None,
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
        The table that it was fitted to. Needed if costs differ from sample to sample and are not
        given; without it, the mean costs of each class are used.
    costs : array or data frame, optional
        The samples' own costs, as in `RebelClassifier.predict`.
    """
    _check_classifier(clf)
    scores = getattr(clf.cross_fit_, "left_out", None)
    rows = getattr(clf.cross_fit_, "rows", None)
    if scores is None or rows is None:
        return None
    rows = np.asarray(rows)
    prices = _own_prices(clf, X, costs, np.asarray(y))
    prices = prices[rows] if prices.ndim == 3 else prices
    return _judge(clf.model_, scores, y, rows, sample_weight, prices, LEFT_OUT)


def _own_prices(clf: Any, X: Any, costs: Any, y: NDArray[Any]) -> Floats:
    """Costs of decisions on the training samples, (K, K) or (N, K, K)."""
    model: FittedClassifier = clf.model_
    if costs is not None:
        return own_costs(costs, len(y), list(model.classes))
    if X is None or not model.by_sample:
        return model.costs
    return model.costs_of(encode_table(clf, X), n_threads=threads_of(clf.n_jobs))


def _judge(
    model: FittedClassifier,
    scores: Scores,
    y: ArrayLike,
    rows: Ints | None,
    sample_weight: ArrayLike | None,
    costs: Floats,
    source: str,
) -> Evaluation:
    labels = _labels(y, len(scores), rows)
    weight = _weight(sample_weight, labels)
    rows = np.arange(len(labels)) if rows is None else rows
    labels, weight = labels[rows], None if weight is None else weight[rows]
    codes, unknown = _codes(labels, model.classes)
    known = codes >= 0 if weight is None else (codes >= 0) & (weight > 0)
    _check_some(known, unknown, model.classes)
    scores, rows, true = scores[known], rows[known], codes[known]
    weight = None if weight is None else weight[known]
    costs = costs[known] if costs.ndim == 3 else costs
    decided = _decisions(model, model.labels(scores, costs))
    posterior = model.posterior(scores) if model.decodes else None
    judged = Judged(rows, true, decided, posterior)
    return _evaluation(model, judged, weight, costs, source, unknown)


def _evaluation(
    model: FittedClassifier,
    judged: Judged,
    weight: BySample | None,
    costs: Floats,
    source: str,
    unknown: Mapping[Any, int],
) -> Evaluation:
    classes, rule = list(model.class_names), model.rule
    names = np.array([*classes, rule.reject_label], dtype=object)
    confusion = cost_report(
        names[judged.true],
        names[judged.decided],
        _by_class(costs, judged, weight),
        labels=classes,
        sample_weight=weight,
        reject_cost=rule.reject_cost,
        reject_label=rule.reject_label,
    )
    n = len(judged.true)
    n_effective = effective_number(weight, n)
    rejected = float(confusion.counts[:, len(classes) :].sum())
    decided_weight = confusion.n_decisions - rejected
    right = float(np.trace(confusion.counts[:, : len(classes)]))
    probable = judged.posterior is not None
    shares = model.class_weight / np.sum(model.class_weight)
    return Evaluation(
        source=source,
        n=n,
        accuracy=share(right, decided_weight, n_effective * decided_weight / confusion.n_decisions),
        cost=_mean_cost(model, costs, judged, weight, n_effective)
        if costs.ndim == 3
        else mean_cost_interval(confusion.counts, confusion.costs, n_effective),
        confusion=confusion,
        commonest=classes[int(np.argmax(model.class_weight))],
        n_rejected=rejected,
        log_loss=_log_loss(judged.posterior, judged.true, weight),
        shares_log_loss=_log_loss(np.tile(shares, (n, 1)), judged.true, weight)
        if probable
        else None,
        calibration=calibration(judged.posterior, judged.true, weight),
        unknown=unknown,
        judged=judged,
    )


def _by_class(costs: Floats, judged: Judged, weight: BySample | None) -> Floats:
    """(K, K) mean of the samples' own costs, over those that were decided so, or else of the class."""
    if costs.ndim == 2:
        return costs
    true, mass = judged.true, np.ones(len(judged.true)) if weight is None else weight
    means = np.zeros(costs.shape[1:])
    for y, k in np.argwhere(1 - np.eye(len(means))):
        own = true == y
        so = own & (judged.decided == k)
        used = so if so.any() else own
        if used.any():
            means[y, k] = np.average(costs[used, y, k], weights=mass[used])
    return means


def _mean_cost(
    model: FittedClassifier,
    costs: Floats,
    judged: Judged,
    weight: BySample | None,
    n_effective: float,
) -> Estimate:
    """Of the samples' own costs."""
    price = model.rule.reject_cost or 0.0
    rows = costs[np.arange(len(judged.true)), judged.true]
    paid = np.column_stack([rows, np.full(len(rows), price)])[np.arange(len(rows)), judged.decided]
    mass = np.ones(len(paid)) if weight is None else weight
    # The dearest mistake that could have been made counts too, with no weight.
    dearest = float(costs.max(initial=0.0))
    return mean_cost_interval(np.append(mass, 0.0), np.append(paid, dearest), n_effective)


def _check_classifier(clf: Any) -> None:
    if not is_classifier(clf):
        raise EvaluationError(
            f"{type(clf).__name__} is not a classifier: give a fitted RebelClassifier"
        )


def _labels(y: ArrayLike, n_scores: int, rows: Ints | None) -> NDArray[Any]:
    labels: NDArray[Any] = column_or_1d(y)
    if rows is None and len(labels) != n_scores:
        raise EvaluationError(f"X has {n_scores} samples, but y has {len(labels)} labels")
    if rows is not None and len(labels) <= rows.max(initial=-1):
        raise EvaluationError(
            f"y has {len(labels)} labels, but the model was fitted to at least {rows.max() + 1}: "
            "give the labels that it was fitted to"
        )
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


def _log_loss(posterior: Floats | None, true: Labels, weight: BySample | None) -> float | None:
    if posterior is None:
        return None
    own = posterior[np.arange(len(true)), true]
    return float(np.average(-np.log(np.maximum(own, LEAST_PROBABILITY)), weights=weight))
