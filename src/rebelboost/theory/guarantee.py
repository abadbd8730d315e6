"""The guarantee of a fitted classifier: what is proven of its training, beside what it achieved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from rebelboost.base.text import number
from rebelboost.boosting.rounds import CUT, History, Round
from rebelboost.costs.matrix import is_uniform
from rebelboost.losses.exponential import CAP
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.blend import CrossFit
from rebelboost.theory.bounds import loss_ratio_bound, similarity_rate, similarity_rounds

SLACK = 1e-6
"""What rounding may take from a round's bound, by ratio."""


class FitBound(NamedTuple):
    """One run of boosting, on the samples that it saw, deciding for the highest score."""

    rounds: int
    error: float
    """Share of mistakes."""
    cost: float
    """Mean cost."""
    bound: float
    """The loss, which the cost cannot exceed."""
    bound_by_edges: float | None
    """The same from the edges alone, Π (1 − ν + ν√(1 − ρ_t²)) of the first loss; for AdaBoost, Theorem 3.1.
    None where the shrinkage ν is not known."""
    rounds_within: int | None
    """Rounds that lowered the loss at least as their edge promises."""
    slowest: float
    """The largest loss after a round over that before it."""
    smallest_edge: float
    """The least ρ of all rounds."""


class SimilarityRate(NamedTuple):
    """What is proven of similarities in every round [LOCAL, Sec. 5]."""

    proven: float
    """1 − 2/(K·N²)."""
    rounds: int
    """T₀, after which no training error is left."""


@dataclass(frozen=True)
class Guarantee:
    """What is proven, and what was achieved. `print` reads it."""

    fits: tuple[FitBound, ...]
    """One, or one for each part of a cross-fit."""
    n_classes: int
    of_errors: bool
    """Trained as if all mistakes cost 1: bounds are of the share of mistakes."""
    applies: bool
    """Whether the loss bounds the cost: the exponential one with the THESIS subcosts."""
    zero_level: float | None = None
    """A loss below proves zero training cost."""
    unavoidable_cost: float = 0.0
    """Of samples that lie at one point and have different classes."""
    costs_differ: bool = False
    """Whether mistakes cost unequal amounts, so that the decision is not argmax."""
    cost_at_argmax: float | None = None
    """Mean training cost of the whole model, by the costs in use, deciding for the highest score."""
    cost_as_decided: float | None = None
    """The same, of the decisions of least expected cost; None where it was not worth the time."""
    left_out_cost: float | None = None
    """Of a cross-fit: mean cost on samples by the fits that had not seen them."""
    similarity: SimilarityRate | None = None

    @property
    def certified(self) -> bool:
        """Whether zero training cost (at argmax) is proven by the loss alone, for every fit."""
        level = self.zero_level
        return (
            self.applies
            and level is not None
            and self.unavoidable_cost == 0
            and all(fit.bound < level for fit in self.fits)
        )

    @property
    def bound(self) -> float:
        """Of the training cost at argmax (or share of mistakes); of several fits, the largest."""
        if not self.applies:
            return math.inf
        return max((fit.bound for fit in self.fits), default=math.inf) + self.unavoidable_cost

    @property
    def achieved(self) -> float:
        """The training cost at argmax (or share of mistakes); of several fits, the largest."""
        return max((fit.error if self.of_errors else fit.cost for fit in self.fits), default=0.0)

    @property
    def randomised_bound(self) -> float | None:
        """Of the error of deciding by lot [ADA, Ex. 3-3], for two classes: half the bound."""
        return self.bound / 2 if self.applies and self.n_classes == 2 and self.of_errors else None

    def to_dict(self) -> dict[str, Any]:
        """Its fields by name, ready for JSON."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        named["fits"] = [fit._asdict() for fit in self.fits]
        named["similarity"] = None if self.similarity is None else self.similarity._asdict()
        return named

    def text(self) -> str:
        """In words."""
        if not self.fits:
            return (
                "Nothing was boosted, or its history is not known: there is no guarantee to state."
            )
        lines = self._of_several() if len(self.fits) > 1 else self._of_one(self.fits[0])
        if self.similarity is not None:
            slowest = max(fit.slowest for fit in self.fits)
            lines.append(
                f"Similarities are proven to leave at most {self.similarity.proven:.9g} of the loss in a "
                f"round, and no mistake after {self.similarity.rounds:,} rounds; the slowest round left "
                f"{slowest:.6g}."
            )
        lines.append("All this is about the training samples. For new ones, look at a test set.")
        return "\n".join(lines)

    __str__ = text

    @property
    def _what(self) -> str:
        return "share of mistakes" if self.of_errors else "mean cost"

    def _of_one(self, fit: FitBound) -> list[str]:
        lines = [f"Training, {fit.rounds} rounds, deciding for the highest score (argmax):"]
        if self.applies:
            lines.append(
                f"  {self._what}: at most {number(self.bound)}, since the loss bounds it; achieved: "
                f"{number(self.achieved)}."
            )
            if fit.bound_by_edges is not None and fit.rounds_within == fit.rounds:
                lines.append(
                    f"  Every round lowered the loss at least as its edge promises; the edges alone, of "
                    f"which the smallest is {fit.smallest_edge:.3g}, prove at most "
                    f"{number(fit.bound_by_edges + self.unavoidable_cost)}"
                    f"{' [Theorem 3.1 of AdaBoost]' if self._is_adaboost(fit) else ''}."
                )
            elif fit.rounds_within is not None:
                lines.append(
                    f"  {fit.rounds_within} of {fit.rounds} rounds lowered the loss as much as their edge "
                    "promises; outputs that are drawn to 0 (smoothing) gave up the rest."
                )
            lines += self._certificate()
        else:
            lines.append(
                f"  {self._what}: {number(self.achieved)}. No bound is stated: one is proven for the "
                'exponential loss with subcosts="thesis".'
            )
        if self.unavoidable_cost > 0:
            lines.append(
                f"  {number(self.unavoidable_cost)} of it cannot be avoided: some samples lie at one point "
                "and have different classes."
            )
        return [*lines, *self._both_decisions(), *self._left_out()]

    def _both_decisions(self) -> list[str]:
        if self.cost_as_decided is None or self.cost_at_argmax is None:
            return []
        said = (
            f"  Mean training cost of the model: {number(self.cost_at_argmax)} by argmax, "
            f"{number(self.cost_as_decided)} by the decision in use, for the least expected cost. "
            "Bounds are not for the latter."
        )
        return [said]

    def _is_adaboost(self, fit: FitBound) -> bool:
        """Two classes, equal costs, ±1 responses: then the edges say all of the loss."""
        edges = fit.bound_by_edges
        all_said = edges is not None and edges <= fit.bound * (1 + 1e-3)
        return self.n_classes == 2 and self.of_errors and all_said

    def _certificate(self) -> list[str]:
        if not self.certified or self.zero_level is None:
            return []
        level = number(self.zero_level)
        return [
            f"  The loss is below {level}, the least that any mistake would add: zero is proven."
        ]

    def _of_several(self) -> list[str]:
        opening = (
            f"The model is a weighted mean of {len(self.fits)} fits. What is proven holds for each of them by "
            "itself, on the samples it saw, deciding for the highest score (argmax):"
        )
        lines = [opening]
        errors = [fit.error if self.of_errors else fit.cost for fit in self.fits]
        achieved = f"achieved: {span(errors)}"
        if self.applies:
            bounds = [fit.bound + self.unavoidable_cost for fit in self.fits]
            lines.append(f"  {self._what}: at most {span(bounds)}; {achieved}.")
            lines += self._certificate()
        else:
            lines.append(f"  {self._what}, {achieved}; no bound is stated for this loss.")
        return [
            *lines,
            "Of their mean nothing is proven.",
            *self._both_decisions(),
            *self._left_out(),
        ]

    def _left_out(self) -> list[str]:
        if self.left_out_cost is None:
            return []
        what = "mean cost" if self.costs_differ or not self.of_errors else "share of mistakes"
        cost = number(self.left_out_cost)
        return [f"Measured, on samples that a fit had not seen: {what} {cost} (left-out)."]


def guarantee_of(
    model: FittedClassifier, history: History, cross_fit: CrossFit | None, shrinkage: float
) -> Guarantee:
    """What is proven of a model's training, from all its rounds and, of a single fit, its shrinkage."""
    trained, facts = model.decoder.costs, model.provenance.facts
    n_classes = len(model.classes)
    n_points = int(min(facts.get("n_points", 0.0), 2.0**31))  # a file may say anything
    uniform = is_uniform(trained) and bool((trained.max(axis=1) == 1).all())
    return Guarantee(
        _fit_bounds(history, cross_fit, shrinkage),
        n_classes,
        of_errors=uniform and "by_sample" not in facts,
        applies=model.decoder.loss == "exponential" and model.subcosts == "thesis",
        zero_level=facts.get("zero_level"),
        unavoidable_cost=model.ensemble.unavoidable_cost,
        costs_differ=not is_uniform(model.costs),
        cost_at_argmax=facts.get("cost_at_argmax"),
        cost_as_decided=facts.get("cost_as_decided"),
        left_out_cost=None if cross_fit is None else cross_fit.cost,
        similarity=proven_rate(n_classes, n_points) if n_points >= 4 else None,
    )


def _fit_bounds(
    history: History, cross_fit: CrossFit | None, shrinkage: float
) -> tuple[FitBound, ...]:
    """Of every run of boosting that the ensemble has terms of, cut as it is there."""
    found = runs(history.rounds)
    shrinkages: list[float | None] = [shrinkage] * len(found)
    if cross_fit is not None:
        shrinkages = [cross_fit.standings[i].shrinkage for i in cross_fit.runs]
        if len(shrinkages) != len(found):  # a run without rounds: it is not known whose they are
            shrinkages = [None] * len(found)
    # A run may have been cut, or have served for its left-out scores only.
    numbers = iter(history.terms)
    kept = [[record for record in run if next(numbers, CUT) != CUT] for run in found]
    return tuple(fit_bound(run, own) for run, own in zip(kept, shrinkages, strict=True) if run)


def fit_bound(history: Sequence[Round], shrinkage: float | None) -> FitBound:
    """Of one run of boosting, from its records."""
    first, last = history[0], history[-1]
    by_edges, within = None, None
    if shrinkage is not None and first.loss_ratio > 0:
        bounds = loss_ratio_bound([record.edge for record in history], shrinkage, CAP).tolist()
        by_edges = _exp(first.log_loss) / first.loss_ratio * math.prod(bounds)
        within = sum(
            record.loss_ratio <= bound * (1 + SLACK)
            for record, bound in zip(history, bounds, strict=True)
        )
    return FitBound(
        len(history),
        last.error,
        last.cost,
        _exp(last.log_loss),
        by_edges,
        within,
        max(record.loss_ratio for record in history),
        min(record.edge for record in history),
    )


def _exp(log: float) -> float:
    """e^log, or infinity."""
    return math.exp(log) if log < 709 else math.inf


def runs(history: Sequence[Round]) -> list[list[Round]]:
    """The records of each run of boosting, where several were recorded one after the other."""
    found: list[list[Round]] = []
    for record in history:
        last = found[-1][-1] if found else None
        if last is None or record.part != last.part or record.index <= last.index:
            found.append([])
        found[-1].append(record)
    return found


def proven_rate(n_classes: int, n_samples: int) -> SimilarityRate:
    """For similarities to so many distinct samples."""
    return SimilarityRate(
        similarity_rate(n_classes, n_samples), similarity_rounds(n_classes, n_samples)
    )


def span(values: Sequence[float]) -> str:
    """From the least to the largest."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"
