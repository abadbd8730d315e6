"""scikit-learn's face of regression: validate, encode, delegate. No arithmetic."""

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import BySample, Values
from rebelboost.boosting.callbacks import Callback, Hearing, Progress
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import NumberObjective
from rebelboost.boosting.regression import baseline, huber_delta
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.folds import held_out_samples
from rebelboost.data.samples import NumberSamples
from rebelboost.estimators.explained import ExplainedNumbers, missing_features
from rebelboost.estimators.fitting import check_callbacks, seed_of, threads_of
from rebelboost.estimators.inputs import checked_weight, encode_target
from rebelboost.estimators.stored import Stored
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.losses.numbers import NUMBER_LOSSES

TREE = Tree(depth=5, least_mass=0.003)
LEARNERS: dict[str, Stump | Tree] = {"auto": TREE, "tree": TREE, "stump": Stump()}


class RebelRegressor(Stored, RegressorMixin, ExplainedNumbers, BaseEstimator):
    """Boosted regression trees: L₂Boost, or the same on the absolute or Huber loss.

    Parameters
    ----------
    learner : {"auto", "tree", "stump"}, Tree or Stump
        The weak learner; "auto" is ``Tree(depth=5, least_mass=0.003)``. Trees are grown by
        variance; a leaf's output is the mean residual of its samples (their median for the
        absolute loss), drawn to 0 by the tree's `smoothing`.
    loss : {"squared", "absolute", "huber"}
        What of the residuals is minimised.
    huber_delta : float or "auto"
        Residuals up to this size count by their squares, larger ones by their size. "auto" is the
        size within which 90 % of the targets are from their median.
    n_rounds : int
        Upper limit of rounds.
    tol : float
        Stop when the training loss is below this share of its starting value.
    shrinkage : float
        Factor of every output.
    early_stopping : bool
        Hold out a share of the samples, and stop when its loss has not fallen for
        `n_rounds_no_change` rounds. The rounds after the best one are dropped.
    validation_fraction : float
        That share.
    n_rounds_no_change : int
        How long to wait for a lower validation loss.
    subsample : float
        Share of samples that each round draws at random to grow its tree on. Outputs are those of
        all samples, which is why so small a share serves best. Samples are drawn by their
        values: their order does not matter, and a weight of 2 is as good as a sample twice.
    feature_subsample : float
        Share of features that each round draws at random.
    warm_start : bool
        Go on from the terms of the last fit.
    callbacks : list, optional
        Objects with ``on_round(record) -> bool`` and ``on_end()``; True stops.
    verbose : int
        1 shows a progress bar.
    n_jobs : int, optional
        Threads, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None
        None stands for a fixed seed: two fits on the same data give the same model.

    Attributes
    ----------
    baseline_ : float
        What is predicted before the first round: the mean target, or the median.
    ensemble_ : Ensemble
        The terms; a prediction is the baseline and their sum.
    history_ : History
        A record of every round: `error` is the root mean squared error, `cost` the mean absolute
        one, `log_loss` the logarithm of the mean loss.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learner": [StrOptions(set(LEARNERS)), Tree, Stump],
        "loss": [StrOptions(set(NUMBER_LOSSES))],
        "huber_delta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "shrinkage": [Interval(Real, 0, 1, closed="right")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_rounds_no_change": [Interval(Integral, 1, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "feature_subsample": [Interval(Real, 0, 1, closed="right")],
        "warm_start": ["boolean"],
        "callbacks": [list, tuple, None],
        "verbose": ["verbose"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(  # noqa: PLR0913  (scikit-learn's interface)
        self,
        learner: str | Tree | Stump = "auto",
        *,
        loss: str = "squared",
        huber_delta: float | str = "auto",
        n_rounds: int = 300,
        tol: float = 0.0,
        shrinkage: float = 0.1,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_rounds_no_change: int = 50,
        subsample: float = 0.3,
        feature_subsample: float = 1.0,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.huber_delta = huber_delta
        self.n_rounds = n_rounds
        self.tol = tol
        self.shrinkage = shrinkage
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_rounds_no_change = n_rounds_no_change
        self.subsample = subsample
        self.feature_subsample = feature_subsample
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation: tuple[Any, ArrayLike] | None = None,
    ) -> Self:
        """Train on samples `X` with targets `y`.

        Parameters
        ----------
        X : array or data frame of shape (N, d)
            NaN is a missing value. Text, categorical and Boolean columns of a frame are categories.
        y : array of shape (N,)
            Numbers.
        sample_weight : array of shape (N,), optional
        validation : (X, y), optional
            Samples to report on in `history_` and, with `early_stopping`, to stop by, in place of
            a share of the training samples.
        """
        self._validate_params()
        self._check_together()
        start = self.ensemble_ if self.warm_start and hasattr(self, "ensemble_") else None
        problem = self._problem(X, y, sample_weight, goes_on=start is not None)
        settings = self._settings(problem)
        problem, held = self._hold_out(problem, validation, settings.seed)
        if start is None:
            self.history_ = History()
        progress = [Progress(settings.rounds, ".4g")] if self.verbose else []
        with Hearing([*progress, *(self.callbacks or ())]) as callbacks:
            self.ensemble_ = train(
                problem,
                settings,
                history=self.history_,
                callbacks=callbacks,
                held=None if held is None else follow(held, settings),
                start=start,
            )
        self.missing_features_ = missing_features(problem.X)
        return self

    def predict(self, X: Any) -> BySample:
        """Predict the target of each sample."""
        check_is_fitted(self)
        scores = self.ensemble_.scores(self._encode(X), self._n_threads())
        return self.baseline_ + scores[:, 0]

    def staged_predict(self, X: Any) -> Iterator[BySample]:
        """Predictions after each term."""
        check_is_fitted(self)
        for scores in self.ensemble_.staged_scores(self._encode(X), self._n_threads()):
            yield self.baseline_ + scores[:, 0]

    def _check_together(self) -> None:
        """Refuse parameters that contradict one another."""
        check_callbacks(self.callbacks)
        learner = self._learner()
        if self.loss == "absolute" and (isinstance(learner, Stump) or learner.outputs != "leaf"):
            raise ValueError(
                f'loss="absolute" takes medians by leaf, which {learner!r} has not: give a Tree with '
                'outputs="leaf", or loss="huber"'
            )

    def _learner(self) -> Stump | Tree:
        return LEARNERS[self.learner] if isinstance(self.learner, str) else self.learner

    def _n_threads(self) -> int:
        return threads_of(self.n_jobs)

    def _problem(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, *, goes_on: bool
    ) -> NumberSamples:
        values = self._encode(X, None if goes_on else self._learner().categorical)
        target = encode_target(y, len(values))
        weight = checked_weight(sample_weight, values)
        if weight is not None and not weight.all():
            there = weight > 0
            values, target, weight = values[there], target[there], weight[there]
        if not goes_on:
            self.baseline_ = baseline(self.loss, target, weight)
        return self._about_baseline(values, target, weight)

    def _about_baseline(
        self, values: Values, target: BySample, weight: BySample | None
    ) -> NumberSamples:
        residual = target - self.baseline_
        return NumberSamples(values, residual, weight, self._encoder.categorical)

    def _hold_out(
        self, problem: NumberSamples, validation: tuple[Any, ArrayLike] | None, seed: int
    ) -> tuple[NumberSamples, NumberSamples | None]:
        if validation is not None:
            X, y = validation
            values = self._encode(X)
            target = encode_target(y, len(values)) - self.baseline_
            return problem, NumberSamples(values, target, categorical=self._encoder.categorical)
        if not self.early_stopping:
            return problem, None
        held = held_out_samples(problem, self.validation_fraction, seed)
        if not held.any():  # the only sample, which training cannot do without
            return problem, None
        return problem.rows(~held), problem.rows(held)

    def _settings(self, samples: NumberSamples) -> Settings:
        given = self.huber_delta
        delta = huber_delta(samples.target, samples.weight) if given == "auto" else float(given)
        return Settings(
            self._learner(),
            int(self.n_rounds),
            float(self.shrinkage),
            float(self.tol),
            NumberObjective(self.loss, delta),
            sampling=Sampling(self.subsample, self.feature_subsample, by_value=True),
            patience=self.n_rounds_no_change if self.early_stopping else None,
            seed=seed_of(self.random_state),
            n_threads=self._n_threads(),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
