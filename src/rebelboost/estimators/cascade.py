"""Soft cascades of a classifier: the same decisions from fewer terms."""

import copy
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Ints, Labels
from rebelboost.base.cached import cached_property
from rebelboost.base.text import percent
from rebelboost.cascade.calibration import Partial, calibrate, plan_by_hand
from rebelboost.cascade.checks import final_decisions
from rebelboost.cascade.plan import BY_HAND, GIVEN, LABELLED, LEFT_OUT, CascadePlan
from rebelboost.cascade.running import Left, exit_posterior, run_cascade
from rebelboost.cascade.staged_terms import StagedTerms, spaced_stages
from rebelboost.cascade.thresholds import check_agreement_share
from rebelboost.costs.decision import with_abstentions
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.validation import threads_of
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.result import CrossFit

MOST_CALIBRATED = 20_000
"""Maximum number of calibration samples; of more, some are taken at even distances."""
MOST_SCORES = 25_000_000
"""Maximum number of their partial scores, if there are many checks; but 1,000 samples may always be used."""
OTHER_DECISIONS = "other decisions than the full model's"
MOST_CHECKS = 256
"""Maximum number of stages in a file."""


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
        return (
            float(self.n_terms @ plan.left / plan.n_calibrated) if plan.n_calibrated else math.nan
        )

    def __str__(self) -> str:
        plan, n_terms = self.plan_, int(self.n_terms[-1])
        share, low, high = plan.disagreement
        if plan.source == BY_HAND:
            return f"{len(plan.low)} checks of {n_terms:,} terms, by {BY_HAND}"
        wrong = "leaving with a wrong class" if plan.source == LABELLED else OTHER_DECISIONS
        return (
            f"{self.mean_terms:,.0f} of {n_terms:,} terms on average ({n_terms / self.mean_terms:.1f} times "
            f"fewer), by {plan.n_calibrated:,} {plan.source}; {wrong}: "
            f"{percent(share)} (95 % interval {percent(low)} to {percent(high)}, by 5-fold cross-validation)"
        )

    def __repr__(self) -> str:
        if self.plan_.source == BY_HAND:
            return f"Cascade({self})"
        target = "correct" if self.plan_.source == LABELLED else "agreement"
        return f"Cascade({target}={self.agreement:g}, {self.mean_terms:.0f} of {self.n_terms[-1]} terms)"


class CascadeMixin:
    """Gives a classifier its cascades."""

    plan_: CascadePlan | None = None
    """Order of the terms and thresholds of `cascade_`."""
    cross_fit_: CrossFit | None

    def cascade(  # noqa: PLR0913  (what users may choose)
        self,
        X: Any = None,
        y: Any = None,
        *,
        agreement: float = 0.995,
        correct: float = 0.95,
        after: float = 0.1,
        every: int | None = None,
        thresholds: Any = None,
        costs: Any = None,
    ) -> Cascade:
        """Choose thresholds by which most samples are decided after a few terms [THESIS 2.2].

        The result is also kept as `cascade_`, and saved with the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d), default=None
            Calibration samples, at least 100, which were not used in training. Their classes need not be
            known. By default the held-out samples of the cross-fit.
        y : array-like of shape (N,), default=None
            Classes of the calibration samples. Then `correct` and `after` are the target instead of
            `agreement`.
        agreement : float, default=0.995
            Share of the decisions that must be those of the full model, in (0, 1].
        correct : float, default=0.95
            With `y`: at most 1 − correct of the samples leave with a wrong class. The first check may
            already spend all of this.
        after : float, default=0.1
            With `y`: share of the terms that are added before the first check, from 0 to 1.
        every : int, default=None
            Number of terms between checks, at most 255 of them. By default checks are spaced
            geometrically.
        thresholds : tuple of two arrays of shape (B,), default=None
            Lower and upper threshold of each check, instead of calibration. For two classes the score is
            h = H₂ − H₁: h ≤ lower decides the first class, h ≥ upper the second. For more classes the lead
            of the best decision over the second best is compared; lower thresholds are −inf.
        costs : array-like or DataFrame, default=None
            Costs of the calibration samples themselves, as in `RebelClassifier.predict`.

        Returns
        -------
        Cascade
            An object with `predict`, `predict_proba` and `terms_used`.
        """
        check_agreement_share(agreement)
        model: FittedClassifier = self.model_  # type: ignore[attr-defined]
        n_terms = len(model.ensemble)
        if n_terms < 2:
            raise ValueError(
                f"a cascade needs a model of two terms or more, but this one has {n_terms}: decide "
                "with the model itself, or train with learner='tree'"
            )
        _check_target(y, X, correct, after)
        _check_spacing(every, n_terms)
        first = 1 if y is None else max(1, math.ceil(after * n_terms))
        if thresholds is not None:
            if X is not None:
                raise ValueError(
                    "thresholds are given, so nothing is calibrated: leave out X and y"
                )
            stage_of_term = spaced_stages(model.ensemble, every)
            self.plan_ = plan_by_hand(model, stage_of_term, thresholds)
            return Cascade(self, self.plan_)
        if X is None:
            if every is not None:
                raise ValueError(
                    "held-out samples were scored at checks of their own: give X with `every`"
                )
            stage_of_term, given = self._held_out(model, costs)
            staged = StagedTerms(model.ensemble, stage_of_term)
        else:
            staged = StagedTerms(model.ensemble, spaced_stages(model.ensemble, every, first))
            given = self._partial(model, staged, X, costs, y)
        share = agreement if y is None else correct
        self.plan_ = calibrate(model, staged.stage_of_term, given, share)
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

    def _partial(
        self, model: FittedClassifier, staged: StagedTerms, X: Any, costs: Any, y: Any = None
    ) -> Partial:
        n_threads = threads_of(self.n_jobs)  # type: ignore[attr-defined]
        values = encode_table(self, X)
        own = model.costs_of(values, costs, n_threads)
        labels = None if y is None else _codes(model, y, len(values))
        most = max(1000, min(MOST_CALIBRATED, MOST_SCORES // (staged.n_stages * own.shape[-1])))
        if len(values) > most:
            some = np.linspace(0, len(values) - 1, most).astype(np.int64)
            values, own = values[some], own if own.ndim == 2 else own[some]
            labels = None if labels is None else labels[some]
        scores = np.stack([each.copy() for each in staged.staged(values, n_threads)])
        scores[-1] = model.scores(values, n_threads)
        return Partial(scores, own, GIVEN if y is None else LABELLED, labels)

    def checked_plan(self, model: FittedClassifier) -> FittedClassifier:
        """Return the model; forget the cascade if it was calibrated for other terms or costs."""
        before = self.__dict__.get("_model")
        if before is not None and not _decides_alike(before, model):
            self.plan_ = None
            if before.ensemble is model.ensemble:  # other costs
                self.cross_fit_ = _without_staged_costs(self.cross_fit_)
        return model


def _check_target(y: Any, X: Any, correct: float, after: float) -> None:
    for name, share in (("correct", correct), ("after", after)):
        if not (isinstance(share, int | float | np.number) and 0 <= share <= 1):
            raise ValueError(f"{name} is {share!r}: give a share from 0 to 1")
    if not correct > 0:
        raise ValueError(f"correct is {correct!r}: give a share above 0, such as 0.95")
    if y is not None and X is None:
        raise ValueError("y is given without X: give the calibration samples too")


def _check_spacing(every: int | None, n_terms: int) -> None:
    if every is None:
        return
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise ValueError(f"every is {every!r}: give the number of terms between checks, 1 or more")
    if every >= n_terms or -(-n_terms // every) > MOST_CHECKS:
        least = -(-n_terms // MOST_CHECKS)
        raise ValueError(
            f"every is {every}, and the model has {n_terms} terms: give a number from {least} to "
            f"{n_terms - 1}"
        )


def _codes(model: FittedClassifier, y: Any, n_samples: int) -> Labels:
    given = np.asarray(y)
    if given.shape != (n_samples,):
        raise ValueError(f"y has shape {given.shape}: give a class for each of {n_samples} samples")
    strange = given[~np.isin(given, model.classes)]
    if len(strange):
        raise ValueError(
            f"y has the class {strange[0]}, which the model does not know: its classes are "
            f"{', '.join(map(str, model.classes[:10]))}"
        )
    return np.searchsorted(model.classes, given).astype(np.int32)


def _decides_alike(before: FittedClassifier, model: FittedClassifier) -> bool:
    """Whether a plan for one model is valid for the other."""
    parts = ("ensemble", "decoder", "costs", "columns", "learned")
    return all(getattr(before, name) is getattr(model, name) for name in parts)


def _without_staged_costs(found: CrossFit | None) -> CrossFit | None:
    """The same cross-fit for other costs: those of the held-out samples are no longer known."""
    if found is None or found.staged is None:
        return found
    return replace(found, staged=found.staged._replace(costs=None))
