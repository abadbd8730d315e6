"""Fitted models: everything that predictions, decisions and reasons follow from.

An estimator holds one as `model_`. Explanations, guarantees, evaluation, reports, files and the
command read it. Its methods take encoded samples (numbers, with codes in place of categories) or
scores; checking and encoding a user's table is the estimator's part.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, BySample, Floats, Labels, Scores, Values
from rebelboost.base.names import plain, printed
from rebelboost.costs.by_sample import CostColumns, columns_of, own_costs
from rebelboost.costs.decision import DecisionRule, expected_costs, with_abstentions
from rebelboost.costs.matrix import cost_matrix, is_uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.encoder import FeatureEncoder
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.learned_costs import LearnedCosts


@dataclass(frozen=True)
class Provenance:
    """What a model remembers of the table that it was trained on."""

    missing_features: list[int] = field(default_factory=list)
    """Features with missing values."""
    row_labels: dict[int, Any] = field(default_factory=dict)
    """Row number → what the table's index calls it; only of rows that are examples."""
    example_classes: dict[int, int] = field(default_factory=dict)
    """Row number → code of its class; only of rows that are examples."""
    facts: dict[str, float] = field(default_factory=dict)
    """What guarantees need to know of the samples; see `rebelboost.theory.facts`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTerms:
    """What fitted classifiers and regressions have in common."""

    encoder: FeatureEncoder
    feature_names: NDArray[Any] | None
    """(d,) as in the table; None where it had no names."""
    ensemble: Ensemble
    provenance: Provenance = field(default_factory=Provenance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.ensemble)} terms, {self.n_features} features)"

    @property
    def n_features(self) -> int:
        """D."""
        return self.encoder.n_features

    @property
    def shown_names(self) -> tuple[str, ...]:
        """(d,) names of the features as text; x0, x1, … where they have none."""
        if self.feature_names is None:
            return tuple(f"x{f}" for f in range(self.n_features))
        return tuple(map(printed, self.feature_names))

    @property
    def class_names(self) -> tuple[Any, ...] | None:
        """Labels of the classes; None in a regression."""
        return None

    def with_row_labels(self, labels: Mapping[int, Any]) -> Self:
        """The same model, with other names for rows of the training table."""
        return replace(self, provenance=replace(self.provenance, row_labels=dict(labels)))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedClassifier(FittedTerms):
    """Scores, then probabilities, then decisions."""

    classes: NDArray[Any]
    """(K,) labels, sorted."""
    class_weight: ByClass
    """(K,) weight of the training samples of each class."""
    costs: Floats
    """(K, K) costs[true, decided] that decisions follow."""
    decoder: Decoder
    """Turns scores into probabilities."""
    subcosts: str
    """How costs became weights in training."""
    rule: DecisionRule
    """How decisions follow, and when the model abstains."""
    columns: CostColumns | None = None
    """Costs that columns of the table hold."""
    learned: LearnedCosts | None = None
    """Costs as they depend on the sample, where they were given for each training sample."""

    @property
    def class_names(self) -> tuple[Any, ...]:
        """Labels of the classes, as Python's own types."""
        return tuple(plain(name) for name in self.classes)

    @cached_property
    def decodes(self) -> bool:
        """Whether there is a posterior: REBEL's subcosts have none, except for uniform costs."""
        return self.subcosts == "thesis" or is_uniform(self.decoder.costs)

    @property
    def by_sample(self) -> bool:
        """Whether costs differ from sample to sample."""
        return self.columns is not None or self.learned is not None

    @cached_property
    def weighs_costs(self) -> bool:
        """Whether decisions can differ from the highest score."""
        differ = self.by_sample or not is_uniform(self.costs)
        return self.rule.by_cost and differ and self.decodes

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
        """Scores after each term."""
        return self.ensemble.staged_scores(X, n_threads)

    def posterior(self, scores: Scores) -> Floats:
        """(N, K) probabilities of the classes."""
        if not self.decodes:
            raise ValueError(
                'scores trained with subcosts="rebel" on unequal costs give no probabilities: '
                'use subcosts="thesis", or training="neutral"'
            )
        return self.decoder.posterior(scores)

    def expected_cost(self, scores: Scores, costs: Floats | None = None) -> Floats:
        """(N, K) what each decision is expected to cost; `costs` are those of `costs_of`."""
        return expected_costs(self.posterior(scores), self.costs if costs is None else costs)

    def decide(self, scores: Scores, costs: Floats | None = None) -> Labels:
        """(N,) codes of the classes decided for, as if the model never abstained."""
        decoder = self.decoder if self.decodes else None
        return self.rule.decide(scores, decoder, self.costs if costs is None else costs)

    def labels(self, scores: Scores, costs: Floats | None = None) -> NDArray[Any]:
        """(N,) labels decided for, and the rule's own label where the model abstains."""
        decided: NDArray[Any] = self.classes[self.decide(scores, costs)]
        if self.rule.reject_cost is None:
            return decided
        abstained = self.expected_cost(scores, costs).min(axis=1) > self.rule.reject_cost
        return with_abstentions(decided, abstained, self.rule.reject_label)

    def with_costs(self, costs: Any) -> Self:
        """The same model, deciding by other costs, in any form that `cost_matrix` reads."""
        self._check_costs_count()
        names = None if self.feature_names is None else self.shown_names
        numbers, columns = columns_of(costs, list(self.classes), names, self.encoder.categorical)
        matrix = cost_matrix(numbers, list(self.classes), self.class_weight)
        return replace(self, costs=matrix, columns=columns, learned=None)

    def _check_costs_count(self) -> None:
        """Refuse other costs where decisions do not depend on costs, or there is no posterior."""
        if not self.rule.by_cost:
            raise ValueError(
                f'decision="{self.rule.name}" knows no costs: other costs need "min_risk"'
            )
        self.posterior(np.zeros((1, len(self.classes))))  # refuses, where there is none


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FittedRegressor(FittedTerms):
    """A baseline and what the terms add to it."""

    baseline: float
    """Predicted before the first term."""

    def predict(self, X: Values, n_threads: int = 1) -> BySample:
        """(N,) predictions for encoded samples."""
        return self.baseline + self.ensemble.scores(X, n_threads)[:, 0]

    def staged_predict(self, X: Values, n_threads: int = 1) -> Iterator[BySample]:
        """Predictions after each term."""
        for scores in self.ensemble.staged_scores(X, n_threads):
            yield self.baseline + scores[:, 0]
