"""The classifier, as a scikit-learn estimator: it validates input, trains, and holds the fitted model."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from rebelboost.base.arrays import Floats, Scores, Values, by_class_or_difference
from rebelboost.boosting.callbacks import Callback
from rebelboost.costs.decision import RULES
from rebelboost.costs.matrix import class_costs, is_uniform
from rebelboost.data.samples import Samples
from rebelboost.estimators.base import (
    SHARED_CONSTRAINTS,
    BoostedEstimator,
    encode_table,
    of_model,
    table_scores,
)
from rebelboost.estimators.cascade import CascadeMixin
from rebelboost.estimators.decisions import DecisionsMixin
from rebelboost.estimators.fitting import shrinkage_of
from rebelboost.estimators.papers import published
from rebelboost.estimators.personal import PersonalMixin
from rebelboost.estimators.predictor import ClassPredictor
from rebelboost.estimators.raw_rows import record_reader
from rebelboost.estimators.reading import SplitBy, read_classes, rule_of
from rebelboost.estimators.validation import check_agreement, known_labels, threads_of
from rebelboost.learners.base import WeakLearner
from rebelboost.losses.classes import CLASS_LOSSES, AnyClassLoss
from rebelboost.losses.exponential import SUBCOSTS
from rebelboost.model.fitted import FittedClassifier
from rebelboost.selection.race import Selection
from rebelboost.tasks.base import is_race
from rebelboost.tasks.classes import ClassTask

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rebelboost.theory.guarantee import Guarantee


class RebelClassifier(
    DecisionsMixin, PersonalMixin, CascadeMixin, ClassifierMixin, BoostedEstimator
):
    """Multi-class, cost-sensitive boosting.

    Parameters
    ----------
    learner : {"auto", "auto_trees", "tree", "stump", "similarity", "smooth", "kernel"} or WeakLearner, \
            default="auto"
        The weak learner, by name or as an object such as ``Tree(depth=3)``. "auto" compares trees and
        similarities by cross-validation and averages the best; without a cross-fit it is ``Tree()``.
        "auto_trees" compares trees only: such a model keeps no training rows.
    n_rounds : int or "auto", default="auto"
        Maximum number of boosting rounds. "auto" depends on the learner: 400 for trees with leaf
        outputs, 1,000 for stumps and trees with one output, 6,000 for similarities.
    tol : float, "auto" or "papers", default="auto"
        Stop when the training loss falls below this fraction of its initial value. "auto" depends on
        the learner: 0 for trees, ``(2 / (K * N)) ** 2`` for similarities. "papers" is ``2 / (K * N)``,
        whatever the number of classes K and of samples N.
    costs : array, DataFrame, dict, "balanced" or Taxonomy, default=None
        Cost matrix, ``costs[true, decided]``, with classes in sorted order; or a data frame with class
        names, or a dict of exceptions ``{(true, decided): cost}``. By default every mistake costs 1.
    class_weight : dict, "balanced" or None, default=None
        In place of `costs`: what a mistake on a sample of each class costs, ``{class: weight}``.
    loss : {"exponential", "logistic", "squared"} or callable, default="exponential"
        Loss to minimise, or what makes one from subcosts (see the documentation page "Extending").
        For two classes with uniform costs: AdaBoost, LogitBoost or L₂Boost.
    subcosts : {"auto", "thesis", "rebel"}, default="auto"
        How costs become weights; see `rebelboost.losses.exponential`. "auto" is "rebel" for training on
        unequal costs with another loss than the exponential (where only "rebel" bounds the cost), and
        "thesis" otherwise.
    decision : {"min_risk", "argmax"}, default="min_risk"
        "min_risk" predicts the class with the lowest expected cost. "argmax" predicts the class with
        the highest score, as in the papers.
    training : {"auto", "costs", "neutral"}, default="auto"
        "costs" trains on the costs. "neutral" uses them in the decision only. "auto" is "neutral" for
        a cross-fit with decision="min_risk", which had the lowest mean cost in our measurements, and
        "costs" otherwise.
    cross_fit : int, "auto" or None, default="auto"
        Number of folds and of fits, which are averaged. Each fit leaves out one fold, or about 40 % of
        the folds if a learner is named. Held-out scores determine the number of rounds and calibrate
        the probabilities. "auto" is 5 with learner="auto", and 10 with learner="tree" and with unequal
        costs and decision="min_risk". It is None (a single fit) with fewer than 12 samples, early
        stopping, a validation set, a warm start or subcosts="rebel" with unequal costs.
    time_budget : float, default=None
        Seconds after which training ends. Fits are stopped early, and time that is left is used for
        more fits. The model then depends on the speed of the machine.
    reject_cost : float, default=None
        Abstain if the lowest expected cost exceeds this value.
    reject_label : object, default=None
        Label that `predict` returns when it abstains. Required with `reject_cost`.
    reject_budget : float, default=None
        Share of the rows on which the model may abstain: those with the highest expected cost. It is met
        on the rows that the fits of a cross-fit leave out. With `reject_cost`, the model abstains where
        both allow it, and an abstention costs `reject_cost`; otherwise it is charged nothing. The label is
        "abstain" by default.
    shrinkage : float or "auto", default="auto"
        Factor applied to every output, in (0, 1]. "auto" is 0.3 for trees with leaf outputs, else 1.
    early_stopping : bool, default=False
        Hold out part of the samples, and stop when their loss has not fallen for `n_rounds_no_change`
        rounds. Terms after the best round are dropped.
    validation_fraction : float, default=0.1
        Fraction of the samples held out for early stopping.
    n_rounds_no_change : int, default=50
        Number of rounds without improvement before early stopping.
    subsample : float, default=1.0
        Fraction of the samples drawn at random for the search of each round.
    feature_subsample : float, default=1.0
        Fraction of the features drawn at random for the search of each round.
    weight_trimming : float, default=None
        Search only the heaviest samples, which hold this fraction of the total weight.
    monotone : dict, default=None
        Columns of numbers that move decisions one way, ``{"income": 1, "debt": -1}``. With two classes,
        the probability of the second in sorted order never falls as income rises, all else being equal.
        With more, the classes are taken as ordered, and probability moves to higher classes. Only
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
    model_ : FittedClassifier
        The fitted model. The other attributes are parts of it.
    classes_ : ndarray of shape (K,)
        Class labels, sorted.
    costs_ : ndarray of shape (K, K)
        Cost matrix used for decisions.
    ensemble_ : Ensemble
        The terms.
    decoder_ : Decoder
        Turns scores into probabilities, given the training costs and a temperature.
    cross_fit_ : CrossFit or None
        Rounds, temperature, log-loss and cost on held-out samples.
    selection_ : Selection or None
        With learner="auto": the candidates, their held-out results and their weights in the average.
    history_ : History
        A record of every round. ``history_.table()`` returns columns.
    n_features_in_, feature_names_in_ : int, ndarray of shape (d,)
        Number of features, and their names if the training table had any.
    """

    task_kind: ClassVar[type[ClassTask]] = ClassTask
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "learner": [StrOptions(set(ClassTask.learners)), HasMethods(["prepare"])],
        "n_rounds": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "tol": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto", "papers"})],
        "costs": "no_validation",
        "class_weight": "no_validation",
        "loss": [StrOptions(set(CLASS_LOSSES)), callable],
        "subcosts": [StrOptions({"auto", *SUBCOSTS})],
        "decision": [StrOptions(set(RULES))],
        "training": [StrOptions({"costs", "neutral", "auto"})],
        "cross_fit": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
        "time_budget": [Interval(Real, 0, None, closed="left"), None],
        "reject_cost": [Interval(Real, 0, None, closed="left"), None],
        "reject_label": "no_validation",
        "reject_budget": [Interval(Real, 0, 1, closed="both"), None],
        "shrinkage": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "weight_trimming": [Interval(Real, 0, 1, closed="right"), None],
        "monotone": [dict, None],
    }

    def __init__(  # noqa: PLR0913  (scikit-learn's interface)
        self,
        learner: str | WeakLearner = "auto",
        *,
        n_rounds: int | str = "auto",
        tol: float | str = "auto",
        costs: Any = None,
        class_weight: Any = None,
        loss: AnyClassLoss = "exponential",
        subcosts: str = "auto",
        decision: str = "min_risk",
        training: str = "auto",
        cross_fit: int | str | None = "auto",
        time_budget: float | None = None,
        reject_cost: float | None = None,
        reject_label: Any = None,
        reject_budget: float | None = None,
        shrinkage: float | str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_rounds_no_change: int = 50,
        subsample: float = 1.0,
        feature_subsample: float = 1.0,
        weight_trimming: float | None = None,
        monotone: Mapping[Any, int] | None = None,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.learner = learner
        self.n_rounds = n_rounds
        self.tol = tol
        self.costs = costs
        self.class_weight = class_weight
        self.loss = loss
        self.subcosts = subcosts
        self.decision = decision
        self.training = training
        self.cross_fit = cross_fit
        self.time_budget = time_budget
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.reject_budget = reject_budget
        self.shrinkage = shrinkage
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_rounds_no_change = n_rounds_no_change
        self.subsample = subsample
        self.feature_subsample = feature_subsample
        self.weight_trimming = weight_trimming
        self.monotone = monotone
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def papers(
        cls,
        name: str,
        *,
        depth: int | None = None,
        n_rounds: int | None = None,
        costs: Any = None,
        **options: Any,
    ) -> Self:
        """Return a classifier set to a published method, to the letter.

        Nothing is averaged or decoded: it is a single fit without shrinkage, trained on the costs, which
        decides for the highest score. After `fit`, `citation_` names the section. The documentation page
        "The papers, and where they are" lists what is open in the texts.

        Parameters
        ----------
        name : str
            "local": localized similarities, until the loss is 1/N. "local_sign": the same with responses
            of ±1. "rebel": multi-class boosting of stumps, or of trees if `depth` is given.
            "rebel_trees": the same with trees of depth 2. "quickboost": trees found by the pruned
            search. "adaboost", "logitboost" and "l2boost": exact stumps. The last four are published for
            two classes; with more, they are REBEL with the same loss and learners.
        depth : int, default=None
            Depth of trees. By default 1 for "quickboost", 2 for "rebel_trees", and stumps for others.
        n_rounds : int, default=None
            Maximum number of rounds. By default 6,000 for similarities, 1,000 for "quickboost", else 200.
        costs : array, DataFrame, dict or Taxonomy, default=None
            Costs, as for the classifier.
        **options
            Options of the weak learner, such as `criterion`, `search` or `modes`, and `n_jobs`,
            `random_state`, `verbose`, `callbacks`, `warm_start` or `class_weight`.

        Returns
        -------
        RebelClassifier
            Not fitted.

        Examples
        --------
        >>> from rebelboost import RebelClassifier
        >>> clf = RebelClassifier.papers("adaboost", n_rounds=20)
        >>> clf.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]).citation_
        '[ADA, Secs. 3.1 and 3.4.2]'
        """
        found: Self = published(cls, name, depth=depth, n_rounds=n_rounds, costs=costs, **options)
        return found

    # ---- fitting

    def fit(
        self,
        X: Any,
        y: "ArrayLike",
        sample_weight: "ArrayLike | None" = None,
        *,
        costs: "ArrayLike | None" = None,
        groups: "ArrayLike | None" = None,
        times: "ArrayLike | None" = None,
        validation: "tuple[Any, ArrayLike] | None" = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (N, d)
            Training samples. NaN means missing. In a data frame, text, categorical and Boolean columns
            are categories, and dates count as days since 1970-01-01.
        y : array-like of shape (N,)
            Class labels.
        sample_weight : array-like of shape (N,), default=None
            Sample weights.
        costs : array-like of shape (N, K), default=None
            A row of costs for each sample, in place of the classifier's cost matrix.
        groups : array-like of shape (N,), default=None
            Samples of one group (such as a patient) are held out together.
        times : array-like of shape (N,), default=None
            Numbers or dates. Held-out samples are later than those that a fit is trained on.
        validation : tuple (X, y), default=None
            Samples to evaluate after each round, reported in `history_`. Early stopping uses them
            instead of holding out training samples.

        Returns
        -------
        RebelClassifier : the fitted classifier itself.
        """
        split_by = SplitBy(groups, times)
        self.fit_to(
            lambda start: read_classes(self, X, y, sample_weight, costs, split_by, start),
            validation,
        )
        return self if self.reject_budget is None else self.budgeted()

    def check_together(self, *, validated: bool) -> None:
        """Raise an error if parameters contradict one another."""
        check_agreement(self, validated=validated)

    def validation_samples(
        self, values: Values, y: "ArrayLike", task: Any, like: Samples
    ) -> Samples:
        """Encode validation samples, with the costs of the training samples `like`."""
        labels = known_labels(y, len(values), task.classes)
        return Samples(values, labels, class_costs(like), categorical=like.categorical)

    # ---- deciding

    @property
    def model_(self) -> FittedClassifier:
        """The fitted model; see `rebelboost.model.fitted`.

        It follows the current values of `decision`, `reject_cost` and `reject_label`.
        """
        model: FittedClassifier = self._held()
        rule = rule_of(self, model.reject_level)
        # Compared by identity, since == on an arbitrary label may not return a bool.
        same = all(map(is_, rule, model.rule))
        return model if same else replace(model, rule=rule)

    @model_.setter
    def model_(self, model: Any) -> None:
        self._hold(self.checked_plan(model))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores H(x), (N, K); with two classes H₂(x) − H₁(x), (N,)."""
        return by_class_or_difference(table_scores(self, X))

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, (N, K), computed from the scores; see `cross_fit`."""
        scores = table_scores(self, X)
        return self.model_.posterior(scores)

    def expected_cost(self, X: Any, costs: Any = None) -> Floats:
        """Expected cost of each possible decision, (N, K); `costs` as in `predict`."""
        return self.model_.expected_cost(*self._scores_and_costs(X, costs))

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Predict a class for each sample, or `reject_label` where the model abstains.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Samples.
        costs : array-like of shape (N, K) or (N, K, K), or DataFrame, default=None
            Costs of the samples themselves. (N, K): cost of each decision if it is wrong, one column
            per class. (N, K, K): ``costs[n, true, decided]``. By default the costs of the model: by
            class, from columns named in the cost table, or, after a fit with costs for each sample,
            predicted from the features.
        """
        return self.model_.labels(*self._scores_and_costs(X, costs))

    def _scores_and_costs(self, X: Any, costs: Any) -> tuple[Scores, Floats]:
        model, n_threads = self.model_, threads_of(self.n_jobs)
        values = encode_table(self, X)
        return model.scores(values, n_threads), model.costs_of(values, costs, n_threads)

    def predictor(self) -> ClassPredictor:
        """Return the fitted model as a small object that predicts single samples fast.

        What it says equals `predict`, `predict_proba` and `expected_cost`, bit for bit.

        Returns
        -------
        ClassPredictor
            It never changes, may be shared by threads, and can be pickled.

        Examples
        --------
        >>> from rebelboost import RebelClassifier
        >>> clf = RebelClassifier("stump").fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
        >>> str(clf.predictor().predict([2.5]))
        'b'
        """
        return ClassPredictor(self.model_, record_reader(self))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the scores after each term."""
        values = encode_table(self, X)
        yield from map(
            by_class_or_difference, self.model_.staged_scores(values, threads_of(self.n_jobs))
        )

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after each term."""
        model, values = self.model_, encode_table(self, X)
        costs = model.costs_of(values, n_threads=threads_of(self.n_jobs))
        for scores in model.staged_scores(values, threads_of(self.n_jobs)):
            yield model.labels(scores, costs)

    def with_costs(self, costs: Any) -> Self:
        """Return the same model and probabilities with other costs for its decisions, without refitting.

        Parameters
        ----------
        costs : array, DataFrame, dict, "balanced", Taxonomy or None
            New costs, in any form that the constructor takes. A dict changes only the cells it names.
        """
        costs = self.model_.completed_costs(costs)
        model, other = self.model_.with_costs(costs), copy.copy(self)
        other.costs, other.class_weight, other.model_ = costs, None, model
        return other.rebudgeted()

    # ---- theory, selection, and parts of the model

    @property
    def guarantee_(self) -> "Guarantee":
        """Proven bounds on the training error and loss, beside the achieved values.

        See `rebelboost.theory.guarantee`.
        """
        from rebelboost.theory.guarantee import guarantee_of

        model = self.model_
        return guarantee_of(
            model, self.history_, self.cross_fit_, shrinkage_of(self, self.task_kind)
        )

    @property
    def selection_(self) -> Selection | None:
        """Candidates of learner="auto", their held-out results and their weights, or None."""
        model, found = self.model_, self.cross_fit_
        if not is_race(self.learner) or found is None:
            return None
        return Selection(found.standings, found.cost, percent=is_uniform(model.costs))

    classes_ = of_model("classes", "(K,) class labels, sorted.")
    costs_ = of_model("costs", "(K, K) costs[true, decided] used for decisions.")
    decoder_ = of_model("decoder", "Turns scores into probabilities.")
    class_weight_ = of_model("class_weight", "(K,) total weight of each class's training samples.")
    subcosts_ = of_model("subcosts", 'Scheme that turned costs into weights: "thesis" or "rebel".')
    row_labels_ = of_model("provenance.row_labels", "Row number → name, for stored training rows.")
    example_classes_ = of_model(
        "provenance.example_classes", "Row number → class code, for stored training rows."
    )
    training_facts_ = of_model("provenance.facts", "Facts about the samples used by `guarantee_`.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = getattr(self.learner, "metric", None) == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        tags.input_tags.allow_nan = getattr(self.learner, "takes_missing", True)
        return tags
