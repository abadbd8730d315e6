"""scikit-learn's face of the method: check, encode, train, hold the model. No arithmetic."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from rebelboost.base.arrays import Floats, Scores
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.objectives import LOSSES
from rebelboost.costs.decision import RULES
from rebelboost.costs.matrix import is_uniform
from rebelboost.estimators.base import BoostedEstimator, encode_table, of_model, table_scores
from rebelboost.estimators.inputs import (
    LEARNERS,
    Apart,
    check_agreement,
    read_samples,
    threads_of,
)
from rebelboost.estimators.training import (
    assembled,
    rule_of,
    shrinkage_of,
    train_terms,
)
from rebelboost.learners.base import WeakLearner
from rebelboost.losses.exponential import SUBCOSTS
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.race import Selection

if TYPE_CHECKING:
    from rebelboost.theory.guarantee import Guarantee


class RebelClassifier(ClassifierMixin, BoostedEstimator):
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
    model_ : FittedClassifier
        What was learned, which the attributes below are part of: terms, classes, costs, decoder.
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
        "learner": [StrOptions(set(LEARNERS)), HasMethods(["prepare"])],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
        "costs": "no_validation",
        "loss": [StrOptions(set(LOSSES))],
        "subcosts": [StrOptions({"auto", *SUBCOSTS})],
        "decision": [StrOptions(set(RULES))],
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
        learner: str | WeakLearner = "auto",
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
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
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
        groups : array of shape (N,), optional
            Samples of one group (a patient, a machine) are left out together, so that figures and
            choices hold for new groups.
        times : array of shape (N,), optional
            Numbers or dates. Parts are trained on earlier samples than those that they leave out.
        validation : (X, y), optional
            Samples to report on in `history_` and, with `early_stopping`, to stop by, in place of
            a share of the training samples.
        """
        self._validate_params()
        check_agreement(self, validated=validation is not None)
        start = self._previous()
        given = read_samples(self, X, y, sample_weight, costs, Apart(groups, times), start)
        trained = train_terms(self, given, validation, start)
        self.model_ = assembled(self, X, given, trained)
        self.history_ = trained.history
        self.cross_fit_ = trained if isinstance(trained, CrossFit) else None
        return self

    def _previous(self) -> FittedClassifier | None:
        """The model that a warm start goes on with."""
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return None
        if self.cross_fit_ is not None:
            raise ValueError(
                "the last fit is an average of several, which cannot go on: set warm_start=False, "
                "or fit with cross_fit=None first"
            )
        return self.model_

    # ---- deciding

    @property
    def model_(self) -> FittedClassifier:
        """What was learned, deciding by `decision`, `reject_cost` and `reject_label` as they are now.

        See `rebelboost.model.fitted`.
        """
        model: FittedClassifier = self._held()
        rule = rule_of(self)
        # Usually the rule of the fit. Compared by identity: a label may be of any kind.
        return model if all(map(is_, rule, model.rule)) else replace(model, rule=rule)

    @model_.setter
    def model_(self, model: Any) -> None:
        self._hold(model)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores H(x), (N, K); with two classes the lead of the second one, (N,)."""
        return _lead(table_scores(self, X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (N, K), decoded from the scores; see `cross_fit`."""
        scores = table_scores(self, X)
        return self.model_.posterior(scores)

    def expected_cost(self, X: Any, costs: Any = None) -> Floats:
        """What each decision is expected to cost, (N, K); `costs` as in `predict`."""
        return self.model_.expected_cost(*self._scores_and_costs(X, costs))

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Decide for each sample.

        Parameters
        ----------
        X : array or data frame of shape (N, d)
        costs : array of shape (N, K) or (N, K, K), or data frame, optional
            The samples' own costs. (N, K): what each decision costs if it is wrong, a column for
            each class. (N, K, K): ``costs[n, true, decided]``. By default the model's: by class; from
            columns that the cost table names; or, after a fit with costs for each sample, as
            learned from those.

        Returns
        -------
        array of shape (N,)
            Class labels, and `reject_label` where the model abstains.
        """
        return self.model_.labels(*self._scores_and_costs(X, costs))

    def _scores_and_costs(self, X: Any, costs: Any) -> tuple[Scores, Floats]:
        model, n_threads = self.model_, threads_of(self.n_jobs)
        values = encode_table(self, X)
        return model.scores(values, n_threads), model.costs_of(values, costs, n_threads)

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Scores after each term."""
        yield from map(_lead, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Decisions after each term."""
        model, values = self.model_, encode_table(self, X)
        costs = model.costs_of(values, n_threads=threads_of(self.n_jobs))
        for scores in model.staged_scores(values, threads_of(self.n_jobs)):
            yield model.labels(scores, costs)

    def _staged_scores(self, X: Any) -> Iterator[Scores]:
        values = encode_table(self, X)
        yield from self.model_.staged_scores(values, threads_of(self.n_jobs))

    def with_costs(self, costs: Any) -> Self:
        """The same model for other costs of decisions: no refit, the posterior stays."""
        model = self.model_.with_costs(costs)
        other = copy.copy(self)
        other.costs, other.model_ = costs, model
        return other

    def with_row_labels(self, labels: Mapping[int, Any]) -> Self:
        """The same model, calling rows of its training table by these names in its reasons.

        Parameters
        ----------
        labels : mapping
            Row number, from 0, → text or number.
        """
        model = self.model_.with_row_labels(labels)
        other = copy.copy(self)
        other.model_ = model
        return other

    # ---- what is known of it

    @property
    def guarantee_(self) -> "Guarantee":
        """What is proven of the training, beside what it achieved; see `rebelboost.theory.bounds`."""
        from rebelboost.theory.guarantee import guarantee_of

        model = self.model_
        return guarantee_of(model, self.history_, self.cross_fit_, shrinkage_of(self))

    @property
    def selection_(self) -> Selection | None:
        """What learner="auto" tried, how each did on left-out samples, and the shares of the blend."""
        model, found = self.model_, self.cross_fit_
        if self.learner != "auto" or found is None:
            return None
        return Selection(found.standings, found.cost, percent=is_uniform(model.costs))

    classes_ = of_model("classes", "(K,) labels, sorted.")
    costs_ = of_model("costs", "(K, K) costs[true, decided] in use.")
    decoder_ = of_model("decoder", "Turns scores into probabilities.")
    class_weight_ = of_model("class_weight", "(K,) weight of the training samples of each class.")
    subcosts_ = of_model("subcosts", "How costs became weights in training.")
    row_labels_ = of_model("provenance.row_labels", "Row number → its name, of example rows.")
    example_classes_ = of_model(
        "provenance.example_classes", "Row number → code of its class, of example rows."
    )
    training_facts_ = of_model("provenance.facts", "What the guarantee needs of the samples.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = getattr(self.learner, "metric", None) == "precomputed"
        return tags


def _lead(scores: Scores) -> NDArray[np.float64]:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
