"""The guarantee of a fitted classifier: proven bounds on its training, beside the achieved values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from rebelboost.base.findings import ON_PAGE, Described, Document, Heading, Only, Sentence
from rebelboost.base.text import number
from rebelboost.boosting.rounds import CUT, History, Round
from rebelboost.costs.matrix import is_uniform
from rebelboost.losses.exponential import CAP
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.result import CrossFit
from rebelboost.theory.bounds import (
    loss_ratio_bound,
    rebel_similarity_rate,
    rounds_at_rate,
    similarity_rate,
    similarity_rounds,
)
from rebelboost.theory.monotone import promises

SLACK = 1e-6
"""Relative tolerance for rounding errors when a round is compared with its bound."""


class FitBound(NamedTuple):
    """One fit, evaluated on its own training samples with the highest score (argmax)."""

    rounds: int
    """Number of rounds."""
    error: float
    """Share of mistakes."""
    cost: float
    """Mean cost."""
    bound: float
    """The loss above its minimum: with `Guarantee.floor` added, an upper bound of the cost."""
    bound_by_edges: float | None
    """Bound of the loss that follows from the edges alone: the initial loss times Π (1 − ν + ν√(1 − ρ_t²)). For
    AdaBoost, this is Theorem 3.1. None if the shrinkage ν is unknown, or for other losses.
    """
    rounds_within: int | None
    """Number of rounds that reduced the loss at least as much as their edge guarantees."""
    slowest: float
    """The largest ratio of the loss after a round to the loss before it."""
    smallest_rho: float
    """The smallest ρ of all rounds."""


class SimilarityRate(NamedTuple):
    """Proven rate of similarities [LOCAL, Sec. 5; REBEL S.6.1]."""

    proven: float
    """Largest share of the loss left after a round: 1 − 2/(K·N²), or with REBEL's subcosts
    √(1 − φ²), which is proven until zero cost is certified; see `theory.bounds`.
    """
    rounds: int | None
    """Number of rounds after which zero training cost is proven; None if some cost is unavoidable."""


@dataclass(frozen=True, repr=False)
class Guarantee(Described):
    """Proven bounds on training, and the achieved values. Print it to read it."""

    fits: tuple[FitBound, ...]
    """One fit, or one for each fit of a cross-fit."""
    n_classes: int
    """Number of classes."""
    of_errors: bool
    """Whether training treated all mistakes as costing 1: bounds then concern the share of mistakes."""
    applies: bool
    """Whether the loss bounds the cost: with the exponential loss, or with REBEL's subcosts."""
    floor: float = 0.0
    """The bound of the cost where the loss has its minimum: L*, positive only with REBEL's subcosts."""
    zero_level: float | None = None
    """Zero training cost is proven if the loss above its minimum is below this level."""
    unavoidable_cost: float = 0.0
    """Mean cost due to samples that coincide but have different classes."""
    costs_differ: bool = False
    """Whether mistakes have unequal costs, so that the decision can differ from argmax."""
    cost_at_argmax: float | None = None
    """Mean training cost of the model, with the current costs, at argmax."""
    cost_as_decided: float | None = None
    """Mean training cost of its decisions by expected cost; None if not computed."""
    left_out_cost: float | None = None
    """For a cross-fit: mean cost on held-out samples."""
    similarity: SimilarityRate | None = None
    """Proven rate, if all terms are similarities."""
    monotone: tuple[str, ...] = ()
    """What is proven of features with which scores rise or fall, in words; it holds for all values."""

    @property
    def certified(self) -> bool:
        """Whether the loss alone proves zero training cost (at argmax) for every fit."""
        level = self.zero_level
        return (
            self.applies
            and level is not None
            and self.unavoidable_cost == 0
            and all(fit.bound < level for fit in self.fits)
        )

    @property
    def bound(self) -> float:
        """Upper bound of the training cost at argmax (or share of mistakes); the largest over all fits."""
        if not self.applies:
            return math.inf
        return self._cost(max((fit.bound for fit in self.fits), default=math.inf))

    def _cost(self, above: float) -> float:
        """Bound of the cost, given the loss above its minimum."""
        return self.floor + above + self.unavoidable_cost

    @property
    def achieved(self) -> float:
        """Training cost at argmax (or share of mistakes); the largest over all fits."""
        return max(map(self._achieved_by, self.fits), default=0.0)

    def _achieved_by(self, fit: FitBound) -> float:
        return fit.error if self.of_errors else fit.cost

    @property
    def randomised_bound(self) -> float | None:
        """Upper bound of the error of randomised decisions [ADA, Ex. 3-3]: half the bound, for two classes."""
        return self.bound / 2 if self.applies and self.n_classes == 2 and self.of_errors else None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict that can be written as JSON."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        named["fits"] = [fit._asdict() for fit in self.fits]
        named["similarity"] = None if self.similarity is None else self.similarity._asdict()
        return named

    def document(self) -> Document:
        """The guarantee as a document, which `rebelboost.base.findings` renders."""
        return [Only(ON_PAGE, [Heading("What is proven?")]), *self.sentences()]

    def sentences(self) -> list[Sentence]:
        """The guarantee in words."""
        return [*map(Sentence, self.monotone), *self._of_training()]

    def _of_training(self) -> list[Sentence]:
        if not self.fits:
            unknown = "the model has no boosting rounds, or their history is not available."
            return [Sentence(f"No guarantee: {unknown}")]
        blocks = self._of_several() if len(self.fits) > 1 else self._of_one(self.fits[0])
        if self.similarity is not None:
            slowest = max(fit.slowest for fit in self.fits)
            rate = (
                f"For similarities, each round provably leaves at most {self.similarity.proven:.9g} of the "
                f"loss{' above its minimum' if self.floor else ''}{self._no_mistake_after()}. The slowest "
                f"round left {slowest:.6g}."
            )
            blocks.append(Sentence(rate))
        concern = "The bounds concern" if self.monotone else "All of this concerns"
        return [
            *blocks,
            Sentence(f"{concern} the training samples. Use a test set for new samples."),
        ]

    def __repr__(self) -> str:
        proven = "zero training cost is proven" if self.certified else "zero cost is not proven"
        return f"Guarantee({len(self.fits)} fit(s), {proven}; print() shows all bounds)"

    def _no_mistake_after(self) -> str:
        rounds = None if self.similarity is None else self.similarity.rounds
        return "" if rounds is None else f", and no mistake is left after {rounds:,} rounds"

    @property
    def _what(self) -> str:
        return "share of mistakes" if self.of_errors else "mean cost"

    def _of_one(self, fit: FitBound) -> list[Sentence]:
        opening = f"Training, {fit.rounds} rounds, decisions by the highest score (argmax):"
        points = self._bounds_of_one(fit) if self.applies else [self._no_bound()]
        if self.unavoidable_cost > 0:
            points.append(
                f"{number(self.unavoidable_cost)} of it is unavoidable: some samples coincide but have "
                "different classes."
            )
        points += self._both_decisions()
        return [Sentence(opening), *map(_point, points), *self._left_out()]

    def _no_bound(self) -> str:
        known = "No bound is known for this loss with these subcosts and samples."
        return f"{self._what}: {number(self.achieved)}. {known}"

    def _bounds_of_one(self, fit: FitBound) -> list[str]:
        achieved = f"achieved: {number(self.achieved)}"
        points = [f"{self._what}: at most {number(self.bound)} (bounded by the loss); {achieved}."]
        if fit.bound_by_edges is not None and fit.rounds_within == fit.rounds:
            points.append(
                f"Every round reduced the loss at least as much as its edge guarantees. The edges "
                f"alone (smallest: {self._edge(fit)}) prove at most "
                f"{number(self._cost(fit.bound_by_edges))}"
                f"{' [Theorem 3.1 of AdaBoost]' if self._is_adaboost(fit) else ''}."
            )
        elif fit.rounds_within is not None:
            points.append(
                f"{fit.rounds_within} of {fit.rounds} rounds reduced the loss as much as their edge "
                "guarantees; in the others, smoothing shrank the outputs."
            )
        return [*points, *self._certificate()]

    def _edge(self, fit: FitBound) -> str:
        """The smallest edge: γ = ½ − ε in AdaBoost's theorem, else the ratio ρ, which is 2γ for two classes."""
        if self._is_adaboost(fit):
            return f"γ = {fit.smallest_rho / 2:.3g}"
        return f"ρ = {fit.smallest_rho:.3g}"

    def _both_decisions(self) -> list[str]:
        if self.cost_as_decided is None or self.cost_at_argmax is None:
            return []
        said = (
            f"Mean training cost of the model: {number(self.cost_at_argmax)} with argmax, "
            f"{number(self.cost_as_decided)} with its decision rule (lowest expected cost). "
            "The bounds do not apply to the latter."
        )
        return [said]

    def _is_adaboost(self, fit: FitBound) -> bool:
        """Whether this is AdaBoost: two classes, equal costs, and edges that fully account for the loss."""
        edges = fit.bound_by_edges
        all_said = edges is not None and edges <= fit.bound * (1 + 1e-3)
        return self.n_classes == 2 and self.of_errors and all_said

    def _certificate(self) -> list[str]:
        if not self.certified or self.zero_level is None:
            return []
        loss = "The loss" if self.floor == 0 else "The loss above its minimum"
        proven = (
            f"{loss} is below {number(self.zero_level)}, the least that any mistake would add. "
            f"This proves that the {self._what} is zero."
        )
        return [proven]

    def _of_several(self) -> list[Sentence]:
        opening = (
            f"The model is a weighted average of {len(self.fits)} fits. The following holds for each fit "
            "separately, on its own training samples, with decisions by the highest score (argmax):"
        )
        achieved = f"achieved: {span([self._achieved_by(fit) for fit in self.fits])}"
        points = [f"{self._what}, {achieved}; no bound applies to this loss."]
        if self.applies:
            bounds = span([self._cost(fit.bound) for fit in self.fits])
            points = [f"{self._what}: at most {bounds}; {achieved}.", *self._certificate()]
        return [
            Sentence(opening),
            *map(_point, points),
            Sentence("Nothing is proven about their average."),
            *map(_point, self._both_decisions()),
            *self._left_out(),
        ]

    def _left_out(self) -> list[Sentence]:
        if self.left_out_cost is None:
            return []
        what = "mean cost" if self.costs_differ or not self.of_errors else "share of mistakes"
        return [Sentence(f"Measured on held-out samples: {what} {number(self.left_out_cost)}.")]


def _point(text: str) -> Sentence:
    return Sentence(text, "inset")


def guarantee_of(
    model: FittedClassifier, history: History, cross_fit: CrossFit | None, shrinkage: float
) -> Guarantee:
    """Guarantee of a fitted classifier, from all its rounds.

    `shrinkage` is that of a single fit; a cross-fit knows the shrinkage of each of its fits.
    """
    trained, facts = model.decoder.costs, model.provenance.facts
    n_classes = len(model.classes)
    n_points = int(min(facts.get("n_points", 0.0), 2.0**31))  # a file may contain any number
    uniform = is_uniform(trained) and bool((trained.max(axis=1) == 1).all())
    closed = model.decoder.kind.thesis_bounds_cost
    return Guarantee(
        _fit_bounds(history, cross_fit, shrinkage if closed else None),
        n_classes,
        of_errors=uniform and "by_sample" not in facts,
        applies="floor" in facts or (closed and model.subcosts == "thesis"),
        floor=facts.get("floor", 0.0),
        zero_level=facts.get("zero_level"),
        unavoidable_cost=model.ensemble.unavoidable_cost,
        costs_differ=not is_uniform(model.costs),
        cost_at_argmax=facts.get("cost_at_argmax"),
        cost_as_decided=facts.get("cost_as_decided"),
        left_out_cost=None if cross_fit is None else cross_fit.cost,
        similarity=_similarity_rate(model, history, n_points) if n_points >= 4 else None,
        monotone=tuple(promises(model)),
    )


def _fit_bounds(
    history: History, cross_fit: CrossFit | None, shrinkage: float | None
) -> tuple[FitBound, ...]:
    """Bounds of every fit with terms in the ensemble, truncated as they are there."""
    found = runs(history.rounds)
    shrinkages: list[float | None] = [shrinkage] * len(found)
    if cross_fit is not None and shrinkage is not None:
        shrinkages = [cross_fit.standings[i].shrinkage for i in cross_fit.runs]
        if len(shrinkages) != len(
            found
        ):  # a fit without rounds: fits and records cannot be matched
            shrinkages = [None] * len(found)
    # Terms may have been dropped: all of a fit's, or those after its best round.
    numbers = iter(history.terms)
    kept = [[record for record in run if next(numbers, CUT) != CUT] for run in found]
    return tuple(fit_bound(run, own) for run, own in zip(kept, shrinkages, strict=True) if run)


def fit_bound(history: Sequence[Round], shrinkage: float | None) -> FitBound:
    """Bounds of one fit, from its records."""
    first, last = history[0], history[-1]
    by_edges, within = None, None
    if shrinkage is not None and first.loss_ratio > 0:
        bounds = loss_ratio_bound([record.rho for record in history], shrinkage, CAP).tolist()
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
        min(record.rho for record in history),
    )


def _exp(log: float) -> float:
    """e^log, or infinity."""
    return math.exp(log) if log < 709 else math.inf


def runs(history: Sequence[Round]) -> list[list[Round]]:
    """Split records that were made one after the other into those of each fit."""
    found: list[list[Round]] = []
    for record in history:
        last = found[-1][-1] if found else None
        if last is None or record.part != last.part or record.index <= last.index:
            found.append([])
        found[-1].append(record)
    return found


def _certifying_share(history: History, zero_level: float | None) -> float | None:
    """The share of the first loss below which zero training cost is proven, if it is known."""
    first = next(iter(history), None)
    if zero_level is None or first is None or not first.loss_ratio > 0:
        return None
    log_share = math.log(zero_level) - (first.log_loss - math.log(first.loss_ratio))
    return math.exp(min(log_share, 0.0)) if log_share > -700 else None


def _similarity_rate(
    model: FittedClassifier, history: History, n_points: int
) -> SimilarityRate | None:
    """Proven rate for similarities, given the number of distinct samples; None if none is known."""
    facts, n_classes = model.provenance.facts, len(model.classes)
    zero_level = None if model.ensemble.unavoidable_cost > 0 else facts.get("zero_level")
    share = _certifying_share(history, zero_level)
    if model.subcosts == "thesis":
        rounds = None if share is None else similarity_rounds(n_classes, n_points, share)
        return SimilarityRate(similarity_rate(n_classes, n_points), rounds)
    if zero_level is None or share is None or "least_loss" not in facts:
        return None
    rate = rebel_similarity_rate(n_points, zero_level, facts["least_loss"])
    return SimilarityRate(rate, rounds_at_rate(math.log(rate), share)) if rate < 1 else None


def span(values: Sequence[float]) -> str:
    """The range of values as text: the smallest to the largest."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"
