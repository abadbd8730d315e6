"""scikit-learn's face of regression: check, encode, train, hold the model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rebelboost.base.arrays import BySample
from rebelboost.boosting.callbacks import Callback, Hearing
from rebelboost.boosting.fit import Settings, follow, train
from rebelboost.boosting.objectives import NumberObjective
from rebelboost.boosting.regression import baseline, huber_delta
from rebelboost.boosting.rounds import History
from rebelboost.boosting.sampling import Sampling
from rebelboost.data.folds import divided, held_out_part
from rebelboost.data.samples import NumberSamples
from rebelboost.estimators.base import BoostedEstimator, encode_table, of_model
from rebelboost.estimators.inputs import (
    check_callbacks,
    checked_weight,
    encode_features,
    encode_target,
    learn_features,
    missing_features,
    seed_of,
    threads_of,
)
from rebelboost.estimators.training import callbacks_of
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.losses.numbers import NUMBER_LOSSES
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedRegressor, Provenance

TREE = Tree(depth=5, least_mass=0.003)
LEARNERS: dict[str, Stump | Tree] = {"auto": TREE, "tree": TREE, "stump": Stump()}


class RebelRegressor(RegressorMixin, BoostedEstimator):
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
    model_ : FittedRegressor
        What was learned, which `baseline_` and `ensemble_` are part of.
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
        fitted = self.warm_start and self.__sklearn_is_fitted__()
        start: FittedRegressor | None = self.model_ if fitted else None
        model, samples = self._read(X, y, sample_weight, start)
        settings = self._settings(samples)
        samples, held = self._hold_out(model, samples, validation, settings.seed)
        history = History() if start is None else self.history_
        with Hearing(callbacks_of(self, settings.rounds, ".4g")) as callbacks:
            ensemble = train(
                samples,
                settings,
                history=history,
                callbacks=callbacks,
                held=None if held is None else follow(held, settings),
                start=None if start is None else start.ensemble,
            )
        kept = Provenance(missing_features(samples.X))
        self.model_ = replace(model, ensemble=ensemble, provenance=kept)
        self.history_ = history
        return self

    baseline_ = of_model("baseline", "What is predicted before the first round.")

    def predict(self, X: Any) -> BySample:
        """Predict the target of each sample."""
        values = encode_table(self, X)
        predicted: BySample = self.model_.predict(values, threads_of(self.n_jobs))
        return predicted

    def staged_predict(self, X: Any) -> Iterator[BySample]:
        """Predictions after each term."""
        values = encode_table(self, X)
        yield from self.model_.staged_predict(values, threads_of(self.n_jobs))

    def _check_together(self) -> None:
        """Refuse parameters that contradict one another."""
        check_callbacks(self.callbacks)
        learner = _learner_of(self.learner)
        if self.loss == "absolute" and (isinstance(learner, Stump) or learner.outputs != "leaf"):
            raise ValueError(
                f'loss="absolute" takes medians by leaf, which {learner!r} has not: give a Tree with '
                'outputs="leaf", or loss="huber"'
            )

    def _read(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        start: FittedRegressor | None,
    ) -> tuple[FittedRegressor, NumberSamples]:
        """A model that has no terms yet, and the samples to train it on."""
        if start is None:
            encoder, values = learn_features(self, X, _learner_of(self.learner).categorical)
        else:
            encoder, values = start.encoder, encode_features(self, X, start.encoder)
        target = encode_target(y, len(values))
        weight = checked_weight(sample_weight, values)
        if weight is not None and not weight.all():
            there = weight > 0
            values, target, weight = values[there], target[there], weight[there]
        model = FittedRegressor(
            encoder=encoder,
            feature_names=getattr(self, "feature_names_in_", None),
            ensemble=Ensemble.of((), 1),
            baseline=baseline(self.loss, target, weight) if start is None else start.baseline,
        )
        residual = target - model.baseline
        return model, NumberSamples(values, residual, weight, encoder.categorical)

    def _hold_out(
        self,
        model: FittedRegressor,
        samples: NumberSamples,
        validation: tuple[Any, ArrayLike] | None,
        seed: int,
    ) -> tuple[NumberSamples, NumberSamples | None]:
        if validation is not None:
            X, y = validation
            values = encode_features(self, X, model.encoder)
            target = encode_target(y, len(values)) - model.baseline
            return samples, NumberSamples(values, target, categorical=samples.categorical)
        if not self.early_stopping:
            return samples, None
        part = held_out_part(samples, self.validation_fraction, seed)
        if part is None:  # the only sample, which training cannot do without
            return samples, None
        return divided(samples, part.kept), divided(samples, part.out)

    def _settings(self, samples: NumberSamples) -> Settings:
        given = self.huber_delta
        delta = huber_delta(samples.target, samples.weight) if given == "auto" else float(given)
        return Settings(
            _learner_of(self.learner),
            int(self.n_rounds),
            float(self.shrinkage),
            float(self.tol),
            NumberObjective(self.loss, delta),
            sampling=Sampling(self.subsample, self.feature_subsample, by_value=True),
            patience=self.n_rounds_no_change if self.early_stopping else None,
            seed=seed_of(self.random_state),
            n_threads=threads_of(self.n_jobs),
        )


def _learner_of(given: str | Tree | Stump) -> Stump | Tree:
    return LEARNERS[given] if isinstance(given, str) else given
