"""An estimator's half that states what is proven of its training."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rebelboost.boosting.rounds import CUT, History
from rebelboost.costs.judge import Judge
from rebelboost.costs.matrix import is_uniform
from rebelboost.data.folds import n_distinct
from rebelboost.data.samples import Samples
from rebelboost.estimators.deciding import Decides
from rebelboost.model.comparisons import Comparisons
from rebelboost.theory.bounds import zero_cost_level

if TYPE_CHECKING:
    from rebelboost.theory.guarantee import FitBound, Guarantee

SOON_SCORED = 20_000_000
"""Samples × terms that take a tenth of a second or so."""


class Proven(Decides):
    """Part of `RebelClassifier`: its guarantee."""

    history_: History
    training_facts_: dict[str, float]
    loss: str
    shrinkage: Any
    subsample: float
    weight_trimming: float | None

    if TYPE_CHECKING:

        def _learner(self) -> Any: ...

    @property
    def guarantee_(self) -> "Guarantee":
        """What is proven of the training, beside what it achieved; see `rebelboost.theory.bounds`."""
        from rebelboost.theory.guarantee import Guarantee, proven_rate

        check_is_fitted(self)
        trained, cross, facts = self.decoder_.costs, self.cross_fit_, self.training_facts_
        n_points = int(min(facts.get("n_points", 0.0), 2.0**31))  # a file may say anything
        uniform = is_uniform(trained) and bool((trained.max(axis=1) == 1).all())
        return Guarantee(
            self._fit_bounds(),
            len(self.classes_),
            of_errors=uniform and "by_sample" not in facts,
            applies=self.loss == "exponential" and self.subcosts_ == "thesis",
            zero_level=facts.get("zero_level"),
            unavoidable_cost=self.ensemble_.unavoidable_cost,
            costs_differ=not is_uniform(self.costs_),
            cost_at_argmax=facts.get("cost_at_argmax"),
            cost_as_decided=facts.get("cost_as_decided"),
            left_out_cost=None if cross is None else cross.cost,
            similarity=proven_rate(len(self.classes_), n_points) if n_points >= 4 else None,
        )

    def _facts(self, problem: Samples) -> dict[str, float]:
        """What guarantees need of the training samples and the history does not tell: `guarantee.FACTS`."""
        trained = self.decoder_.costs
        neutral = is_uniform(trained) and not is_uniform(self.costs_)
        by_sample = problem.by_sample and not neutral
        labels = None if by_sample else problem.labels
        level = zero_cost_level(problem.costs if by_sample else trained, problem.weight, labels)
        facts = {"by_sample": 1.0} if by_sample else {}
        if np.isfinite(level):
            facts["zero_level"] = level
        if self._compares():
            facts["n_points"] = float(n_distinct(problem))
        return facts | self._both_costs(problem)

    def _compares(self) -> bool:
        """Whether the rate of similarities is proven: without shrinkage, on all samples."""
        compares = self.ensemble_.only(Comparisons)
        whole = self._shrinkage() == 1 and self.subsample == 1 and self.weight_trimming is None
        return compares and whole and self.subcosts_ == "thesis"

    def _shrinkage(self) -> float:
        return float(self._learner().shrinkage if self.shrinkage == "auto" else self.shrinkage)

    def _fit_bounds(self) -> "tuple[FitBound, ...]":
        """Of every run of boosting that the ensemble has terms of, cut as it is there."""
        from rebelboost.theory.guarantee import fit_bound, runs

        found = runs(self.history_.rounds)
        cross = self.cross_fit_
        shrinkages: list[float | None] = [self._shrinkage()] * len(found)
        if cross is not None:
            shrinkages = [cross.standings[i].shrinkage for i in cross.runs]
            if len(shrinkages) != len(
                found
            ):  # a run without rounds: it is not known whose they are
                shrinkages = [None] * len(found)
        # A run may have been cut, or have served for its left-out scores only.
        numbers = iter(self.history_.terms)
        kept = [[record for record in run if next(numbers, CUT) != CUT] for run in found]
        return tuple(
            fit_bound(run, shrinkage)
            for run, shrinkage in zip(kept, shrinkages, strict=True)
            if run
        )

    def _both_costs(self, problem: Samples) -> dict[str, float]:
        """Mean training cost at argmax and as decided, where those differ and are soon known."""
        same = self.decision == "argmax" or is_uniform(self.costs_) or not self._decodes()
        if same or len(problem.labels) * len(self.ensemble_) > SOON_SCORED:
            return {}
        scores = self.ensemble_.scores(problem.X, self._n_threads())
        judge = Judge.of(problem)
        return {
            "cost_at_argmax": judge.judge(np.argmax(scores, axis=1).astype(np.int32))[1],
            "cost_as_decided": judge.judge(self._decide(scores))[1],
        }
