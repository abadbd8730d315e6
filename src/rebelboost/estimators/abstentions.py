"""Abstaining with a budget: on which rows, what it saves, and which budget limits the average cost."""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rebelboost.base.arrays import BySample, Ints
from rebelboost.base.text import number, percent
from rebelboost.costs.decision import level_of_budget
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import known_labels, threads_of
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.result import CrossFit
from rebelboost.theory.average_risk import ChosenBudget, CrossValidated, highest_level

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Abstentions(NamedTuple):
    """The rows that a model abstains on, and what that saves; `print` shows it."""

    rows: Ints
    """Positions of these rows, those with the highest expected cost first."""
    least: BySample
    """(N,) expected cost of the best decision on each of all rows."""
    level: float
    """The model abstains where that is above this."""
    price: float
    """What an abstention is charged with."""

    @property
    def share(self) -> float:
        """Share of the rows that the model abstains on."""
        return len(self.rows) / max(1, len(self.least))

    @property
    def cost(self) -> float:
        """Expected cost of a row if the model never abstained."""
        return float(self.least.mean())

    @property
    def cost_decided(self) -> float:
        """Expected cost of a row, without that of the rows it abstains on, and without their price."""
        return self.cost - float(self.least[self.rows].sum()) / len(self.least)

    @property
    def saved(self) -> float:
        """What abstaining is expected to save for each row, less the price of abstentions."""
        return self.cost - self.cost_decided - self.share * self.price

    def __str__(self) -> str:
        if len(self.rows) == 0:
            return "The model abstains on none of these rows."
        price = f"charged {number(self.price)} each" if self.price else "charged nothing"
        return (
            f"The model abstains on {percent(self.share)} of the rows, where the best decision is expected to "
            f"cost more than {number(self.level)}. The expected cost of a row falls from {number(self.cost)} "
            f"to {number(self.cost_decided)}, with abstentions {price}."
        )


class AbstentionsMixin:
    """Abstentions of a classifier."""

    model_: FittedClassifier
    cross_fit_: CrossFit | None
    n_jobs: int | None
    reject_budget: float | None
    reject_label: Any

    def with_abstentions(self, budget: float, X: Any = None, *, label: Any = None) -> Self:
        """The same model, abstaining on this share of the rows: those with the highest expected cost.

        If the model has a `reject_cost`, it stays the price of an abstention, and the model still abstains only
        where a decision is expected to cost more. Without one, abstentions are charged nothing.

        Parameters
        ----------
        budget : float
            Share of the rows that may go to a person, from 0 to 1.
        X : table of shape (N, d), default=None
            Rows such as those to come, whose classes need not be known. By default, the rows that the
            fits of a cross-fit have left out.
        label : object, default=None
            Label of abstentions; by default the present `reject_label`, or "abstain".
        """
        if not 0 <= budget <= 1:
            raise ValueError(f"budget is {budget!r}: give a share of the rows, from 0 to 1")
        level = level_of_budget(self._least_costs(X), budget)
        other = copy.copy(self)
        other.model_ = replace(self.model_, reject_level=level)
        other.reject_budget = budget
        chosen = self.model_.rule.reject_label if label is None else label
        other.reject_label = "abstain" if chosen is None else chosen
        return other

    def budgeted(self) -> Self:
        """Set the level from which `reject_budget` lets the model abstain; `fit` calls this."""
        assert self.reject_budget is not None
        level = level_of_budget(self._least_costs(None), self.reject_budget)
        self.model_ = replace(self.model_, reject_level=level)
        return self

    def rebudgeted(self) -> Self:
        """Meet the budget, if there is one, at other costs or priors; without left-out rows the level stays."""
        model, found = self.model_, self.cross_fit_
        can = found is not None and len(found.left_out) > 0 and not model.by_sample
        return self.budgeted() if can and model.reject_level is not None else self

    def abstentions(self, X: Any = None) -> Abstentions:
        """Which rows the model abstains on, and what that saves.

        Parameters
        ----------
        X : table of shape (N, d), default=None
            Rows, whose classes need not be known. By default, the rows that the fits of a cross-fit have
            left out.
        """
        model, least = self.model_, self._least_costs(X)
        limit = np.inf if model.rule.reject_cost is None else model.rule.reject_cost
        rows = np.flatnonzero(least > limit)
        found = rows[np.argsort(-least[rows], kind="stable")]
        return Abstentions(found, least, float(limit), model.rule.charge or 0.0)

    def _least_costs(self, X: Any) -> BySample:
        """(N,) least expected cost of a decision on each row, or on each row that was left out."""
        model = self.model_
        if X is not None:
            values, n_threads = encode_table(self, X), threads_of(self.n_jobs)
            costs = model.costs_of(values, None, n_threads)
            return model.expected_cost(model.scores(values, n_threads), costs).min(axis=1)
        return model.expected_cost(self._left_out().left_out).min(axis=1)

    def _left_out(self) -> CrossFit:
        """The cross-fit, whose fits have left out rows with costs by class."""
        found = self.cross_fit_
        if found is None or len(found.left_out) == 0 or self.model_.by_sample:
            raise ValueError(
                "the share of abstentions is set by rows that the model has not seen, and there are none (or "
                "their costs differ): use with_abstentions, and give X, rows such as those to come"
            )
        return found

    def choose_budget(self, y: "ArrayLike", at_most: float) -> ChosenBudget:
        """The smallest budget of abstentions that brings the average cost below a limit, without rows to spare.

        It is chosen by the rows that the fits of the cross-fit left out, by conformal risk control
        [Cohen et al. 2024]. The limit then holds on average over training tables and new rows: not with a
        stated confidence, as a certificate does. Abstentions are charged nothing.

        Parameters
        ----------
        y : array of shape (N,)
            Labels that the model was fitted to.
        at_most : float
            Mean cost that decisions are to have at most.
        """
        model, found = self.model_, self._left_out()
        if not at_most > 0:
            raise ValueError(f"at_most is {at_most!r}: give a cost above 0")
        labels = np.asarray(y)
        if len(labels) <= int(found.rows.max()):
            raise ValueError(
                f"y has {len(labels)} labels, but the model was fitted to at least "
                f"{int(found.rows.max()) + 1}: give the labels that it was fitted to"
            )
        true = known_labels(labels, len(labels), model.classes, "y contains")[found.rows]
        least = model.expected_cost(found.left_out)
        paid = model.costs[true, model.decide(found.left_out)]
        n_folds = min(each.n_parts for each in found.standings if each.share > 0 and each.n_parts)
        judged = CrossValidated(paid, least.min(axis=1), n_folds, float(model.costs.max()))
        level = highest_level(judged, at_most)
        if level is None:
            return ChosenBudget(None, judged, at_most, level)
        other = copy.copy(self)
        other.model_ = replace(model, reject_level=level)
        other.reject_cost = None  # type: ignore[attr-defined]
        other.reject_budget = float(np.mean(judged.least > level))
        other.reject_label = "abstain" if self.reject_label is None else self.reject_label
        return ChosenBudget(other, judged, at_most, level)
