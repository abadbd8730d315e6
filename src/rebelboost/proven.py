"""An estimator's half that states what is proven of its training."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rebelboost.callbacks import History
from rebelboost.costs import is_uniform
from rebelboost.deciding import Decides
from rebelboost.learners import Comparison
from rebelboost.problem import Problem, n_distinct
from rebelboost.theory import zero_cost_level

if TYPE_CHECKING:
    from rebelboost.guarantee import FitBound, Guarantee

SOON_SCORED = 20_000_000
"""Samples × terms that take a tenth of a second or so."""


class Proven(Decides):
    """Part of `RebelClassifier`: its guarantee."""

    history_: History
    training_facts_: dict[str, Any]
    loss: str
    shrinkage: Any
    subsample: float
    weight_trimming: float | None

    if TYPE_CHECKING:

        def _learner(self) -> Any: ...

    @property
    def guarantee_(self) -> "Guarantee":
        """What is proven of the training, beside what it achieved; see `rebelboost.theory`."""
        from rebelboost.guarantee import Guarantee

        check_is_fitted(self)
        facts = getattr(self, "training_facts_", None)
        return self._from_history() if facts is None else Guarantee.from_dict(facts)

    def _prove(self, problem: Problem) -> "Guarantee":
        """All that there is to say, while the training samples are at hand."""
        from rebelboost.guarantee import proven_rate

        trained = self.decoder_.costs
        neutral = is_uniform(trained) and not is_uniform(self.costs_)
        by_sample = problem.by_sample and not neutral
        level = zero_cost_level(
            problem.costs if by_sample else trained,
            problem.weight,
            None if by_sample else problem.labels,
        )
        found = self._from_history()
        at_argmax, as_decided = self._both_costs(problem)
        n_points = n_distinct(problem) if self._compares() else 0
        return replace(
            found,
            of_errors=found.of_errors and not by_sample,
            zero_level=level if np.isfinite(level) else None,
            cost_at_argmax=at_argmax,
            cost_as_decided=as_decided,
            similarity=proven_rate(found.n_classes, n_points) if n_points >= 4 else None,
        )

    def _from_history(self) -> "Guarantee":
        """What the records of the rounds say by themselves."""
        from rebelboost.guarantee import Guarantee

        trained, cross = self.decoder_.costs, self.cross_fit_
        return Guarantee(
            self._fit_bounds(),
            len(self.classes_),
            of_errors=is_uniform(trained) and bool((trained.max(axis=1) == 1).all()),
            applies=self.loss == "exponential" and self.subcosts_ == "thesis",
            unavoidable_cost=self.ensemble_.unavoidable_cost,
            costs_differ=not is_uniform(self.costs_),
            left_out_cost=None if cross is None else cross.cost,
        )

    def _compares(self) -> bool:
        """Whether the rate of similarities is proven: without shrinkage, on all samples."""
        compares = all(isinstance(t.hypothesis, Comparison) for t in self.ensemble_.terms)
        whole = self._shrinkage() == 1 and self.subsample == 1 and self.weight_trimming is None
        return compares and whole and self.subcosts_ == "thesis" and len(self.ensemble_) > 0

    def _shrinkage(self) -> float:
        return float(self._learner().shrinkage if self.shrinkage == "auto" else self.shrinkage)

    def _fit_bounds(self) -> "tuple[FitBound, ...]":
        """Of every run of boosting that the ensemble has a part of, cut as it is."""
        from rebelboost.guarantee import fit_bound, runs

        cross = self.cross_fit_
        if cross is None:
            found = [self.history_.rounds[: len(self.ensemble_)]]
        else:
            found = runs(self.history_.rounds)
            n_parts = max(1, len(found) // len(cross.rounds))
            cuts = [
                rounds if share > 0 else 0
                for rounds, share in zip(cross.rounds, cross.shares, strict=True)
                for _ in range(n_parts)
            ]
            found = [run[:cut] for run, cut in zip(found, cuts, strict=False)]
        return tuple(fit_bound(run, self._shrinkage()) for run in found if run)

    def _both_costs(self, problem: Problem) -> tuple[float | None, float | None]:
        """Mean training cost at argmax and as decided, where those differ and are soon known."""
        same = self.decision == "argmax" or is_uniform(self.costs_) or not self._decodes()
        if same or len(problem.labels) * len(self.ensemble_) > SOON_SCORED:
            return None, None
        scores = self.ensemble_.scores(problem.X, self._n_threads())
        judge = problem.judge()
        decided = np.argmax(scores, axis=1).astype(np.int32), self._decide(scores)
        return judge.judge(decided[0])[1], judge.judge(decided[1])[1]
