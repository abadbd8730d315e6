"""Measure accuracy and cost of a classifier on samples that were not used in training."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Scores
from rebelboost.base.names import ClassNames, listed, plain, printed
from rebelboost.costs.by_sample import own_costs
from rebelboost.costs.prices import PriceChange, price_changes
from rebelboost.costs.report import by_row
from rebelboost.data.encoder import is_present
from rebelboost.estimators.base import encode_table, table_scores
from rebelboost.estimators.positive import positive_class
from rebelboost.evaluation.binary import binary_measures
from rebelboost.evaluation.calibration import calibration
from rebelboost.evaluation.figures import LEFT_OUT
from rebelboost.evaluation.given import Given, HeldOutScores
from rebelboost.evaluation.intervals import Estimate, WeightedRows, mean_cost_interval
from rebelboost.evaluation.parts import Parts, divided, part_of
from rebelboost.evaluation.result import Evaluation, Judged
from rebelboost.exceptions import EvaluationError
from rebelboost.metrics import cost_report
from rebelboost.model.fitted import FittedClassifier

LEAST_PROBABILITY = 1e-15
"""Probabilities are clipped here in log-losses, so that they stay finite."""


class Scored(NamedTuple):
    """Scores of samples, their own costs, and the class that figures on two classes are about."""

    scores: Scores
    costs: Floats | None
    """(N, K, K) costs[n, true, decided]; None if costs are by class."""
    positive: int | None
    """Code of the positive class; None if there are not two classes."""


def tested(clf: Any, X: Any, given: Given, costs: Any, positive: Any, source: str) -> Evaluation:
    """Evaluate a classifier on samples that it was not fitted to."""
    code = positive_class(clf, positive)
    scored = Scored(table_scores(clf, X), _own_costs(clf, X, costs), code)
    if len(given.y) != len(scored.scores):
        raise EvaluationError(
            f"X has {len(scored.scores)} samples, but y has {len(given.y)} labels"
        )
    return _judge(clf.model_, scored, given, np.arange(len(given.y)), source)


def left_out_of(
    clf: Any, held: HeldOutScores, given: Given, X: Any, costs: Any, positive: Any
) -> Evaluation:
    """Evaluate a cross-fitted classifier on its training samples, by the scores of fits without them."""
    own = None
    if costs is not None:
        own = own_costs(costs, len(given.y), list(clf.model_.classes))
    elif X is not None:
        own = _own_costs(clf, X)
    elif clf.model_.by_sample:
        raise EvaluationError(
            "the costs of this model differ from sample to sample: give left_out the table that it was "
            "fitted to as X, or the samples' costs as costs"
        )
    code = positive_class(clf, positive)
    scored = Scored(held.scores, None if own is None else own[held.rows], code)
    return _judge(clf.model_, scored, given, held.rows, LEFT_OUT)


def _own_costs(clf: Any, X: Any, given: Any = None) -> Floats | None:
    if given is None and not clf.model_.by_sample:
        return None
    found: Floats = clf.model_.costs_of(encode_table(clf, X), given)
    return found


def _judge(
    model: FittedClassifier, scored: Scored, given: Given, rows: Ints, source: str
) -> Evaluation:
    scores, costs, positive = scored
    given = given.of(rows)
    codes, unknown = _codes(given.y, model.classes)
    known = (codes >= 0) & (given.weight > 0)
    _check_some(known, unknown, model.classes)
    given, scores, rows, true = given.of(known), scores[known], rows[known], codes[known]
    costs = None if costs is None else costs[known]
    decided = _decisions(model, model.labels(scores, costs))
    judged = Judged(rows, true, decided, model.posterior(scores), costs, given.sampling)
    found = _evaluation(model, judged, positive, (source, unknown))
    if given.by is None:
        return found
    return replace(found, parts=_parts(model, judged, positive, given.by))


def _parts(
    model: FittedClassifier, judged: Judged, positive: int | None, by: tuple[str, NDArray[Any]]
) -> Parts:
    """Results by the values of a column."""
    column, values = by
    names, place = divided(values)
    shown = [k for k in range(len(names)) if (place == k).any()]
    found = []
    for k in shown:
        own = judged.of(place == k)
        rest = judged.of(place != k) if len(shown) > 1 else None
        evaluation = _evaluation(model, own, positive, (f"{column}: {names[k]}", {}))
        found.append(part_of(names[k], evaluation, own, rest, len(shown)))
    return Parts(column, tuple(found))


def _evaluation(
    model: FittedClassifier,
    judged: Judged,
    positive: int | None,
    source_and_unknown: tuple[str, Mapping[Any, int]],
) -> Evaluation:
    classes, rule, sampling = list(model.class_names), model.rule, judged.weighted
    weight = sampling.weight
    names = np.array([*classes, rule.reject_label], dtype=object)
    confusion = cost_report(
        names[judged.true],
        names[judged.decided],
        model.costs,
        labels=classes,
        sample_weight=weight,
        reject_cost=rule.charge,
        reject_label=rule.reject_label,
    )
    n = len(judged.true)
    if judged.costs is not None:
        prices = judged.prices(model.costs, rule.charge)
        confusion = by_row(confusion, judged.true, judged.decided, prices, weight)
    if rule.price is not None:  # within a budget, the model cannot always abstain
        confusion = replace(confusion, constants=confusion.constant_totals[: len(classes)])
    is_decided = judged.decided < len(classes)
    is_right = (judged.true == judged.decided).astype(np.float64)
    of_decided = sampling.of(is_decided)
    shares = model.class_weight / np.sum(model.class_weight)
    chosen = None if positive is None else (positive, classes[positive])
    source, unknown = source_and_unknown
    binary = None
    if positive is not None:
        binary = binary_measures(judged.posterior[:, positive], judged.true == positive, sampling)
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
        binary=binary,
        unknown=unknown,
        judged=judged,
        n_groups=None if sampling.groups is None else len(np.unique(sampling.groups)),
        n_effective=of_decided.share_number(is_right[is_decided]) if is_decided.any() else 0.0,
        recalls=_rates(is_right, judged.true, sampling, len(classes)),
        precisions=_rates(is_right, judged.decided, sampling, len(classes)),
        positive=None if positive is None else classes[positive],
        price_changes=_price_changes(model, judged, weight),
    )


def _price_changes(
    model: FittedClassifier, judged: Judged, weight: BySample
) -> tuple[PriceChange, ...]:
    """How many decisions change with each price, if they depend on prices."""
    if not model.rule.by_cost:
        return ()
    costs = model.costs if judged.costs is None else judged.costs
    return price_changes(judged.posterior, costs, judged.decided, model.rule.reject_cost, weight)


def _cost(model: FittedClassifier, judged: Judged, sampling: WeightedRows) -> Estimate:
    """The mean cost, whose interval allows for all costs that are possible."""
    charge = model.rule.charge
    reject = [] if charge is None else [charge]
    possible = model.costs if judged.costs is None else judged.costs
    prices = judged.prices(model.costs, charge)
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
