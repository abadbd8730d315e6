"""Decisions that one can defend: certified costs, ranges of prices, abstentions with a budget, other priors."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Scores
from rebelboost.base.hashing import hash_rows
from rebelboost.costs.prices import PriceRanges, price_ranges
from rebelboost.costs.priors import estimated_priors, given_priors
from rebelboost.estimators.abstentions import AbstentionsMixin
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import known_labels, threads_of
from rebelboost.model.fitted import FittedClassifier
from rebelboost.model.training_counts import MOST_COLUMNS
from rebelboost.theory.certificate import (
    LEAST_CONFIDENCE,
    Certificate,
    Charged,
    certificate,
    parts_of,
)
from rebelboost.theory.drift import Drift, drift_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Decided(NamedTuple):
    """Decisions on some rows."""

    codes: Labels
    """(N,) codes of the decisions; the number of classes stands for an abstention."""
    posterior: Floats
    """(N, K)"""
    costs: Floats
    """(K, K), or (N, K, K) where they differ."""
    seed: int
    """From the rows' values, in any order."""


class ChosenRule(NamedTuple):
    """A rule that was chosen among several, and its certificate."""

    name: str
    """Name of the rule, as it was given."""
    classifier: Any
    """The classifier that decides by it."""
    certificate: Certificate
    """The bound of its cost, which allows for the choice."""
    certificates: dict[str, Certificate]
    """The certificates of all rules, by name; they hold together."""


class DecisionsMixin(AbstentionsMixin):
    """Certificates and alternatives of a classifier's decisions."""

    def certify(  # noqa: PLR0913  (scikit-learn's interface)
        self,
        X: Any,
        y: "ArrayLike",
        *,
        costs: Any = None,
        at_most: float | None = None,
        confidence: float = 0.95,
        sample_weight: "ArrayLike | None" = None,
        groups: "ArrayLike | None" = None,
        by: "ArrayLike | None" = None,
        largest_cost: float | None = None,
    ) -> Certificate:
        """Bound the expected cost of the decisions from above, by rows on which nothing was chosen.

        The rows must be drawn as new rows will be, and must not have been used for training or for any
        choice. Then the expected cost of a decision is at most ``bound`` with the given confidence,
        whatever the distribution.

        Parameters
        ----------
        X, y : table of shape (N, d), labels of shape (N,)
            Rows with their true classes.
        costs : array or data frame, default=None
            The rows' own costs, as in `predict`.
        at_most : float, default=None
            A cost that is to be proven. If it cannot be, the certificate says how many rows would do.
        confidence : float, default=0.95
            Probability with which the bound holds.
        sample_weight : array of shape (N,), default=None
            Weights of the rows.
        groups : array of shape (N,), default=None
            Rows of one group (such as a patient) go together and count as one observation.
        by : array of shape (N,), default=None
            Also bound the cost of the rows with each value.
        largest_cost : float, default=None
            The greatest cost of a decision. By default, of the costs by class, or of these rows' own.
        """
        _check_confidence(confidence)
        charged, codes, by_row = self._charged(X, y, costs, sample_weight, groups, largest_cost)
        parts = parts_of(charged, codes, list(self._fitted.classes), "true class")
        if not by_row and largest_cost is None:
            limits = map(self._greatest_of, range(len(parts)))
            parts = {
                name: part.with_greatest(limit)
                for (name, part), limit in zip(parts.items(), limits, strict=True)
            }
        if by is not None:
            values, place = np.unique(_as_long(by, len(codes), "by"), return_inverse=True)
            parts |= parts_of(charged, place, values.tolist(), "rows of")
        found = certificate(charged, parts, confidence, by_row=by_row, target=at_most)
        return replace(found, abstention=self._fitted.rule.charge)

    def choose_rule(
        self,
        X: Any,
        y: "ArrayLike",
        rules: "Mapping[str, Any] | Sequence[float]",
        *,
        at_most: float | None = None,
        confidence: float = 0.95,
        groups: "ArrayLike | None" = None,
    ) -> ChosenRule:
        """Choose among decision rules, with a bound that holds for the chosen one.

        Parameters
        ----------
        X, y : table of shape (N, d), labels of shape (N,)
            Rows with their true classes, as in `certify`.
        rules : dict of classifiers, or list of floats
            Classifiers that decide otherwise (as from `with_costs` or `with_abstentions`), by name; or
            shares of the rows to abstain on. What their decisions cost is counted by this classifier's
            costs.
        at_most : float, default=None
            Choose the rule with the fewest abstentions whose cost is proven to be at most this, or, if
            there is none, the one with the lowest bound. By default, the latter.
        confidence : float, default=0.95
            Probability with which the bounds of all rules hold together.
        groups : array of shape (N,), default=None
            As in `certify`.
        """
        _check_confidence(confidence)
        named = self._named_rules(rules)
        found, abstained = {}, {}
        for name, rule in named.items():
            charged, _, by_row = self._charged(X, y, None, None, groups, None, rule=rule)
            each = certificate(
                charged, {}, confidence, by_row=by_row, target=at_most, n_rules=len(named)
            )
            found[name] = replace(each, abstention=rule.model_.rule.charge)
            n_classes = len(self._fitted.classes)
            abstained[name] = float(np.mean(_decided(rule, X, None).codes == n_classes))
        proven = [name for name in named if at_most is not None and found[name].bound <= at_most]
        if proven:
            best = min(proven, key=lambda name: (abstained[name], found[name].bound))
        else:
            best = min(named, key=lambda name: found[name].bound)
        return ChosenRule(best, named[best], found[best], found)

    def _named_rules(self, rules: "Mapping[str, Any] | Sequence[float]") -> dict[str, Any]:
        if isinstance(rules, Mapping):
            named = dict(rules)
        else:
            named = {
                f"abstain on {100 * share:.3g} %": self.with_abstentions(share) for share in rules
            }
        if not named:
            raise ValueError("rules is empty: give classifiers by name, or shares of the rows")
        for name, rule in named.items():
            if not np.array_equal(getattr(rule, "classes_", ()), self._fitted.classes):
                raise ValueError(f"rule {name!r} has other classes than this classifier")
        return named

    # ---- other decisions of the same model

    def price_ranges(self, X: Any, costs: Any = None) -> PriceRanges:
        """For each row, the interval of each price over which the decision on it stays as it is.

        All other prices are kept. The intervals are exact and closed: at their ends, two decisions have
        the same expected cost.

        Parameters
        ----------
        X : table of shape (N, d)
            Rows.
        costs : array or data frame, default=None
            The rows' own costs, as in `predict`.
        """
        model = self._fitted
        if not model.rule.by_cost:
            raise ValueError(
                f'decision="{model.rule.name}" ignores prices: ranges need decision="min_risk"'
            )
        decided = _decided(self, X, costs)
        return price_ranges(decided.posterior, decided.costs, decided.codes, model.rule.reject_cost)

    def with_priors(self, priors: Any, X: Any = None) -> Self:
        """The same model for rows in which the classes are otherwise frequent.

        Probabilities are reweighted by p′ ∝ p · π′/π, with the frequencies π of the training rows. This
        is right if rows of each class look as they did, and only their number has changed.

        Parameters
        ----------
        priors : dict, array of shape (K,) or "estimate"
            New frequencies by class, or in the order of `classes_`. "estimate" finds those that agree
            with the probabilities of the rows `X`, whose classes need not be known.
        X : table of shape (N, d), default=None
            Rows such as those to come, for "estimate".
        """
        model = self._fitted
        if isinstance(priors, str):
            if priors != "estimate":
                raise ValueError(f'priors is {priors!r}: give frequencies by class, or "estimate"')
            if X is None:
                raise ValueError('priors="estimate" needs rows such as those to come: give X')
            plain = model.with_priors(None)
            posterior = plain.posterior(plain.scores(encode_table(self, X)))
            shares = estimated_priors(posterior, model.frequencies)
        else:
            shares = given_priors(priors, list(model.classes))
        other, changed = copy.copy(self), model.with_priors(shares)
        if len(model.classes) > 2:  # reweighted probabilities need not rise with the scores
            changed = replace(changed, monotone=())
        other.model_ = changed
        return other.rebudgeted()

    # ---- another world

    def monitor(self, X: Any, *, alarm: float = 0.05) -> Drift:
        """Compare new rows with what training saw: columns, probabilities and class frequencies.

        The training rows are known by counts only, which are saved with the model. True classes are not
        needed. Rows that go together, such as visits of a patient, raise false alarms: give one of each.

        Parameters
        ----------
        X : table of shape (N, d)
            New rows.
        alarm : float, default=0.05
            Probability of an alarm, over all tests together, if nothing has changed.
        """
        if not 0 < alarm < 1:
            raise ValueError(f"alarm is {alarm!r}: give a probability between 0 and 1")
        model = self._fitted
        seen = model.provenance.seen
        if seen is None:
            raise ValueError(
                "this model has no counts of its training rows: fit it again, with this version, to rows in "
                f"memory with at most {MOST_COLUMNS:,} columns"
            )
        values = encode_table(self, X)
        plain = model.with_priors(None)
        posterior = plain.posterior(plain.scores(values, threads_of(self.n_jobs)))
        return drift_of(plain, seen, values, posterior, alarm)

    # ---- what decisions cost

    def _greatest_of(self, code: int) -> float:
        """The greatest cost of a decision on a row of a class."""
        model = self._fitted
        return max(float(model.costs[code].max()), model.rule.charge or 0.0) or 1.0

    @property
    def _fitted(self) -> FittedClassifier:
        model: FittedClassifier = self.model_
        return model

    def _charged(
        self,
        X: Any,
        y: "ArrayLike",
        costs: Any,
        sample_weight: "ArrayLike | None",
        groups: "ArrayLike | None",
        largest_cost: float | None,
        rule: Any = None,
    ) -> tuple[Charged, Labels, bool]:
        """What the decisions of a rule on these rows cost, by this classifier's costs."""
        own = _decided(self, X, costs)
        codes = own.codes if rule is None else _decided(rule, X, None).codes
        model, n_samples = self._fitted, len(own.codes)
        true = known_labels(
            y,
            n_samples,
            model.classes,
            "what decisions cost is not known on these rows: they contain",
        )
        weight = np.ones(n_samples)
        if sample_weight is not None:
            weight = _as_long(sample_weight, n_samples, "sample_weight").astype(np.float64)
            if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
                raise ValueError("sample_weight must be finite, 0 or more, and not 0 everywhere")
        charge = (model if rule is None else rule.model_).rule.charge
        paid, greatest = _paid(own.costs, true, codes, charge)
        by_row = own.costs.ndim == 3
        if largest_cost is not None:
            if not np.isfinite(largest_cost) or largest_cost < paid.max():
                raise ValueError(
                    f"largest_cost is {largest_cost!r}, but a decision here costs {paid.max():g}: give the "
                    "greatest possible cost"
                )
            greatest, by_row = float(largest_cost), False
        members: Ints | None = None
        if groups is not None:
            members = np.unique(_as_long(groups, n_samples, "groups"), return_inverse=True)[1]
        return Charged(paid, weight, members, greatest, own.seed), true, by_row


def _decided(clf: Any, X: Any, costs: Any) -> Decided:
    model: FittedClassifier = clf.model_
    values, n_threads = encode_table(clf, X), threads_of(clf.n_jobs)
    scores: Scores = model.scores(values, n_threads)
    own = model.costs_of(values, costs, n_threads)
    codes, abstained = model.decide(scores, own), model.abstains(scores, own)
    if abstained is not None:
        codes = np.where(abstained, len(model.classes), codes).astype(np.int32)
    seed = int(hash_rows(values, 0).sum())  # modulo 2⁶⁴
    return Decided(codes, model.posterior(scores), own, seed)


def _paid(
    costs: Floats, true: Labels, codes: Labels, charge: float | None
) -> tuple[BySample, float]:
    """(N,) the cost of each decision, and the greatest that is possible."""
    rows, n_classes = np.arange(len(true)), costs.shape[-1]
    decided = np.minimum(codes, n_classes - 1)
    by_class = costs[rows, true, decided] if costs.ndim == 3 else costs[true, decided]
    reject = 0.0 if charge is None else float(charge)
    paid = np.where(codes == n_classes, reject, by_class)
    return paid, max(float(costs.max()), reject) or 1.0


def _as_long(given: Any, n_samples: int, name: str) -> NDArray[Any]:
    values = np.asarray(given)
    if values.shape != (n_samples,):
        raise ValueError(f"{name} has shape {values.shape}: give {(n_samples,)}")
    return values


def _check_confidence(confidence: float) -> None:
    if not LEAST_CONFIDENCE <= confidence < 1:
        raise ValueError(
            f"confidence is {confidence!r}: give a probability from {LEAST_CONFIDENCE} to below 1"
        )
