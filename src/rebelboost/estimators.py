"""scikit-learn's face of the method: validate, encode, delegate, decode. No arithmetic."""

import warnings
from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from joblib import cpu_count, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_is_fitted,
    validate_data,
)

from rebelboost.callbacks import Callback, History, Progress
from rebelboost.costs import cost_matrix, cost_rows
from rebelboost.exceptions import SingleClassWarning
from rebelboost.frames import FeatureEncoder, as_frame, fit_encoder
from rebelboost.learners import Stump, Tree
from rebelboost.model import Ensemble
from rebelboost.risk import SUBCOSTS
from rebelboost.sampling import Sampling
from rebelboost.shapes import Labels, Scores, Values
from rebelboost.training import Problem, Settings, held_out_samples, train

LEARNERS: dict[str, Stump | Tree] = {"auto": Tree(), "tree": Tree(), "stump": Stump()}


class RebelClassifier(ClassifierMixin, BaseEstimator):
    """Multi-class, cost-sensitive boosting.

    Parameters
    ----------
    learner : {"auto", "tree", "stump"}, Tree or Stump
        The weak learner; "auto" is ``Tree()``.
    n_rounds : int or "auto"
        Upper limit of rounds; "auto" is the learner's own.
    tol : float
        Stop when the loss is below this share of its starting value.
    costs : array of shape (K, K), optional
        ``costs[true, decided]``, classes in sorted order. All mistakes cost 1 by default.
    subcosts : {"thesis", "rebel"}
        How costs become weights; see `rebelboost.risk`.
    decision : {"argmax"}
        The class of the highest score.
    shrinkage : float or "auto"
        Factor of every output; "auto" is the learner's own.
    early_stopping : bool
        Hold out a share of the samples, and stop when its loss has not fallen for
        `n_rounds_no_change` rounds. The rounds after the best one are dropped.
    validation_fraction : float
        That share.
    n_rounds_no_change : int
        How long to wait for a lower validation loss.
    subsample, feature_subsample : float
        Share of samples, and of features, that each round draws at random for its search.
    weight_trimming : float, optional
        Search among the heaviest samples only, which hold this share of the mass.
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
    classes_ : array of shape (K,)
    costs_ : array of shape (K, K)
        The cost matrix in use.
    ensemble_ : Ensemble
        The terms.
    history_ : History
        A record of every round; ``history_.table()`` gives columns.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learner": [StrOptions(set(LEARNERS)), Tree, Stump],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "costs": ["array-like", None],
        "subcosts": [StrOptions(set(SUBCOSTS))],
        "decision": [StrOptions({"argmax"})],
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
        learner: str | Tree | Stump = "auto",
        *,
        n_rounds: int | str = "auto",
        tol: float | str = "auto",
        costs: ArrayLike | None = None,
        subcosts: str = "thesis",
        decision: str = "argmax",
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
        self.subcosts = subcosts
        self.decision = decision
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
            Samples for early stopping, in place of a share of the training samples.
        """
        self._validate_params()
        settings = self._settings()
        previous = self.ensemble_ if self.warm_start and hasattr(self, "ensemble_") else None
        classes_before = self.classes_ if previous is not None else None
        values = self._encode(X, fit=True)
        labels = self._encode_labels(y, len(values))
        if classes_before is not None and not np.array_equal(classes_before, self.classes_):
            raise ValueError(
                f"warm_start goes on with classes {classes_before.tolist()}, but y has "
                f"{self.classes_.tolist()}: set warm_start=False to start anew"
            )
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, values, dtype=np.float64, ensure_non_negative=True
            )
            if not weight.any():
                raise ValueError("every sample_weight is 0: at least one sample must count")
        self.costs_ = cost_matrix(self.costs, list(self.classes_))
        n_classes = len(self.classes_)
        if n_classes == 1:
            warnings.warn(
                f"there is one class only, {self.classes_.tolist()[0]!r}: it will always be predicted",
                SingleClassWarning,
                stacklevel=2,
            )
            self.ensemble_, self.history_ = Ensemble((), 1), History()
            return self
        by_sample = costs is not None
        paid = cost_rows(costs, labels, n_classes) if by_sample else self.costs_
        problem = Problem(values, labels, paid, by_sample, weight)
        if weight is not None and not weight.all():
            problem = problem.rows(weight > 0)
        problem, held = self._hold_out(problem, validation, settings.seed)
        if previous is None or not hasattr(self, "history_"):
            self.history_ = History()
        self.ensemble_ = train(
            problem,
            settings,
            self._encoder.categorical,
            callbacks=self._callbacks(settings.rounds),
            held=held,
            start=previous,
        )
        return self

    def _settings(self) -> Settings:
        learner = LEARNERS[self.learner] if isinstance(self.learner, str) else self.learner
        seed = 0
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Settings(
            learner,
            learner.rounds if self.n_rounds == "auto" else int(self.n_rounds),
            learner.shrinkage if self.shrinkage == "auto" else float(self.shrinkage),
            0.0 if self.tol == "auto" else float(self.tol),
            self.subcosts,
            Sampling(self.subsample, self.feature_subsample, self.weight_trimming),
            self.n_rounds_no_change if self.early_stopping else None,
            seed,
            self._n_threads(),
        )

    def _n_threads(self) -> int:
        return max(1, min(effective_n_jobs(self.n_jobs), cpu_count()))

    def _callbacks(self, rounds: int) -> list[Callback]:
        shown = [Progress(rounds)] if self.verbose else []
        return [self.history_, *shown, *(self.callbacks or ())]

    def _hold_out(
        self, problem: Problem, validation: tuple[Any, ArrayLike] | None, seed: int
    ) -> tuple[Problem, Problem | None]:
        if validation is not None:
            X, y = validation
            values = self._encode(X, fit=False)
            labels = self._known_labels(y)
            return problem, Problem(values, labels, self.costs_)
        if not self.early_stopping:
            return problem, None
        held = held_out_samples(problem, self.validation_fraction, seed)
        return problem.rows(~held), problem.rows(held)

    # ---- encoding

    def _encode(self, X: Any, *, fit: bool) -> Values:
        """Check `X` and turn it into numbers; with `fit`, learn the features' names and levels."""
        frame = as_frame(X)
        if frame is None:
            X = validate_data(
                self,
                X,
                reset=fit,
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite="allow-nan",
                ensure_min_samples=1,
            )
        else:
            validate_data(self, X, reset=fit, skip_check_array=True)
        if fit:
            learner = self._settings().learner
            self._encoder: FeatureEncoder = fit_encoder(X, frame, learner.categorical)
        if frame is None:
            return self._encoder.transform_array(X)
        values = self._encoder.transform_frame(frame)
        assert_all_finite(values, allow_nan=True, input_name="X")
        return values

    def _encode_labels(self, y: ArrayLike, n_samples: int) -> Labels:
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if len(y) != n_samples:
            raise ValueError(f"X has {n_samples} samples, but y has {len(y)} labels")
        self.classes_, labels = np.unique(y, return_inverse=True)
        return labels.astype(np.int32)

    def _known_labels(self, y: ArrayLike) -> Labels:
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown) > 0:
            raise ValueError(
                f"the validation labels have class {unknown.tolist()[0]!r}, which the training labels lack"
            )
        return np.searchsorted(self.classes_, y).astype(np.int32)

    # ---- predicting

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores H(x), (N, K); with two classes the lead of the second one, (N,)."""
        return _lead(self._scores(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the highest score."""
        decided = np.argmax(self._scores(X), axis=1)
        labels: NDArray[Any] = self.classes_[decided]
        return labels

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after each round."""
        check_is_fitted(self)
        values = self._encode(X, fit=False)
        yield from map(_lead, self.ensemble_.staged_scores(values, self._n_threads()))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Predictions after each round."""
        check_is_fitted(self)
        values = self._encode(X, fit=False)
        for scores in self.ensemble_.staged_scores(values, self._n_threads()):
            yield self.classes_[np.argmax(scores, axis=1)]

    def _scores(self, X: Any) -> Scores:
        check_is_fitted(self)
        return self.ensemble_.scores(self._encode(X, fit=False), self._n_threads())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _lead(scores: Scores) -> NDArray[np.float64]:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
