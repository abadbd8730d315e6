"""Fitted models: everything needed to predict, decide and explain.

An estimator holds one as `model_`. Explanations, guarantees, evaluation, reports, files and the command line
read it. Its methods take encoded samples (numbers, with codes for categories) or scores. The estimator
checks and encodes the user's tables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, BySample, Floats, Labels, Scores, Values
from rebelboost.base.names import plain, printed
from rebelboost.costs.decision import DecisionRule, expected_costs, with_abstentions
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.model.ensemble import Ensemble


@dataclass(frozen=True)
class Provenance:
    """What a model keeps from its training table."""

    missing_features: list[int] = field(default_factory=list)
    """Indices of the features with missing values."""
    row_labels: dict[int, Any] = field(default_factory=dict)
    """Row number → label in the table's index, for rows that are examples."""
    example_classes: dict[int, int] = field(default_factory=dict)
    """Row number → class code, for rows that are examples."""
    facts: dict[str, float] = field(default_factory=dict)
    """Facts about the samples that guarantees need; see `rebelboost.theory.facts`."""


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
    subcosts: str
    """Scheme that turned costs into weights in training."""
    rule: DecisionRule
    """Decision rule, and when to abstain."""

    @property
    def class_names(self) -> tuple[Any, ...]:
        """Class labels as Python objects."""
        return tuple(plain(name) for name in self.classes)

    @cached_property
    def decodes(self) -> bool:
        """Whether scores have a posterior. REBEL's subcosts have none, except with uniform costs."""
        return self.subcosts == "thesis" or is_uniform(self.decoder.costs)

    @cached_property
    def weighs_costs(self) -> bool:
        """Whether decisions can differ from the class with the highest score."""
        return self.rule.by_cost and not is_uniform(self.costs) and self.decodes

    def scores(self, X: Values, n_threads: int = 1) -> Scores:
        """(N, K) H(x) of encoded samples."""
        return self.ensemble.scores(X, n_threads)

    def staged_scores(self, X: Values, n_threads: int = 1) -> Iterator[Scores]:
        """Yield the scores after each term."""
        return self.ensemble.staged_scores(X, n_threads)

    def posterior(self, scores: Scores) -> Floats:
        """(N, K) class probabilities."""
        if not self.decodes:
            raise ValueError(
                'scores trained with subcosts="rebel" on unequal costs have no probabilities: '
                'use subcosts="thesis", or training="neutral"'
            )
        return self.decoder.posterior(scores)

    def expected_cost(self, scores: Scores) -> Floats:
        """(N, K) expected cost of each decision."""
        return expected_costs(self.posterior(scores), self.costs)

    def decide(self, scores: Scores) -> Labels:
        """(N,) class codes of the decisions, ignoring abstentions."""
        return self.rule.decide(scores, self.decoder if self.decodes else None, self.costs)

    def labels(self, scores: Scores) -> NDArray[Any]:
        """(N,) labels of the decisions; the rule's `reject_label` where the model abstains."""
        decided: NDArray[Any] = self.classes[self.decide(scores)]
        if self.rule.reject_cost is None:
            return decided
        abstained = self.expected_cost(scores).min(axis=1) > self.rule.reject_cost
        return with_abstentions(decided, abstained, self.rule.reject_label)

    def with_costs(self, costs: Any) -> Self:
        """The same model with other costs for its decisions, in any form that `cost_matrix` reads."""
        if not self.rule.by_cost:
            raise ValueError(
                f'decision="{self.rule.name}" ignores costs: with_costs needs decision="min_risk"'
            )
        self.posterior(np.zeros((1, len(self.classes))))  # raises an error if there is none
        return replace(self, costs=cost_matrix(costs, list(self.classes), self.class_weight))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedRegressor(FittedTerms):
    """A fitted regressor: a baseline plus the sum of the terms."""

    baseline: float
    """Prediction before the first term."""

    def predict(self, X: Values, n_threads: int = 1) -> BySample:
        """(N,) predictions for encoded samples."""
        return self.baseline + self.ensemble.scores(X, n_threads)[:, 0]

    def staged_predict(self, X: Values, n_threads: int = 1) -> Iterator[BySample]:
        """Yield the predictions after each term."""
        for scores in self.ensemble.staged_scores(X, n_threads):
            yield self.baseline + scores[:, 0]
