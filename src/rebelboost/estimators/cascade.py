"""Soft cascades of a classifier: the same decisions from fewer terms."""

import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.cached import cached_property
from rebelboost.base.text import percent
from rebelboost.cascade.calibration import Partial, calibrate
from rebelboost.cascade.checks import final_decisions
from rebelboost.cascade.plan import CascadePlan
from rebelboost.cascade.running import Left, exit_posterior, run_cascade
from rebelboost.cascade.staged_terms import StagedTerms, spaced_stages
from rebelboost.cascade.thresholds import check_agreement_share
from rebelboost.costs.decision import with_abstentions
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import threads_of
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.average import CrossFit

MOST_CALIBRATED = 20_000
"""Maximum number of calibration samples; of more, some are taken at even distances."""
LEFT_OUT, GIVEN = "held-out training samples", "calibration samples"
"""Origins of the samples that a cascade is calibrated on."""


class EarlyDecisions(NamedTuple):
    """Results of a cascade for some samples."""

    labels: NDArray[Any]
    """(N,) decisions; `reject_label` where the classifier abstains."""
    probabilities: Floats
    """(N, K)"""
    codes: Labels
    """(N,) codes of the decided classes; the number of classes stands for abstaining."""
    terms_used: Ints
    """(N,) number of terms that were added."""


class Cascade:
    """The decisions of a classifier from fewer terms; created by `RebelClassifier.cascade`.

    Terms are added in stages. After each stage, a sample whose decision is unlikely to change leaves.
    Samples that never leave get the decision of the full model.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Class labels, sorted.
    agreement : float
        Share of decisions that must be those of the full model.
    """

    def __init__(self, classifier: Any, plan: CascadePlan) -> None:
        self._classifier = copy.copy(classifier)  # it keeps its costs and its rule
        self.plan_ = plan

    @property
    def agreement(self) -> float:
        """Share of decisions that must be those of the full model."""
        return self.plan_.agreement

    @property
    def model_(self) -> FittedClassifier:
        """The full model."""
        model: FittedClassifier = self._classifier.model_
        return model

    @property
    def classes_(self) -> NDArray[Any]:
        """(K,) class labels, sorted."""
        return self.model_.classes

    @property
    def n_terms(self) -> Ints:
        """(B + 1,) number of terms added up to each check; the last: all terms."""
        return self._staged.n_terms

    @cached_property
    def _staged(self) -> StagedTerms:
        return StagedTerms(self.model_.ensemble, self.plan_.stage_of_term)

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Predict a class for each sample, or `reject_label` where the model abstains.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Samples.
        costs : array-like or DataFrame, default=None
            Costs of the samples themselves, as in `RebelClassifier.predict`. Only for a cascade that was
            calibrated with such costs.
        """
        return self._labels(self._run(X, costs))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, (N, K).

        The temperature of each check was fitted to the probabilities that the full model gives to the
        calibration samples that leave there.
        """
        return exit_posterior(self.model_, self.plan_, self._run(X))

    def terms_used(self, X: Any, costs: Any = None) -> Ints:
        """Number of terms that each sample needs, (N,); `costs` as in `predict`."""
        used: Ints = self.n_terms[self._run(X, costs).stage]
        return used

    def against_full(self, X: Any, costs: Any = None) -> tuple[Ints, NDArray[np.bool_]]:
        """Terms used, (N,), and whether the decision differs from the full model's, (N,)."""
        model, n_threads = self.model_, threads_of(self._classifier.n_jobs)
        left, values = self._run(X, costs), encode_table(self._classifier, X)
        own = model.costs_of(values, costs, n_threads)
        full = final_decisions(model, model.scores(values, n_threads), own)
        return self.n_terms[left.stage], left.decided != full

    def decide(self, X: Any, costs: Any = None) -> EarlyDecisions:
        """Decisions, probabilities and numbers of terms, computed together; `costs` as in `predict`."""
        left, model = self._run(X, costs), self.model_
        posterior = exit_posterior(model, self.plan_, left)
        used = self.n_terms[left.stage]
        return EarlyDecisions(self._labels(left), posterior, left.decided, used)

    def _run(self, X: Any, costs: Any = None) -> Left:
        model, n_threads = self.model_, threads_of(self._classifier.n_jobs)
        values = encode_table(self._classifier, X)
        own = model.costs_of(values, costs, n_threads)
        by_sample = self.plan_.by_sample
        if (own.ndim == 3) != by_sample:
            raise ValueError(
                f"the cascade was calibrated with costs by {'sample' if by_sample else 'class'}: call "
                "cascade(X, costs=...) with costs of the kind that decisions will have"
            )
        return run_cascade(model, self._staged, self.plan_, values, own, n_threads)

    def _labels(self, left: Left) -> NDArray[Any]:
        model = self.model_
        abstained = left.decided == len(model.classes)
        decided: NDArray[Any] = model.classes[np.where(abstained, 0, left.decided)]
        if model.rule.reject_cost is None:
            return decided
        return with_abstentions(decided, abstained, model.rule.reject_label)

    @property
    def mean_terms(self) -> float:
        """Mean number of terms that the calibration samples needed."""
        plan = self.plan_
        return float(self.n_terms @ plan.left / plan.n_calibrated)

    def __str__(self) -> str:
        plan, n_terms = self.plan_, int(self.n_terms[-1])
        share, low, high = plan.disagreement
        return (
            f"{self.mean_terms:,.0f} of {n_terms:,} terms on average ({n_terms / self.mean_terms:.1f} times "
            f"fewer), by {plan.n_calibrated:,} {plan.source}; other decisions than the full model's: "
            f"{percent(share)} (95 % interval {percent(low)} to {percent(high)}, by 5-fold cross-validation)"
        )

    def __repr__(self) -> str:
        return f"Cascade(agreement={self.agreement:g}, {self.mean_terms:.0f} of {self.n_terms[-1]} terms)"


class CascadeMixin:
    """Gives a classifier its cascades."""

    plan_: CascadePlan | None = None
    """Order of the terms and thresholds of `cascade_`."""
    cross_fit_: CrossFit | None

    def cascade(self, X: Any = None, *, agreement: float = 0.995, costs: Any = None) -> Cascade:
        """Choose thresholds by which most samples are decided after a few terms [THESIS 2.2].

        The result is also kept as `cascade_`, and saved with the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d), default=None
            Calibration samples, at least 100, which were not used in training. Their classes need not be
            known. By default the held-out samples of the cross-fit.
        agreement : float, default=0.995
            Share of the decisions that must be those of the full model, in (0, 1].
        costs : array-like or DataFrame, default=None
            Costs of the calibration samples themselves, as in `RebelClassifier.predict`.

        Returns
        -------
        Cascade
            An object with `predict`, `predict_proba` and `terms_used`.
        """
        check_agreement_share(agreement)
        model: FittedClassifier = self.model_  # type: ignore[attr-defined]
        if len(model.ensemble) < 2:
            raise ValueError(
                f"a cascade needs a model of two terms or more, but this one has {len(model.ensemble)}: decide "
                "with the model itself, or train with learner='tree'"
            )
        if X is None:
            stage_of_term, given = self._held_out(model, costs)
            staged = StagedTerms(model.ensemble, stage_of_term)
        else:
            staged = StagedTerms(model.ensemble, spaced_stages(model.ensemble))
            given = self._partial(model, staged, X, costs)
        self.plan_ = calibrate(model, staged.stage_of_term, given, agreement)
        return Cascade(self, self.plan_)

    @property
    def cascade_(self) -> Cascade | None:
        """The cascade that `cascade` returned last, or that was loaded with the model; else None."""
        return None if self.plan_ is None else Cascade(self, self.plan_)

    def _held_out(self, model: FittedClassifier, costs: Any) -> tuple[Ints, Partial]:
        staged = None if self.cross_fit_ is None else self.cross_fit_.staged
        if staged is None:
            raise ValueError(
                "the model has no held-out scores that a cascade could be calibrated on, because it was "
                "not cross-fitted or comes from an older file: give X, samples that were not used in "
                "training"
            )
        if costs is not None or (model.by_sample and staged.costs is None):
            raise ValueError(
                "costs of held-out training samples are not known here: give X, samples that were not "
                "used in training, with their costs"
            )
        own = model.costs
        if model.by_sample and staged.costs is not None:
            own = staged.costs.astype(np.float64)
        return staged.stage_of_term, Partial(staged.scores, own, LEFT_OUT)

    def _partial(self, model: FittedClassifier, staged: StagedTerms, X: Any, costs: Any) -> Partial:
        n_threads = threads_of(self.n_jobs)  # type: ignore[attr-defined]
        values = encode_table(self, X)
        own = model.costs_of(values, costs, n_threads)
        if len(values) > MOST_CALIBRATED:
            some = np.linspace(0, len(values) - 1, MOST_CALIBRATED).astype(np.int64)
            values, own = values[some], own if own.ndim == 2 else own[some]
        scores = np.stack([each.copy() for each in staged.staged(values, n_threads)])
        scores[-1] = model.scores(values, n_threads)
        return Partial(scores, own, GIVEN)

    def checked_plan(self, model: FittedClassifier) -> FittedClassifier:
        """Return the model; forget the cascade if it was calibrated for other terms or costs."""
        before = self.__dict__.get("_model")
        if before is not None and not _decides_alike(before, model):
            self.plan_ = None
            if before.ensemble is model.ensemble:  # other costs
                self.cross_fit_ = _without_staged_costs(self.cross_fit_)
        return model


def _decides_alike(before: FittedClassifier, model: FittedClassifier) -> bool:
    """Whether a plan for one model is valid for the other."""
    parts = ("ensemble", "decoder", "costs", "columns", "learned")
    return all(getattr(before, name) is getattr(model, name) for name in parts)


def _without_staged_costs(found: CrossFit | None) -> CrossFit | None:
    """The same cross-fit for other costs: those of the held-out samples are no longer known."""
    if found is None or found.staged is None:
        return found
    return replace(found, staged=found.staged._replace(costs=None))
