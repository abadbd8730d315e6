"""Fitted models: everything needed to predict, decide and explain.

An estimator holds one as `model_`. Explanations, guarantees, evaluation, reports, files and the command line
read it. Its methods take encoded samples (numbers, with codes for categories) or scores. The estimator
checks and encodes the user's tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, BySample, Floats, Labels, Scores, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.names import plain, printed
from rebelboost.costs.by_sample import CostColumns, columns_of, completed, own_costs
from rebelboost.costs.decision import DecisionRule, expected_costs, with_abstentions
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.data.spread import Spreads
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.intervals import Intervals
from rebelboost.model.training_counts import TrainingCounts


class LearnedCell(NamedTuple):
    """A cost that depends on the sample: `baseline`, and what the terms add to it."""

    true: int
    decided: int
    """−1: the terms predict a factor of the whole row."""
    baseline: float
    ensemble: Ensemble

    def predict(self, X: Values, n_threads: int = 1) -> Floats:
        """(N,) expected costs, or factors; never negative."""
        return np.maximum(self.baseline + self.ensemble.scores(X, n_threads)[:, 0], 0.0)


class LearnedCosts(NamedTuple):
    """The cells of the cost matrix that depend on the sample.

    Costs that were given for each training sample are not known of new ones. Where they depend on the
    features, as the cost of a missed fraud on its amount, trees learn them: one regression for each cell of
    the cost matrix that varies.
    """

    cells: Sequence[LearnedCell]

    def applied(self, matrix: Floats, X: Values, n_threads: int = 1) -> Floats:
        """(N, K, K) the matrix, with those cells replaced by what is expected for each sample."""
        cube = np.tile(matrix, (len(X), 1, 1))
        for cell in self.cells:
            predicted = cell.predict(X, n_threads)
            if cell.decided < 0:
                cube[:, cell.true] *= predicted[:, np.newaxis]
            else:
                cube[:, cell.true, cell.decided] = predicted
        return cube


FACTS = (
    "zero_level",
    "cost_at_argmax",
    "cost_as_decided",
    "n_points",
    "by_sample",
    "floor",
    "least_loss",
)
"""Names of the facts, each present only if known. `zero_level`, `cost_at_argmax`, `cost_as_decided` and
`floor` are fields of `Guarantee`; `n_points` is the number of distinct samples, for similarities;
`by_sample` is 1 if costs were given by sample; `least_loss` is c* of `RebelLevels`. `floor` is missing if
the loss does not bound the cost.
"""


@dataclass(frozen=True)
class Provenance:
    """What a model keeps from its training table."""

    missing_features: list[int] = field(default_factory=list)
    """Indices of the features with missing values."""
    row_labels: Mapping[int, Any] = field(default_factory=dict)
    """Row number → label in the table's index, for rows that are examples."""
    example_classes: Mapping[int, int] = field(default_factory=dict)
    """Row number → class code, for rows that are examples."""
    example_values: Values | None = field(default=None, compare=False)
    """(E, d) encoded values of these rows, in the same order; None if they are not kept."""
    facts: dict[str, float] = field(default_factory=dict)
    """`FACTS` → number, for guarantees; `rebelboost.theory.facts` computes them."""
    spreads: Spreads | None = None
    """How much the values of each feature differ; None in older models, and if samples were not in memory."""
    seen: TrainingCounts | None = field(default=None, compare=False)
    """Counts of the training rows, which new rows are compared with; None if they were not counted."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTerms:
    """Common part of fitted classifiers and regressors."""

    encoder: FeatureEncoder
    """Encodes tables as numbers."""
    feature_names: NDArray[Any] | None
    """(d,) names in the training table; None if it had none."""
    ensemble: Ensemble
    """The terms."""
    provenance: Provenance = field(default_factory=Provenance)
    monotone: tuple[tuple[int, int], ...] = ()
    """(feature, +1 or −1): scores are proved to rise or fall with these features; see `model.monotone`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.ensemble)} terms, {self.n_features} features)"

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.encoder.n_features

    @property
    def shown_names(self) -> tuple[str, ...]:
        """(d,) feature names as text; x0, x1, … if there are none."""
        if self.feature_names is None:
            return tuple(f"x{f}" for f in range(self.n_features))
        return tuple(map(printed, self.feature_names))

    @property
    def class_names(self) -> tuple[Any, ...] | None:
        """Class labels; None in a regression."""
        return None

    def with_row_labels(self, labels: Mapping[int, Any]) -> Self:
        """The same model with other names for its training rows."""
        return replace(self, provenance=replace(self.provenance, row_labels=dict(labels)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedClassifier(FittedTerms):
    """A fitted classifier: scores, probabilities and decisions."""

    classes: NDArray[Any]
    """(K,) class labels, sorted."""
    class_weight: ByClass
    """(K,) total weight of each class's training samples."""
    costs: Floats
    """(K, K) costs[true, decided] used for decisions."""
    decoder: Decoder
    """Turns scores into probabilities."""
    rule: DecisionRule
    """How decisions follow, and when the model abstains."""
    columns: CostColumns | None = None
    """Costs that columns of the table hold."""
    reject_level: float | None = None
    """Least expected cost above which a budget of abstentions lets the model abstain; None: no budget."""
    learned: LearnedCosts | None = None
    """Costs as they depend on the sample, where they were given for each training sample."""

    @property
    def class_names(self) -> tuple[Any, ...]:
        """Class labels as Python objects."""
        return tuple(plain(name) for name in self.classes)

    @property
    def subcosts(self) -> str:
        """Scheme that turned costs into weights in training."""
        return self.decoder.subcosts

    @property
    def by_sample(self) -> bool:
        """Whether costs differ from sample to sample."""
        return self.columns is not None or self.learned is not None

    @cached_property
    def weighs_costs(self) -> bool:
        """Whether decisions can differ from the highest score."""
        differ = self.by_sample or not is_uniform(self.costs)
        return self.rule.by_cost and differ

    @property
    def positive(self) -> int | None:
        """Code of the positive class, unless another is named; None if there are not two classes.

        It is the class that is more expensive to miss; if both cost the same, the rarer one in the training
        data; if both are equally frequent, the second in sorted order.
        """
        if len(self.classes) != 2:
            return None
        missed, rarity = (self.costs[0, 1], self.costs[1, 0]), -np.asarray(self.class_weight)
        return int((missed[1], rarity[1]) >= (missed[0], rarity[0]))

    @property
    def frequencies(self) -> ByClass:
        """(K,) share of each class in the training samples."""
        weight: ByClass = np.asarray(self.class_weight, dtype=np.float64)
        return weight / weight.sum()

    def with_priors(self, priors: ByClass | None) -> Self:
        """The same model for rows with these frequencies of the classes; None: those of training."""
        shift = None
        if priors is not None:
            trained = np.maximum(self.frequencies, 1e-300)
            shift = tuple((priors / trained).tolist())
        return replace(self, decoder=replace(self.decoder, shift=shift))

    def costs_of(self, X: Values, given: Any = None, n_threads: int = 1) -> Floats:
        """Costs of decisions on encoded samples: (K, K), or (N, K, K) where they differ.

        In this order: those that are given for the samples (`own_costs`), those that columns of the
        table hold, those that were learned from the training samples' own, those by class.
        """
        if given is not None:
            self._check_costs_count()
            return own_costs(given, len(X), list(self.classes))
        if self.columns is not None:
            return self.columns.applied(self.costs, X, self.shown_names)
        if self.learned is not None:
            return self.learned.applied(self.costs, X, n_threads)
        return self.costs

    def scores(self, X: Values, n_threads: int = 1) -> Scores:
        """(N, K) H(x) of encoded samples."""
        return self.ensemble.scores(X, n_threads)

    def staged_scores(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """Yield the scores after each term."""
        return self.ensemble.staged_scores(X, n_threads)

    def posterior(self, scores: Scores) -> Floats:
        """(N, K) class probabilities."""
        return self.decoder.posterior(scores)

    def expected_cost(self, scores: Scores, costs: Floats | None = None) -> Floats:
        """(N, K) expected cost of each decision; `costs` as returned by `costs_of`."""
        return expected_costs(self.posterior(scores), self.costs if costs is None else costs)

    def decide(self, scores: Scores, costs: Floats | None = None) -> Labels:
        """(N,) class codes of the decisions, ignoring abstentions."""
        return self.rule.decide(scores, self.decoder, self.costs if costs is None else costs)

    def labels(self, scores: Scores, costs: Floats | None = None) -> NDArray[Any]:
        """(N,) labels of the decisions; the rule's `reject_label` where the model abstains."""
        decided: NDArray[Any] = self.classes[self.decide(scores, costs)]
        abstained = self.abstains(scores, costs)
        if abstained is None:
            return decided
        return with_abstentions(decided, abstained, self.rule.reject_label)

    def abstains(self, scores: Scores, costs: Floats | None = None) -> NDArray[np.bool_] | None:
        """(N,) whether the model abstains; None if it never does."""
        if self.rule.reject_cost is None:
            return None
        return self.expected_cost(scores, costs).min(axis=1) > self.rule.reject_cost

    def completed_costs(self, costs: Any) -> Any:
        """New costs; to a dict, the present costs of the cells that it does not name are added."""
        return completed(costs, list(self.classes), self.costs, self.columns, self.shown_names)

    def with_costs(self, costs: Any) -> Self:
        """The same model with other costs for its decisions, in any form that `fit` accepts."""
        self._check_costs_count()
        names = None if self.feature_names is None else self.shown_names
        numbers, columns = columns_of(costs, list(self.classes), names, self.encoder.categorical)
        matrix = cost_matrix(numbers, list(self.classes), self.class_weight)
        return replace(self, costs=matrix, columns=columns, learned=None)

    def _check_costs_count(self) -> None:
        """Raise an error if decisions do not depend on costs."""
        if not self.rule.by_cost:
            raise ValueError(
                f'decision="{self.rule.name}" ignores costs: other costs need decision="min_risk"'
            )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedRegressor(FittedTerms):
    """A fitted regressor: a baseline plus the sum of the terms."""

    baseline: float
    """Prediction before the first term."""
    intervals: Intervals | None = None
    """Residuals of held-out samples; None if there are none."""

    def predict(self, X: Values, n_threads: int = 1) -> BySample:
        """(N,) predictions for encoded samples."""
        return self.baseline + self.ensemble.scores(X, n_threads)[:, 0]

    def predict_interval(self, X: Values, coverage: float, n_threads: int = 1) -> Floats:
        """(N, 2) lower and upper ends of intervals that cover this share of targets."""
        if self.intervals is None:
            raise ValueError(
                "prediction intervals need the residuals of held-out samples, which this fit has not: "
                "fit with cross_fit=5"
            )
        return self.intervals.bounds(X, self.predict(X, n_threads), coverage, n_threads)

    def staged_predict(self, X: Values, n_threads: int = 1) -> Iterator[BySample]:
        """Yield the predictions after each term."""
        for scores in self.ensemble.staged_scores(X, n_threads):
            yield self.baseline + scores[:, 0]
