"""How many abstentions bring the average cost below a limit, without rows to spare.

Conformal risk control by cross-validation [Cohen et al. 2024]: let R_k(λ) be the mean cost on fold k, decided
by a fit to the other folds that abstains where a decision is expected to cost more than λ, and B the greatest
cost. If λ is the highest level at which (Σ_k R_k(λ) + B) / (K + 1) is at most α, then the expected cost is at
most α. It must not fall as λ rises, so abstentions are not charged. "Expected" is over training tables and
new rows: this is no statement about one model with a stated confidence, as a certificate is. And it holds for
the fits of the cross-fit; of their average, which is the model, it is assumed.
"""

from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample
from rebelboost.base.findings import (
    IN_DATA,
    Column,
    Described,
    Document,
    Only,
    Sentence,
    Strong,
    Table,
)
from rebelboost.base.text import number, percent


class CrossValidated(NamedTuple):
    """Decisions on left-out rows."""

    paid: BySample
    """(N,) what the best decision on each row cost."""
    least: BySample
    """(N,) what it was expected to cost."""
    n_folds: int
    greatest: float
    """The greatest cost of a decision."""

    def bound(self, mean: float) -> float:
        """(Σ_k R_k + B) / (K + 1), for folds of equal size."""
        return (self.n_folds * mean + self.greatest) / (self.n_folds + 1)


def highest_level(found: CrossValidated, at_most: float) -> float | None:
    """The highest level of abstaining at which the bound is met; None if even abstaining always does not."""
    order = np.argsort(found.least, kind="stable")
    least, n = found.least[order], len(found.least)
    # Rows with equal expected costs are decided alike: only levels after the last of them count.
    means = np.cumsum(found.paid[order]) / n
    last = np.append(np.diff(least) > 0, True)
    met = last & (found.bound(0.0) + found.n_folds * means / (found.n_folds + 1) <= at_most)
    if not met.any():
        # A level below all rows abstains always.
        return 0.0 if found.bound(0.0) <= at_most and least[0] > 0 else None
    return float(least[np.flatnonzero(met)[-1]])


class ChosenBudget(Described):
    """A budget of abstentions that brings the average cost below a limit; `print` shows it."""

    def __init__(self, classifier: Any, found: CrossValidated, at_most: float, level: float | None):
        self.classifier = classifier
        """The classifier that abstains so; None if there is none."""
        self.at_most = at_most
        self.n_folds, self.greatest = found.n_folds, found.greatest
        decided = found.least <= (np.inf if level is None else level)
        self.cost = float(np.where(decided, found.paid, 0.0).mean())
        """Mean cost of the left-out rows, with these abstentions."""
        self.budget = 1 - float(decided.mean())
        """Share of the left-out rows that it abstains on."""
        self.bound = found.bound(self.cost)
        """Bound of the average cost."""

    @property
    def holds(self) -> bool:
        """Whether the average cost is at most the limit."""
        return self.classifier is not None

    @property
    def folds_needed(self) -> int:
        """The least number of folds with which the limit can be met at all."""
        return max(2, int(np.ceil(self.greatest / self.at_most)) - 1) if self.at_most > 0 else 0

    def document(self) -> Document:
        """The result as a document, which `rebelboost.base.findings` renders."""
        keys = ("holds", "at_most", "bound", "cost", "budget", "n_folds", "greatest")
        data = Only(IN_DATA, [Table([Column(key, [getattr(self, key)]) for key in keys], "budget")])
        return [*map(Sentence, self._sentences()), data]

    def _sentences(self) -> list[str | list[str]]:
        if not self.holds:
            least = number(self.greatest / (self.n_folds + 1))
            found = (
                f"No budget of abstentions is shown to bring the average cost to {number(self.at_most)}: with "
                f"{self.n_folds} folds and a greatest cost of {number(self.greatest)}, the least bound is "
                f"{least}. It takes {self.folds_needed:,} folds or more (cross_fit=), or rows to spare for a "
                "certificate."
            )
            return [found]
        share, limit = Strong(percent(self.budget)), Strong(number(self.at_most))
        opening = ["Abstaining on ", share, " of the rows, a decision costs at most ", limit]
        measured = (
            f"On the rows that {self.n_folds} folds left out, it cost {number(self.cost)}, which bounds the "
            f"average by {number(self.bound)}. Abstentions are charged nothing."
        )
        caveat = (
            "This is no bound with a stated confidence: for that, use rows to spare (certify). It is shown for "
            "the fits of the cross-fit, and assumed of their average."
        )
        return [[*opening, " on average over training tables and new rows."], measured, caveat]
