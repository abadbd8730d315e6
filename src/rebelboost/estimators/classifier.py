"""scikit-learn's face of the method: validate, encode, delegate, decode. No arithmetic."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rebelboost.boosting.callbacks import Callback, Hearing, Progress
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import LOSSES, ClassObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.costs.matrix import class_costs, cost_matrix, cost_rows, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.folds import n_distinct, split
from rebelboost.data.samples import Samples
from rebelboost.estimators.explained import Explained
from rebelboost.estimators.fitting import check_callbacks, check_cross_fit, check_learner, seed_of
from rebelboost.estimators.inputs import (
    check_same_classes,
    checked_weight,
    encode_labels,
    known_labels,
    warn_of_few,
)
from rebelboost.estimators.stored import Stored
from rebelboost.learners.binary import Binary
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.losses.exponential import SUBCOSTS
from rebelboost.model.ensemble import Ensemble
from rebelboost.selection.blend import CrossFit, neutral
from rebelboost.selection.candidates import Entry, candidates
from rebelboost.selection.race import select
from rebelboost.selection.scale import settled

Learner = Stump | Tree | Similarity | Binary
LEARNERS: dict[str, Learner] = {
    "auto": Tree(),
    "tree": Tree(),
    "stump": Stump(),
    "similarity": Similarity(),
}
FEWEST_TO_CROSS_FIT = 20
"""With fewer distinct samples, parts of them say too little. Of 30 they say much: see docs/learners.md."""


class RebelClassifier(Stored, Explained, ClassifierMixin, BaseEstimator):
    """Multi-class, cost-sensitive boosting.

    Parameters
    ----------
    learner : {"auto", "tree", "stump", "similarity"}, Tree, Stump, Similarity or Binary
        The weak learner. "auto": trees and similarities run against each other on samples that
        their fits leave out, and the best are blended (`rebelboost.selection.race`); ``Tree()`` where
        there is no cross-fit. To search over it: ``{"learner": [Tree(3), Tree(6)]}``.
    n_rounds : int or "auto"
        Upper limit of rounds; "auto" is the learner's own: 400 for trees with leaf outputs, 1,000
        for stumps and trees with one output, 4,000 for similarities.
    tol : float or "auto"
        Stop when the loss is below this share of its starting value; "auto" is the learner's own:
        0 for trees, ``(2 / (K * N)) ** 2`` for similarities.
    costs : array, data frame, dict, "balanced", Taxonomy or None
        What mistakes cost: ``costs[true, decided]``, classes in sorted order; or a data frame with
        class names, or a dict of exceptions ``{(true, decided): cost}``; see `rebelboost.costs.matrix`.
        All mistakes cost 1 by default.
    loss : {"exponential", "logistic", "squared"}
        What is minimised; with two classes and uniform costs, AdaBoost, LogitBoost or L₂Boost.
    subcosts : {"auto", "thesis", "rebel"}
        How costs become weights; see `rebelboost.losses.exponential`. "auto" is "thesis", except where unequal
        costs meet another loss than the exponential: there only "rebel" bounds the cost.
    decision : {"min_risk", "argmax"}
        "min_risk": the class that is expected to cost least, by the posterior decoded from the
        scores. "argmax": the class of the highest score, as in the papers.
    training : {"auto", "costs", "neutral"}
        "costs": train on the costs. "neutral": train as if all mistakes cost the same, and use the
        costs in the decision only. "auto": "neutral" where the decision is of least risk by a
        cross-fit's posterior, which measured the cheapest (docs/costs.md), and "costs" elsewhere.
    cross_fit : int, None or "auto"
        Fit so many times, leaving out one part of the samples each time, and average; the left-out
        scores tell the number of rounds and make the probabilities honest (`rebelboost.selection.blend`).
        "auto": 5 times with learner="auto", and where mistakes cost unequal amounts, so that the
        decision needs probabilities; not with fewer than 20 different samples, early stopping, a
        validation set, a warm start, or unequal costs and decision="argmax".
    time_budget : float, optional
        Seconds after which a cross-fit begins no further part. It ends when the part at hand does,
        and the model then depends on the speed of the machine.
    reject_cost, reject_label : optional
        Abstain where every decision is expected to cost more than this; `predict` returns the label.
    shrinkage : float or "auto"
        Factor of every output; "auto" is the learner's own.
    early_stopping : bool
        Hold out a share of the samples, and stop when its loss has not fallen for
        `n_rounds_no_change` rounds. The rounds after the best one are dropped.
    validation_fraction, n_rounds_no_change
        That share, and how long to wait for a lower validation loss.
    subsample, feature_subsample : float
        Share of samples, and of features, that each round draws at random for its search.
    weight_trimming : float, optional
        Search among the heaviest samples only, which hold this share of the mass.
    warm_start : bool
        Go on from the terms of the last fit.
    callbacks : list, optional
        Objects with ``on_round(record) -> bool`` and ``on_end()``; True stops.
    verbose : int, 1 shows a progress bar.
    n_jobs : int, optional. Threads, as in joblib; the model does not depend on it.
    random_state : int, RandomState or None
        None stands for a fixed seed: two fits on the same data give the same model.

    Attributes
    ----------
    classes_ : array of shape (K,)
    costs_ : array of shape (K, K), the cost matrix in use
    ensemble_ : Ensemble, the terms
    decoder_ : Decoder
        Turns scores into probabilities: the costs of the training, and a temperature.
    cross_fit_ : CrossFit or None
        Rounds, temperature, log-loss and cost on left-out samples.
    selection_ : Selection or None
        With learner="auto": what was tried, how each did, and the shares of the blend.
    history_ : History
        A record of every round; ``history_.table()`` gives columns.
    n_features_in_, feature_names_in_
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learner": [StrOptions(set(LEARNERS)), Tree, Stump, Similarity, Binary],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "costs": "no_validation",
        "loss": [StrOptions(set(LOSSES))],
        "subcosts": [StrOptions({"auto", *SUBCOSTS})],
        "decision": [StrOptions({"min_risk", "argmax"})],
        "training": [StrOptions({"costs", "neutral", "auto"})],
        "cross_fit": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "time_budget": [Interval(Real, 0, None, closed="left"), None],
        "reject_cost": [Interval(Real, 0, None, closed="left"), None],
        "reject_label": "no_validation",
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_rounds_no_change": [Interval(Integral, 1, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "feature_subsample": [Interval(Real, 0, 1, closed="right")],
        "weight_trimming": [Interval(Real, 0, 1, closed="right"), None],
        "warm_start": ["boolean"],
        "callbacks": [list, tuple, None],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(  # noqa: PLR0913  (scikit-learn's interface)
        self,
        learner: str | Learner = "auto",
        *,
        n_rounds: int | str = "auto",
        tol: float | str = "auto",
        costs: Any = None,
        loss: str = "exponential",
        subcosts: str = "auto",
        decision: str = "min_risk",
        training: str = "auto",
        cross_fit: int | str | None = "auto",
        time_budget: float | None = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
        shrinkage: float | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_rounds_no_change: int = 50,
        subsample: float = 1.0,
        feature_subsample: float = 1.0,
        weight_trimming: float | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learner = learner
        self.n_rounds = n_rounds
        self.tol = tol
        self.costs = costs
        self.loss = loss
        self.subcosts = subcosts
        self.decision = decision
        self.training = training
        self.cross_fit = cross_fit
        self.time_budget = time_budget
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.shrinkage = shrinkage
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_rounds_no_change = n_rounds_no_change
        self.subsample = subsample
        self.feature_subsample = feature_subsample
        self.weight_trimming = weight_trimming
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ---- fitting

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
        validation: tuple[Any, ArrayLike] | None = None,
    ) -> Self:
        """Train on samples `X` with classes `y`.

        Parameters
        ----------
        X : array or data frame of shape (N, d)
            NaN is a missing value. Text, categorical and Boolean columns of a frame are categories.
        y : array of shape (N,)
            Class labels of any kind.
        sample_weight : array of shape (N,), optional
        costs : array of shape (N, K), optional
            A cost row for each sample, in place of the matrix of the constructor.
        validation : (X, y), optional
            Samples to report on in `history_` and, with `early_stopping`, to stop by, in place of
            a share of the training samples.
        """
        self._validate_params()
        self._check_together(validation)
        previous = self.ensemble_ if self.warm_start and hasattr(self, "ensemble_") else None
        if previous is not None and self.cross_fit_ is not None:
            raise ValueError(
                "the last fit is an average of several, which cannot go on: set warm_start=False, "
                "or fit with cross_fit=None first"
            )
        self._seed = seed_of(self.random_state)
        problem = self._problem(X, y, sample_weight, costs, goes_on=previous is not None)
        if len(self.classes_) == 1:
            self.ensemble_, self.history_ = Ensemble.of((), 1), History()
            self.decoder_, self.cross_fit_ = Decoder(self.costs_, loss=self.loss), None
            return self._named(X, problem)
        if previous is None or not hasattr(self, "history_"):
            self.history_ = History()
        n_folds = self._n_folds(problem, validation)
        if n_folds:
            found = self._fit_parts(problem, n_folds)
            self.ensemble_, self.decoder_, self.cross_fit_ = found.ensemble, found.decoder, found
            self.history_ = found.history
        else:
            self._fit_whole(problem, validation, previous)
        return self._named(X, problem)

    def _check_together(self, validation: object) -> None:
        """Refuse parameters that contradict one another."""
        if self.cross_fit != "auto":
            alone = {
                "early_stopping": self.early_stopping,
                "warm_start": self.warm_start,
                "validation": validation is not None,
            }
            check_cross_fit(self.cross_fit, alone)
        if self.reject_cost is not None and self.reject_label is None:
            raise ValueError(
                f"with reject_cost={self.reject_cost:g}, predict needs a reject_label to return"
            )
        check_callbacks(self.callbacks)
        check_learner(self._learner(), self.loss, self.feature_subsample)

    def _problem(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        costs: ArrayLike | None,
        *,
        goes_on: bool,
    ) -> Samples:
        categorical = None if goes_on else self._learner().categorical
        values = self._encode(X, categorical)
        classes, labels = encode_labels(y, len(values))
        if goes_on:
            check_same_classes(self.classes_, classes)
        warn_of_few(classes, labels, stacklevel=4)
        weight = checked_weight(sample_weight, values)
        counts = np.bincount(labels, weight, len(classes)).astype(np.float64)
        matrix = cost_matrix(self.costs, list(classes), counts)
        by_sample = costs is not None
        paid = (
            cost_rows(costs, labels, len(classes), list(classes)) if costs is not None else matrix
        )
        problem = Samples(values, labels, paid, by_sample, weight, self._encoder.categorical)
        if weight is not None and not weight.all():
            problem = problem.rows(weight > 0)
        self.classes_, self.class_weight_ = classes, counts
        self.costs_ = class_costs(problem) if by_sample else matrix
        plain = self.loss == "exponential" or self.training == "neutral" or is_uniform(self.costs_)
        auto = "thesis" if plain else "rebel"
        self.subcosts_ = auto if self.subcosts == "auto" else self.subcosts
        return problem

    def _n_folds(self, problem: Samples, validation: object) -> int:
        if self.cross_fit != "auto":
            return int(self.cross_fit or 0)
        if is_uniform(self.costs_):
            apt = self.learner == "auto"
        else:  # the decision needs a posterior
            apt = self.decision == "min_risk" and self.subcosts_ == "thesis"
        apt &= not (self.early_stopping or self.warm_start or validation is not None)
        return 5 if apt and n_distinct(problem) >= FEWEST_TO_CROSS_FIT else 0

    def _fit_parts(self, problem: Samples, n_folds: int) -> CrossFit:
        way = {"auto": "costs" if self.decision == "argmax" else "neutral"}.get(
            self.training, self.training
        )

        def settings_of(learner: Learner) -> Settings:
            return self._settings(learner, problem)

        if self.learner == "auto":
            running = candidates(settings_of)
        else:
            running = [Entry("the learner", settings_of(self._learner()))]
        rounds = n_folds * sum(candidate.settings.rounds for candidate in running)
        with Hearing(self._callbacks(rounds)) as callbacks:
            return select(
                neutral(problem) if way == "neutral" else problem,
                running,
                n_folds,
                callbacks=callbacks,
                deciding=problem,
                time_budget=self.time_budget,
            )

    def _fit_whole(
        self, problem: Samples, validation: tuple[Any, ArrayLike] | None, start: Ensemble | None
    ) -> None:
        settings = self._settings(self._learner(), problem)
        if self.training == "neutral":
            problem = neutral(problem)
        self.decoder_, self.cross_fit_ = Decoder(class_costs(problem), loss=self.loss), None
        problem, held = self._hold_out(problem, validation, settings.seed)
        with Hearing(self._callbacks(settings.rounds)) as callbacks:
            self.ensemble_ = train(
                problem,
                settings,
                history=self.history_,
                callbacks=callbacks,
                held=None if held is None else follow(held, settings),
                start=start,
            )

    def _learner(self) -> Learner:
        return LEARNERS[self.learner] if isinstance(self.learner, str) else self.learner

    def _settings(self, learner: Learner, problem: Samples) -> Settings:
        chosen = Settings(
            learner,
            learner.rounds if self.n_rounds == "auto" else int(self.n_rounds),
            learner.shrinkage if self.shrinkage == "auto" else float(self.shrinkage),
            None if self.tol == "auto" else float(self.tol),
            ClassObjective(self.loss, self.subcosts_),
            Sampling(self.subsample, self.feature_subsample, self.weight_trimming),
            self.n_rounds_no_change if self.early_stopping else None,
            seed=self._seed,
            n_threads=self._n_threads(),
        )
        return settled(chosen, problem)

    def _callbacks(self, rounds: int) -> list[Callback]:
        return [*([Progress(rounds)] if self.verbose else []), *(self.callbacks or ())]

    def _hold_out(
        self, problem: Samples, validation: tuple[Any, ArrayLike] | None, seed: int
    ) -> tuple[Samples, Samples | None]:
        if validation is None:
            return split(problem, self.validation_fraction if self.early_stopping else 0.0, seed)
        X, y = validation
        values = self._encode(X)
        labels = known_labels(y, len(values), self.classes_)
        return problem, Samples(
            values, labels, class_costs(problem), categorical=self._encoder.categorical
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.pairwise = getattr(self.learner, "metric", None) == "precomputed"
        return tags
