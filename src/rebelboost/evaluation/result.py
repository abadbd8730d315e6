"""The results of an evaluation: accuracy and cost with their intervals, as text and as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.names import listed, shown
from rebelboost.base.text import aligned, amount, percent
from rebelboost.costs.matrix import is_uniform
from rebelboost.costs.report import CostReport
from rebelboost.evaluation.calibration import Calibration
from rebelboost.evaluation.intervals import Estimate

LEFT_OUT = "left-out samples"


class Judged(NamedTuple):
    """Sample by sample; not stored with the figures."""

    rows: Ints
    """(n,) in the user's table, in its order."""
    true: Labels
    """(n,) codes of the classes."""
    decided: Labels
    """(n,) codes of the decisions: the number of classes where the model abstained."""
    posterior: Floats | None
    """(n, K)"""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What decisions on unseen samples were like; printed, a text."""

    source: str
    """Where the samples come from: `LEFT_OUT`, or the name of a table."""
    n: int
    """Samples that were judged."""
    accuracy: Estimate
    """Share of right decisions, among those not abstained from."""
    cost: Estimate
    """Mean of all decisions, those to abstain included."""
    confusion: CostReport
    """In counts and in money."""
    commonest: Any
    """The class with the most weight in training."""
    n_rejected: float = 0
    """Samples that the model abstained from, or their weight."""
    log_loss: float | None = None
    """Mean −ln of the probability of the true class; None where there are no probabilities."""
    shares_log_loss: float | None = None
    """The same for who knows nothing but how common the classes are."""
    calibration: Calibration | None = None
    unknown: Mapping[Any, int] = field(default_factory=dict)
    """Samples of classes that the model never saw, by class. No other figure counts them."""
    judged: Judged | None = field(default=None, repr=False)

    @property
    def is_left_out(self) -> bool:
        """Whether the samples are training samples, judged by the parts that had left them out."""
        return self.source == LEFT_OUT

    @property
    def has_costs(self) -> bool:
        """Whether some mistakes cost more than others, or one may abstain."""
        costs = self.confusion.costs
        return costs.shape[0] != costs.shape[1] or not is_uniform(costs)

    @property
    def constant_cost(self) -> float:
        """Mean cost of always taking the one decision that is cheapest on these samples."""
        return self.confusion.constant_total / self.confusion.n_decisions

    @property
    def commonest_share(self) -> float:
        """Accuracy of always deciding for the commonest class of the training."""
        return float(self._of_class[self._commonest_code] / self.confusion.n_decisions)

    @property
    def commonest_cost(self) -> float:
        """Mean cost of always deciding for it."""
        column = self.confusion.costs[:, self._commonest_code]
        return float(self._of_class @ column / self.confusion.n_decisions)

    @property
    def accuracy_with_unknown(self) -> float:
        """Accuracy where the samples of unknown classes count as mistakes, which they are."""
        n_decided = self.n * (1 - self.n_rejected / self.confusion.n_decisions)
        return self.accuracy.value * n_decided / (n_decided + sum(self.unknown.values()))

    @property
    def _of_class(self) -> Floats:
        counts: Floats = self.confusion.counts.sum(axis=1)
        return counts

    @property
    def _commonest_code(self) -> int:
        return self.confusion.classes.index(self.commonest)

    def text(self) -> str:
        """The figures, to read."""
        lines = [f"{self.n:,} samples: {self.source}", "", aligned(self._figures())]
        if self.unknown:
            lines += ["", self.about_unknown()]
        return "\n".join([*lines, "", str(self.confusion)])

    __str__ = text

    def about_unknown(self) -> str:
        """A sentence on the classes that the model does not know."""
        n = sum(self.unknown.values())
        return (
            f"{n:,} more {'is' if n == 1 else 'are'} of classes that the model never saw "
            f"({listed(list(self.unknown))}), and not counted above. With them as mistakes, "
            f"accuracy is {percent(self.accuracy_with_unknown)}."
        )

    def _figures(self) -> list[list[str]]:
        low, high = self.accuracy[1:]
        rows: list[list[str]] = [
            ["accuracy", percent(self.accuracy.value), f"{percent(low)} to {percent(high)}"],
            [f"  always {shown(self.commonest)}", percent(self.commonest_share), ""],
        ]
        if self.has_costs:
            rows += [
                ["mean cost", *_range(self.cost)],
                [f"  always {shown(self.confusion.constant)}", amount(self.constant_cost), ""],
            ]
        if self.n_rejected:
            rejected = self.n_rejected / self.confusion.n_decisions
            rows.append(["abstained", percent(rejected), ""])
        if self.log_loss is not None and self.shares_log_loss is not None:
            rows += [
                ["log-loss", f"{self.log_loss:.4f}", ""],
                ["  by shares of classes", f"{self.shares_log_loss:.4f}", ""],
            ]
        if self.calibration is not None:
            rows.append(["calibration error", percent(self.calibration.error), ""])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All figures, ready for JSON; `from_dict` reads them again."""
        confusion = self.confusion
        return {
            "source": self.source,
            "n": self.n,
            "accuracy": self.accuracy.to_dict(),
            "cost": self.cost.to_dict(),
            "classes": list(confusion.classes),
            "decisions": list(confusion.decisions),
            "costs": confusion.costs.tolist(),
            "counts": confusion.counts.tolist(),
            "commonest": self.commonest,
            "commonest_share": self.commonest_share,
            "commonest_cost": self.commonest_cost,
            "constant": confusion.constant,
            "constant_cost": self.constant_cost,
            "n_rejected": self.n_rejected,
            "log_loss": self.log_loss,
            "shares_log_loss": self.shares_log_loss,
            "calibration": self.calibration.to_dict() if self.calibration else None,
            "unknown": [[name, n] for name, n in self.unknown.items()],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Evaluation":
        """Undo `to_dict`; what it says of single samples is gone."""
        costs, counts = (np.asarray(stored[key], dtype=np.float64) for key in ("costs", "counts"))
        probabilities = stored["calibration"]
        return cls(
            source=stored["source"],
            n=stored["n"],
            accuracy=Estimate.from_dict(stored["accuracy"]),
            cost=Estimate.from_dict(stored["cost"]),
            confusion=CostReport(
                tuple(stored["classes"]), tuple(stored["decisions"]), costs, counts, {}
            ),
            commonest=stored["commonest"],
            n_rejected=stored["n_rejected"],
            log_loss=stored["log_loss"],
            shares_log_loss=stored["shares_log_loss"],
            calibration=Calibration.from_dict(probabilities) if probabilities else None,
            unknown=dict(map(tuple, stored["unknown"])),
        )


def _range(cost: Estimate) -> tuple[str, str]:
    return amount(cost.value), f"{amount(cost.low)} to {amount(cost.high)}"
