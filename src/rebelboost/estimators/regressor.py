"""The regressor, as a scikit-learn estimator: it validates input, trains, and holds the fitted model."""

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rebelboost.base.arrays import BySample, Floats, Values
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.samples import Samples
from rebelboost.estimators.base import (
    SHARED_CONSTRAINTS,
    BoostedEstimator,
    encode_table,
    of_model,
)
from rebelboost.estimators.papers import published
from rebelboost.estimators.predictor import NumberPredictor
from rebelboost.estimators.raw_rows import record_reader
from rebelboost.estimators.reading import SplitBy, read_targets
from rebelboost.estimators.validation import (
    check_callbacks,
    check_cross_fit,
    encode_target,
    threads_of,
)
from rebelboost.learners.base import WeakLearner
from rebelboost.losses.regression import REGRESSION_LOSSES, AnyRegressionLoss, regression_kind
from rebelboost.selection.race import Selection
from rebelboost.tasks.base import is_race, named_learner
from rebelboost.tasks.regression import RegressionTask

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class RebelRegressor(RegressorMixin, BoostedEstimator):
    """Gradient-boosted regression, with prediction intervals.

    Parameters
    ----------
    learner : {"auto", "auto_trees", "tree", "stump"}, Tree or Stump, default="auto"
        "auto" compares trees of several depths and a smooth function by cross-validation and averages
        the best. "auto_trees" compares trees only: such a model keeps no training rows. Without a
        cross-fit, both are the same as "tree", ``Tree(depth=5, least_mass=0.003)``. Splits minimise the
        variance. A leaf's output is the mean residual of its samples (for the absolute loss, the
        median), shrunk towards 0 by the tree's `smoothing`.
    loss : {"squared", "absolute", "huber"} or callable, default="squared"
        Loss of the residuals, or what makes one from targets and weights (see the documentation page
        "Extending"). The squared loss gives L₂Boost; the others are robust to outliers.
    huber_delta : float or "auto", default="auto"
        The Huber loss is quadratic for residuals up to this size and linear beyond. "auto" is the 90 %
        quantile of the targets' distances from their median.
    n_rounds : int or "auto", default="auto"
        Maximum number of boosting rounds. "auto" is 300 for one learner, and 100 for a single fit
        without early stopping on fewer than 500 samples; the candidates of learner="auto" have their
        own numbers.
    tol : float, default=0.0
        Stop when the training loss falls below this fraction of its initial value.
    shrinkage : float or "auto", default="auto"
        Factor applied to every output, in (0, 1]. "auto" is 0.1 for one learner; candidates have their
        own.
    cross_fit : int, "auto" or None, default="auto"
        Number of folds. The model is fitted once without each fold, and the fits are averaged.
        Held-out predictions determine the number of rounds and the prediction intervals. "auto" is 5
        with learner="auto" and None (a single fit) with a named learner, fewer than 10
        samples, early stopping, a validation set or a warm start.
    time_budget : float, default=None
        Seconds after which training ends. Fits are stopped early, and time that is left is used for
        more fits. The model then depends on the speed of the machine.
    early_stopping : bool, default=False
        Hold out part of the samples, and stop when their loss has not fallen for `n_rounds_no_change`
        rounds. Terms after the best round are dropped.
    validation_fraction : float, default=0.1
        Fraction of the samples held out for early stopping.
    n_rounds_no_change : int, default=50
        Number of rounds without improvement before early stopping.
    subsample : float or "auto", default="auto"
        Fraction of the samples drawn at random to choose the splits of each round. Outputs are solved
        on all samples, so a small fraction works best: "auto" is 0.3 for one learner. The draw depends
        on the values of a sample, not on its position, and a weight of 2 has the same effect as
        repeating the sample.
    feature_subsample : float or "auto", default="auto"
        Fraction of the features drawn at random for each round. "auto" is 1 for one learner.
    monotone : dict, default=None
        Columns of numbers with which predictions never fall (1) or never rise (-1), all else being
        equal, ``{"income": 1, "debt": -1}``. Only
        trees with an output for each leaf promise that, so other learners leave the comparison. It is
        proved when training ends, and when a file is loaded. Needs rows in memory.
    warm_start : bool, default=False
        Continue from the terms of the previous fit.
    callbacks : list, default=None
        Objects with ``on_rounds(batch) -> bool`` and ``on_end()``. Returning True stops training.
        `batch` is a sequence of records, of one round unless the object has ``may_wait = True``.
    verbose : int, default=0
        1 shows a progress bar.
    n_jobs : int, default=None
        Number of threads, as in joblib. The model does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. None means a fixed seed: two fits on the same data give the same model.

    Attributes
    ----------
    model_ : FittedRegressor
        The fitted model. `baseline_` and `ensemble_` are parts of it.
    baseline_ : float
        Prediction before the first round: the mean target for the squared loss, else the median.
    ensemble_ : Ensemble
        The terms. A prediction is the baseline plus their sum.
    cross_fit_ : CrossFit or None
        Results on held-out samples: `left_out` has their predictions, `rows` their rows in the table,
        `cost` the root mean squared error (with another loss than the squared, the mean absolute
        error).
    selection_ : Selection or None
        With learner="auto": the candidates, their held-out errors and their weights in the average.
    history_ : History
        A record of every round: `error` is the root mean squared error, `cost` the mean absolute
        error, `log_loss` the logarithm of the mean loss.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (d,)
        Feature names, if the training table had any.
    """

    task_kind: ClassVar[type[RegressionTask]] = RegressionTask
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "monotone": [dict, None],
        "learner": [
            StrOptions(set(RegressionTask.learners)),
            *dict.fromkeys(map(type, RegressionTask.learners.values())),
        ],
        "loss": [StrOptions(set(REGRESSION_LOSSES)), callable],
        "huber_delta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "cross_fit": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "time_budget": [Interval(Real, 0, None, closed="left"), None],
        "subsample": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "feature_subsample": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
    }

    def __init__(  # noqa: PLR0913  (scikit-learn's interface)
        self,
        learner: str | WeakLearner = "auto",
        *,
        loss: AnyRegressionLoss = "squared",
        huber_delta: float | str = "auto",
        n_rounds: int | str = "auto",
        tol: float = 0.0,
        shrinkage: float | str = "auto",
        cross_fit: int | str | None = "auto",
        time_budget: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_rounds_no_change: int = 50,
        subsample: float | str = "auto",
        feature_subsample: float | str = "auto",
        monotone: Mapping[Any, int] | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.huber_delta = huber_delta
        self.n_rounds = n_rounds
        self.tol = tol
        self.shrinkage = shrinkage
        self.cross_fit = cross_fit
        self.time_budget = time_budget
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_rounds_no_change = n_rounds_no_change
        self.subsample = subsample
        self.feature_subsample = feature_subsample
        self.monotone = monotone
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def papers(
        cls, name: str, *, depth: int | None = None, n_rounds: int | None = None, **options: Any
    ) -> Self:
        """Return a regressor set to a published method, to the letter.

        Parameters
        ----------
        name : {"quickboost"}
            L₂Boost with trees of one output by variance, found by the pruned search.
        depth : int, default=None
            Depth of the trees, by default 1.
        n_rounds : int, default=None
            Maximum number of rounds, by default 1,000.
        **options
            Options of the trees, such as `search`, and `n_jobs`, `random_state`, `verbose`, `callbacks` or
            `warm_start`.

        Returns
        -------
        RebelRegressor
            Not fitted; see `citation_` afterwards.
        """
        found: Self = published(cls, name, depth=depth, n_rounds=n_rounds, **options)
        return found

    def fit(
        self,
        X: Any,
        y: "ArrayLike",
        sample_weight: "ArrayLike | None" = None,
        *,
        groups: "ArrayLike | None" = None,
        times: "ArrayLike | None" = None,
        validation: "tuple[Any, ArrayLike] | None" = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Training samples. NaN means missing. In a data frame, text, categorical and Boolean columns
            are categories, and dates count as days since 1970-01-01.
        y : array-like of shape (N,)
            Target values.
        sample_weight : array-like of shape (N,), default=None
            Sample weights.
        groups : array-like of shape (N,), default=None
            Samples of one group (such as a patient) are held out together.
        times : array-like of shape (N,), default=None
            Numbers or dates. Held-out samples are later than those that a fit is trained on.
        validation : tuple (X, y), default=None
            Samples to evaluate after each round, reported in `history_`. Early stopping uses them
            instead of holding out training samples.

        Returns
        -------
        RebelRegressor
            The fitted regressor itself.
        """
        split_by = SplitBy(groups, times)
        return self.fit_to(
            lambda start: read_targets(self, X, y, sample_weight, split_by, start), validation
        )

    def validation_samples(
        self, values: Values, y: "ArrayLike", task: Any, like: Samples
    ) -> Samples:
        """Encode validation samples, with targets minus the baseline."""
        target = encode_target(y, len(values)) - task.baseline
        return Samples.of_targets(values, target, categorical=like.categorical)

    baseline_ = of_model("baseline", "Prediction before the first round.")

    @property
    def selection_(self) -> Selection | None:
        """Candidates of learner="auto", their held-out errors and their weights, or None."""
        found = self.cross_fit_
        if not is_race(self.learner) or found is None:
            return None
        measure = regression_kind(self.loss).measure
        return Selection(found.standings, found.cost, percent=False, measure=measure)

    def predict(self, X: Any) -> BySample:
        """Predict the target of each sample."""
        values = encode_table(self, X)
        predicted: BySample = self.model_.predict(values, threads_of(self.n_jobs))
        return predicted

    def predictor(self) -> NumberPredictor:
        """Return the fitted model as a small object that predicts single samples fast, with the same bits."""
        return NumberPredictor(self.model_, record_reader(self))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Predict an interval for the target of each sample.

        Intervals are made from the residuals of held-out samples (conformal prediction): of new
        samples that come as the training samples did, about the share `coverage` lies inside, and as
        many above as below. They are wider where residuals are larger. Requires a cross-fit, which
        is the default.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Samples.
        coverage : float, default=0.9
            Share of targets that the intervals are to contain.

        Returns
        -------
        ndarray of shape (N, 2)
            Lower and upper ends.
        """
        values = encode_table(self, X)
        ends: Floats = self.model_.predict_interval(values, coverage, threads_of(self.n_jobs))
        return ends

    def staged_predict(self, X: Any) -> Iterator[BySample]:
        """Yield the predictions after each term."""
        values = encode_table(self, X)
        yield from self.model_.staged_predict(values, threads_of(self.n_jobs))

    def check_together(self, *, validated: bool) -> None:
        """Raise an error if parameters contradict one another."""
        check_cross_fit(self, validated=validated)
        check_callbacks(self.callbacks)
        learner = named_learner(RegressionTask, self.learner)
        needs_leaves = regression_kind(self.loss).needs_leaf_outputs
        if needs_leaves and getattr(learner, "outputs", "") != "leaf":
            raise ValueError(
                f'loss="{self.loss}" needs an output for each leaf, which {learner!r} does not have: '
                'use a Tree with outputs="leaf", or loss="huber"'
            )
