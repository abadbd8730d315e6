"""The result of an evaluation: accuracy and cost with intervals, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.findings import GAP, Described, Document, Sentence
from rebelboost.base.names import ClassNames, listed, shown
from rebelboost.base.text import amount, counted, percent
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.prices import PriceChange
from rebelboost.costs.report import CostReport
from rebelboost.evaluation.binary import BinaryMeasures
from rebelboost.evaluation.calibration import Calibration
from rebelboost.evaluation.figures import (
    HELD_OUT,
    LEFT_OUT,
    Figure,
    about_test,
    decision_figures,
    figure_table,
    price_document,
)
from rebelboost.evaluation.headlines import (
    Line,
    cost_of_many,
    lead_on_decisions,
    lines_on_decisions,
)
from rebelboost.evaluation.intervals import Estimate, WeightedRows
from rebelboost.exceptions import EvaluationError

if TYPE_CHECKING:
    from rebelboost.evaluation.curves import BinaryCurves, CostCurve
    from rebelboost.evaluation.parts import Parts

LOG_LOSS = "Log-loss: mean of −ln(probability of the true class). Lower is better; 0 is perfect."
MOST_PRICES = 30
"""Prices that are kept in files and in JSON, the most influential ones."""
TOO_GOOD = 0.99
"""Accuracy, at the low end of its interval, that is rarely honest."""


class Judged(NamedTuple):
    """Results by sample; not stored with the figures."""

    rows: Ints
    """(n,) row numbers in the user's table, from 0."""
    true: Labels
    """(n,) codes of the true classes."""
    decided: Labels
    """(n,) codes of the decisions; the number of classes stands for an abstention."""
    posterior: Floats
    """(n, K) probability of each class."""
    costs: Floats | None = None
    """(n, K, K) costs[n, true, decided] of the samples; None if costs are by class."""
    sampling: WeightedRows | None = None
    """Weights and groups of the samples; None if each counts once, and by itself."""

    def of(self, rows: NDArray[np.bool_]) -> "Judged":
        """Those of some samples."""
        costs = None if self.costs is None else self.costs[rows]
        return Judged(
            self.rows[rows],
            self.true[rows],
            self.decided[rows],
            self.posterior[rows],
            costs,
            self.weighted.of(rows),
        )

    @property
    def weighted(self) -> WeightedRows:
        """Weights and groups; weights of 1 if none were given."""
        return self.sampling or WeightedRows(np.ones(len(self.true)))

    def prices(self, by_class: Floats, reject_cost: float | None) -> Floats:
        """(n, decisions) cost of each decision, given the true class.

        `by_class` are (K, K) costs, which count unless samples have their own.
        """
        own = by_class[self.true]
        if self.costs is not None:
            own = self.costs[np.arange(len(self.true)), self.true]
        if reject_cost is None:
            return own
        return np.column_stack([own, np.full(len(own), float(reject_cost))])


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Described):
    """Accuracy, cost and calibration of a classifier; `print` shows them."""

    source: str
    """Origin of the samples: `LEFT_OUT`, or the name of a table."""
    n: int
    """Number of samples evaluated."""
    accuracy: Estimate
    """Share of correct decisions, without abstentions."""
    cost: Estimate
    """Mean cost of all decisions, including abstentions."""
    confusion: CostReport
    """Confusion matrix, in counts and in costs."""
    commonest: Any
    """Most common class of the training data, by weight."""
    n_rejected: float = 0
    """Number (or weight) of the samples on which the model abstained."""
    log_loss: float | None = None
    """Mean −ln of the probability of the true class; None if there are no probabilities."""
    shares_log_loss: float | None = None
    """Log-loss of a baseline that predicts the class frequencies of the training data."""
    probable_cost: float | None = None
    """Mean cost if the most probable class were decided, which ignores the costs; None if they are equal."""
    calibration: Calibration | None = None
    binary: BinaryMeasures | None = None
    """AUC, KS, calibration intercept and slope; None unless there are two classes, and both occur."""
    unknown: Mapping[Any, int] = field(default_factory=dict)
    """Classes that are not in the training data → number of samples. No other figure counts them."""
    n_groups: int | None = None
    """Number of groups of samples that go together; None if each is by itself."""
    n_effective: float | None = None
    """Number of independent samples that would give the interval of the accuracy."""
    recalls: tuple[Estimate, ...] = ()
    """(K,) share of each class that was recognised."""
    precisions: tuple[Estimate, ...] = ()
    """(K,) share of correct decisions among the decisions for each class."""
    positive: Any = None
    """The class that `two_class` is about; None if there are not two classes."""
    price_changes: tuple[PriceChange, ...] = ()
    """How many decisions change with each price, the most influential first; empty if decisions ignore
    prices, or if there are very many."""
    parts: "Parts | None" = None
    """Results by group of rows, if they were asked for."""
    judged: Judged | None = field(default=None, repr=False)
    """Results by sample; None if the evaluation was read from a file."""

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve; None unless there are two classes, and both occur."""
        return None if self.binary is None else self.binary.auc.value

    @property
    def is_left_out(self) -> bool:
        """Whether the samples are held-out training samples of a cross-fit."""
        return self.source == LEFT_OUT

    @property
    def is_from_file(self) -> bool:
        """Whether it was read from a model file, and has no results by sample."""
        return self.judged is None

    @property
    def has_costs(self) -> bool:
        """Whether mistakes have different costs, or the model may abstain."""
        costs = self.confusion.costs
        return costs.shape[0] != costs.shape[1] or not is_uniform(costs)

    @property
    def constant_cost(self) -> float:
        """Mean cost of the cheapest constant decision on these samples."""
        return self.confusion.constant_total / self.confusion.n_decisions

    @property
    def is_unclear(self) -> bool:
        """Whether the interval of the cost, or of the accuracy, includes the value of a constant decision."""
        if self.has_costs:
            return self.cost.high >= self.constant_cost
        return self.accuracy.low <= self.commonest_share

    @property
    def commonest_share(self) -> float:
        """Accuracy of always predicting the most common class of the training data."""
        return float(self._of_class[self._commonest_code] / self.confusion.n_decisions)

    @property
    def commonest_cost(self) -> float:
        """Mean cost of always predicting the most common class of the training data."""
        totals = self.confusion.constant_totals
        return float(totals[self._commonest_code] / self.confusion.n_decisions)

    @property
    def accuracy_with_unknown(self) -> float:
        """Accuracy if samples of unknown classes count as mistakes."""
        n_decided = self.n * (1 - self.n_rejected / self.confusion.n_decisions)
        return self.accuracy.value * n_decided / (n_decided + sum(self.unknown.values()))

    @property
    def _of_class(self) -> Floats:
        counts: Floats = self.confusion.counts.sum(axis=1)
        return counts

    @property
    def _commonest_code(self) -> int:
        return self.confusion.classes.index(self.commonest)

    @property
    def two_class(self) -> dict[str, Estimate]:
        """Sensitivity, specificity and predictive values, if there are two classes and no abstentions.

        They are about the class `positive`.
        """
        if self.confusion.counts.shape != (2, 2):
            return {}
        yes = self.confusion.classes.index(self.positive)
        return {
            "sensitivity": self.recalls[yes],
            "specificity": self.recalls[1 - yes],
            "positive predictive value": self.precisions[yes],
            "negative predictive value": self.precisions[1 - yes],
        }

    @property
    def rejected(self) -> float:
        """Share of the samples on which the model abstained."""
        return self.n_rejected / self.confusion.n_decisions

    @property
    def is_too_good(self) -> bool:
        """Whether nearly every sample is decided correctly, and not by a constant decision."""
        return self.accuracy.low >= TOO_GOOD and not self.is_unclear

    @property
    def accuracy_and_baseline(self) -> tuple[float, float] | None:
        """Accuracy of the model and of the most common class; None if costs count instead."""
        return None if self.has_costs else (self.accuracy.value, self.commonest_share)

    def document(self) -> Document:
        """The figures as a document, which `rebelboost.base.findings` renders."""
        groups = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        source = HELD_OUT if self.is_left_out else self.source
        unknown = (GAP, Sentence(self.about_unknown(), "note")) if self.unknown else ()
        return [
            Sentence(f"{self.n:,} samples{groups}: {source}", "note"),
            GAP,
            figure_table(self.figures()),
            *unknown,
            GAP,
            *self.confusion.document(with_costs=self.has_costs),
            *self.prices(),
            *((GAP, *self.parts.document()) if self.parts else ()),
        ]

    def prices(self) -> Document:
        """How many decisions other prices would change; nothing if all mistakes cost the same."""
        return price_document(self) if self.has_costs else []

    def curves(self) -> "BinaryCurves | None":
        """ROC, lift and decision curve, with 95 % intervals; None unless there are two classes, and both occur.

        Evaluations that were read from a file have none.
        """
        from rebelboost.evaluation.curves import binary_curves  # takes long

        if self.judged is None or self.binary is None:
            return None
        code = self.confusion.classes.index(self.positive)
        judged = self.judged
        is_positive = judged.true == code
        return binary_curves(judged.posterior[:, code], is_positive, judged.weighted, self.positive)

    def cost_curve(self, true: Any = None, decided: Any = None) -> "CostCurve | None":
        """What decisions save beside the best constant decision, over the range of one price.

        Parameters
        ----------
        true, decided : class labels, optional
            The price of deciding `decided` if `true` is the true class. Default: that of missing the positive
            class, of two; otherwise the price that changes the most decisions.

        Returns
        -------
        CostCurve or None
            None if decisions do not depend on prices, or if the evaluation was read from a file.
        """
        from rebelboost.evaluation.curves import cost_curve

        cell = self._priced_cell(true, decided)
        if cell is None or self.judged is None:
            return None
        return cost_curve(self.judged, self.confusion.costs, cell, self.confusion.decisions)

    def _priced_cell(self, true: Any, decided: Any) -> tuple[int, int] | None:
        if not self.has_costs or not self.price_changes:
            return None
        if true is None and decided is None:
            if self.positive is not None:
                yes = self.confusion.classes.index(self.positive)
                return yes, 1 - yes
            first = next((each for each in self.price_changes if each.price > 0), None)
            return None if first is None else (first.true, first.decided)
        names = ClassNames(self.confusion.classes)
        codes = tuple(names.find(each) for each in (true, decided))
        if codes[0] is None or codes[1] is None or codes[0] == codes[1]:
            raise EvaluationError(
                f"there is no price of deciding {shown(decided)} for {shown(true)}: give two of the classes "
                f"{names}"
            )
        return codes[0], codes[1]

    def lead(self) -> list[Sentence]:
        """The main result in a few sentences."""
        return lead_on_decisions(self)

    def lines(self) -> list[Line]:
        """The main results as labelled lines."""
        return lines_on_decisions(self)

    def __repr__(self) -> str:
        low, high = percent(self.accuracy.low), percent(self.accuracy.high)
        cost = f", mean cost {amount(self.cost.value)}" if self.has_costs else ""
        return (
            f"Evaluation({self.n:,} samples, accuracy {percent(self.accuracy.value)} "
            f"({low} to {high}){cost}; print() shows all figures)"
        )

    def about_source(self) -> str:
        """Say where the figures come from, and what they are worth."""
        if not self.is_left_out:
            return about_test(self.n, self.source)
        return (
            f"Cross-validation on {self.n:,} training samples: the model is an average of several fits, each "
            "fit leaves out a different part of the samples, and each sample is decided only by fits that "
            "did not see it. Two small biases remain. The number of rounds and the scale of the "
            "probabilities were chosen on the same samples, which is slightly optimistic. Each fit saw fewer "
            "samples than the whole model, which is slightly pessimistic."
        )

    def about_unknown(self) -> str:
        """Say how many samples have unknown classes; an empty text if none have."""
        if not self.unknown:
            return ""
        n = sum(self.unknown.values())
        return (
            f"{n:,} more {'sample has a class' if n == 1 else 'samples have classes'} not in the "
            f"training data ({listed(list(self.unknown))}) and {'is' if n == 1 else 'are'} not counted "
            f"above. If they count as mistakes, accuracy is {percent(self.accuracy_with_unknown)}."
        )

    def figures(self, *, of_many: bool = False) -> list[Figure]:
        """All figures with their baselines; `of_many` gives the cost of 1,000 decisions instead of one."""
        return decision_figures(self, of_many=of_many)

    @property
    def largest_cost(self) -> float:
        """The end of a scale of mean costs."""
        others = (self.constant_cost, self.commonest_cost, self.probable_cost or 0.0)
        return max(self.cost.high, *others) or 1.0

    def notes(self) -> list[str]:
        """What a reader of the figures should know."""
        found = []
        if self.log_loss is not None:
            found.append(LOG_LOSS)
        if self.has_costs and self.accuracy.value < self.commonest_share:
            found.append(
                "Always deciding the most common class would be correct more often. The model minimises "
                "the cost, not the number of mistakes."
            )
        return found

    def about_scales(self) -> str:
        """What drawings of the figures show."""
        cost = f", cost from 0 to {cost_of_many(self, self.largest_cost)}" if self.has_costs else ""
        return (
            f"Scales: accuracy from 0 to 100 %{cost}. Dot: estimate; thick line: 95 % interval; vertical "
            "mark: constant decision."
        )

    def to_dict(self) -> dict[str, Any]:
        """Convert all figures to a dictionary that can be written as JSON."""
        confusion = self.confusion
        return {
            "source": self.source,
            "n": self.n,
            "n_groups": self.n_groups,
            "n_effective": self.n_effective,
            "accuracy": self.accuracy.to_dict(),
            "cost": self.cost.to_dict(),
            "classes": list(confusion.classes),
            "decisions": list(confusion.decisions),
            "costs": confusion.costs.tolist(),
            "counts": confusion.counts.tolist(),
            "constants": None if confusion.constants is None else confusion.constants.tolist(),
            "commonest": self.commonest,
            "commonest_share": self.commonest_share,
            "commonest_cost": self.commonest_cost,
            "constant": confusion.constant,
            "constant_cost": self.constant_cost,
            "auc": self.auc,
            "binary": self.binary and self.binary.to_dict(),
            "positive": self.positive,
            "recalls": [each.to_dict() for each in self.recalls],
            "precisions": [each.to_dict() for each in self.precisions],
            **{name.replace(" ", "_"): e.to_dict() for name, e in self.two_class.items()},
            "n_rejected": self.n_rejected,
            "probable_cost": self.probable_cost,
            "log_loss": self.log_loss,
            "shares_log_loss": self.shares_log_loss,
            "calibration": self.calibration.to_dict() if self.calibration else None,
            "price_changes": [each._asdict() for each in self.price_changes[:MOST_PRICES]],
            "unknown": [[name, n] for name, n in self.unknown.items()],
            **({"by": self.parts.to_dict()} if self.parts else {}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Evaluation":
        """Create from a dictionary; the inverse of `to_dict`, without the results by sample."""
        costs, counts = (np.asarray(stored[key], dtype=np.float64) for key in ("costs", "counts"))
        constants, probabilities = stored["constants"], stored["calibration"]
        binary = stored.get("binary")
        return cls(
            source=stored["source"],
            n=stored["n"],
            n_groups=stored["n_groups"],
            n_effective=stored["n_effective"],
            accuracy=Estimate.from_dict(stored["accuracy"]),
            cost=Estimate.from_dict(stored["cost"]),
            confusion=CostReport(
                tuple(stored["classes"]),
                tuple(stored["decisions"]),
                costs,
                counts,
                {},
                None if constants is None else np.asarray(constants, dtype=np.float64),
            ),
            commonest=stored["commonest"],
            n_rejected=stored["n_rejected"],
            binary=None if binary is None else BinaryMeasures.from_dict(binary),
            recalls=tuple(map(Estimate.from_dict, stored["recalls"])),
            precisions=tuple(map(Estimate.from_dict, stored["precisions"])),
            positive=stored["positive"],
            probable_cost=stored["probable_cost"],
            log_loss=stored["log_loss"],
            shares_log_loss=stored["shares_log_loss"],
            calibration=Calibration.from_dict(probabilities) if probabilities else None,
            unknown=dict(map(tuple, stored["unknown"])),
            price_changes=tuple(PriceChange(**each) for each in stored.get("price_changes", ())),
        )
