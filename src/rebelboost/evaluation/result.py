"""The result of an evaluation: accuracy and cost with intervals, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.names import listed, shown
from rebelboost.base.text import aligned, amount, counted, percent
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.report import CostReport
from rebelboost.evaluation.calibration import Calibration
from rebelboost.evaluation.intervals import Estimate, share

LEFT_OUT = "left-out samples"
"""The `source` of held-out training samples; stored in model files."""


HELD_OUT = "held-out training samples, each evaluated by fits that did not see it"


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
class Evaluation:
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
    auc: float | None = None
    """Area under the ROC curve; None unless there are two classes and probabilities."""
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
    judged: Judged | None = field(default=None, repr=False)
    """Results by sample; None if the evaluation was read from a file."""

    @property
    def is_left_out(self) -> bool:
        """Whether the samples are held-out training samples of a cross-fit."""
        return self.source == LEFT_OUT

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

    def text(self) -> str:
        """Return the figures as text."""
        groups = "" if self.n_groups is None else f" in {counted(self.n_groups, 'group')}"
        lines = [f"{self.n:,} samples{groups}: {self._source}", "", aligned(self.figures())]
        if self.unknown:
            lines += ["", self.about_unknown()]
        confusion = str(self.confusion) if self.has_costs else self.confusion.counts_text()
        return "\n".join([*lines, "", confusion])

    __str__ = text

    def __repr__(self) -> str:
        low, high = percent(self.accuracy.low), percent(self.accuracy.high)
        cost = f", mean cost {amount(self.cost.value)}" if self.has_costs else ""
        return (
            f"Evaluation({self.n:,} samples, accuracy {percent(self.accuracy.value)} "
            f"({low} to {high}){cost}; print() shows all figures)"
        )

    def _repr_html_(self) -> str:
        from rebelboost.base.markup import card
        from rebelboost.evaluation.cards import evaluation_parts

        return card(*evaluation_parts(self, self._source))

    @property
    def _source(self) -> str:
        return HELD_OUT if self.is_left_out else self.source

    def about_unknown(self) -> str:
        """Say how many samples have unknown classes."""
        n = sum(self.unknown.values())
        return (
            f"{n:,} more {'sample has a class' if n == 1 else 'samples have classes'} not in the "
            f"training data ({listed(list(self.unknown))}) and {'is' if n == 1 else 'are'} not counted "
            f"above. If they count as mistakes, accuracy is {percent(self.accuracy_with_unknown)}."
        )

    def figures(self) -> list[list[str]]:
        """The figures as rows of texts: name, value, interval; the first row has the headings."""
        low, high = self.accuracy[1:]
        rows: list[list[str]] = [
            ["", "", "95 % interval"],
            ["accuracy", percent(self.accuracy.value), f"{percent(low)} to {percent(high)}"],
            [f"  always {shown(self.commonest)}", percent(self.commonest_share), ""],
        ]
        if self.has_costs:
            rows += [
                ["mean cost", *_range(self.cost)],
                [f"  always {shown(self.confusion.constant)}", amount(self.constant_cost), ""],
            ]
            if self.probable_cost is not None:
                rows.append(["  most probable class", amount(self.probable_cost), ""])
        rows += self._two_class_rows()
        if self.n_rejected:
            rejected = self.n_rejected / self.confusion.n_decisions
            rows.append(["abstained", percent(rejected), ""])
        if self.log_loss is not None and self.shares_log_loss is not None:
            rows += [
                ["log-loss (lower is better)", f"{self.log_loss:.4f}", ""],
                ["  class frequencies only", f"{self.shares_log_loss:.4f}", ""],
            ]
        if self.calibration is not None:
            of = self.calibration.of_class
            of_class = "" if of is None else f" (probability of {shown(of)})"
            rows.append([f"calibration error{of_class}", percent(self.calibration.error), ""])
        return rows

    def _two_class_rows(self) -> list[list[str]]:
        found = self.two_class
        if not found:
            return []
        rows = [
            [name, percent(each.value), f"{percent(each.low)} to {percent(each.high)}"]
            for name, each in found.items()
        ]
        if self.auc is not None:
            rows.insert(0, ["AUC", f"{self.auc:.3f}", ""])
        rows[0][0] += f" ({shown(self.positive)} is positive)"
        return rows

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
            "positive": self.positive,
            "recalls": [each.to_dict() for each in self.recalls],
            "precisions": [each.to_dict() for each in self.precisions],
            **{name.replace(" ", "_"): e.to_dict() for name, e in self.two_class.items()},
            "n_rejected": self.n_rejected,
            "probable_cost": self.probable_cost,
            "log_loss": self.log_loss,
            "shares_log_loss": self.shares_log_loss,
            "calibration": self.calibration.to_dict() if self.calibration else None,
            "unknown": [[name, n] for name, n in self.unknown.items()],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Evaluation":
        """Create from a dictionary; the inverse of `to_dict`, without the results by sample."""
        costs, counts = (np.asarray(stored[key], dtype=np.float64) for key in ("costs", "counts"))
        constants = stored.get("constants")  # absent from models of earlier versions
        probabilities = stored["calibration"]
        positive, rates = (
            _of_earlier(stored, counts)
            if "recalls" not in stored
            else (
                stored["positive"],
                [tuple(map(Estimate.from_dict, stored[key])) for key in ("recalls", "precisions")],
            )
        )
        return cls(
            source=stored["source"],
            n=stored["n"],
            n_groups=stored.get("n_groups"),
            n_effective=stored.get("n_effective"),
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
            auc=stored.get("auc"),
            recalls=rates[0],
            precisions=rates[1],
            positive=positive,
            probable_cost=stored.get("probable_cost"),
            log_loss=stored["log_loss"],
            shares_log_loss=stored["shares_log_loss"],
            calibration=Calibration.from_dict(probabilities) if probabilities else None,
            unknown=dict(map(tuple, stored["unknown"])),
        )


def _range(cost: Estimate) -> tuple[str, str]:
    return amount(cost.value), f"{amount(cost.low)} to {amount(cost.high)}"


def _of_earlier(
    stored: Mapping[str, Any], counts: Floats
) -> tuple[Any, list[tuple[Estimate, ...]]]:
    """Positive class, recalls and precisions of models of earlier versions, which lack them."""
    classes = stored["classes"]
    n_effective = stored.get("n_effective") or stored["n"]
    each = n_effective / counts.sum()
    right = np.diagonal(counts)
    rates = [
        tuple(
            share(float(hit), float(of), float(of * each))
            for hit, of in zip(right, sums, strict=False)
        )
        for sums in (counts.sum(axis=1), counts.sum(axis=0))
    ]
    return (classes[1] if len(classes) == 2 else None), rates
