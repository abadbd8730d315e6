"""The regressor, as a scikit-learn estimator: it validates input, trains, and holds the fitted model."""

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
from rebelboost.estimators.base import SHARED_CONSTRAINTS, BoostedEstimator, encode_table, of_model
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
    """Gradient-boosted regression with trees or stumps.

    The squared loss gives L₂Boost; the absolute and the Huber loss are robust to outliers.

    Parameters
    ----------
    learner : {"auto", "tree", "stump"}, Tree or Stump, default="auto"
        The weak learner. "auto" is ``Tree(depth=5, least_mass=0.003)``. Splits minimise the variance.
        A leaf's output is the mean residual of its samples (for the absolute loss, the median), shrunk
        towards 0 by the tree's `smoothing`.
    loss : {"squared", "absolute", "huber"}, default="squared"
        Loss of the residuals.
    huber_delta : float or "auto", default="auto"
        The Huber loss is quadratic for residuals up to this size and linear beyond. "auto" is the 90 %
        quantile of the targets' distances from their median.
    n_rounds : int, default=300
        Maximum number of boosting rounds.
    tol : float, default=0.0
        Stop when the training loss falls below this fraction of its initial value.
    shrinkage : float, default=0.1
        Factor applied to every output, in (0, 1].
    early_stopping : bool, default=False
        Hold out part of the samples, and stop when their loss has not fallen for `n_rounds_no_change`
        rounds. Terms after the best round are dropped.
    validation_fraction : float, default=0.1
        Fraction of the samples held out for early stopping.
    n_rounds_no_change : int, default=50
        Number of rounds without improvement before early stopping.
    subsample : float, default=0.3
        Fraction of the samples drawn at random to choose the splits of each round. Outputs are solved
        on all samples, so a small fraction works best. The draw depends on the values of a sample, not
        on its position, and a weight of 2 has the same effect as repeating the sample.
    feature_subsample : float, default=1.0
        Fraction of the features drawn at random for each round.
    warm_start : bool, default=False
        Continue from the terms of the previous fit.
    callbacks : list, default=None
        Objects with ``on_round(record) -> bool`` and ``on_end()``. Returning True stops training.
    verbose : int, default=0
        1 shows a progress bar.
    n_jobs : int, default=None
        Number of threads, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed. None means a fixed seed: two fits on the same data give the same model.

    Attributes
    ----------
    model_ : FittedRegressor
        The fitted model. `baseline_` and `ensemble_` are parts of it.
    baseline_ : float
        Prediction before the first round: the mean target for the squared loss, else the median.
    ensemble_ : Ensemble
        The terms. A prediction is the baseline plus their sum.
    history_ : History
        A record of every round: `error` is the root mean squared error, `cost` the mean absolute
        error, `log_loss` the logarithm of the mean loss.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Feature names, if the training table had any.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "learner": [StrOptions(set(LEARNERS)), Tree, Stump],
        "loss": [StrOptions(set(NUMBER_LOSSES))],
        "huber_delta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "shrinkage": [Interval(Real, 0, 1, closed="right")],
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
        """Fit the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Training samples. NaN means missing. In a data frame, text, categorical and Boolean columns
            are categories.
        y : array-like of shape (N,)
            Target values.
        sample_weight : array-like of shape (N,), default=None
            Sample weights.
        validation : tuple (X, y), default=None
            Samples to evaluate after each round, reported in `history_`. Early stopping uses them
            instead of holding out training samples.

        Returns
        -------
        RebelRegressor
            The fitted regressor itself.
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

    baseline_ = of_model("baseline", "Prediction before the first round.")

    def predict(self, X: Any) -> BySample:
        """Predict the target of each sample."""
        values = encode_table(self, X)
        predicted: BySample = self.model_.predict(values, threads_of(self.n_jobs))
        return predicted

    def staged_predict(self, X: Any) -> Iterator[BySample]:
        """Yield the predictions after each term."""
        values = encode_table(self, X)
        yield from self.model_.staged_predict(values, threads_of(self.n_jobs))

    def _check_together(self) -> None:
        """Raise an error if parameters contradict one another."""
        check_callbacks(self.callbacks)
        learner = _learner_of(self.learner)
        if self.loss == "absolute" and (isinstance(learner, Stump) or learner.outputs != "leaf"):
            raise ValueError(
                f'loss="absolute" needs an output for each leaf, which {learner!r} does not have: '
                'use a Tree with outputs="leaf", or loss="huber"'
            )

    def _read(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        start: FittedRegressor | None,
    ) -> tuple[FittedRegressor, NumberSamples]:
        """Return a model without terms, and the samples to train it on."""
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
