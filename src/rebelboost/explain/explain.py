"""Explain a fitted model: its decisions on samples, its predictions, and the model as a whole."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rebelboost.base.arrays import ByClass, Floats, Values
from rebelboost.explain.explanation import Explanation, Explanations, Verdict
from rebelboost.explain.headline import amount, verdicts
from rebelboost.explain.reasons import Rows, Speaker
from rebelboost.explain.rules import Wording
from rebelboost.explain.shares import contributions
from rebelboost.explain.summary import ModelSummary, summarise
from rebelboost.explain.usage import importances
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, FittedTerms
from rebelboost.model.trees import GrownTree


def explain_samples(
    model: FittedClassifier | FittedRegressor,
    X: Values,
    *,
    top: int,
    labels: Mapping[int, Any],
    n_threads: int = 1,
) -> Explanations:
    """Reasons of what the model says of each encoded sample; `labels` name samples by their numbers."""
    if top < 1:
        raise ValueError(f"top is {top}: ask for one reason at least")
    scores = model.ensemble.scores(X, n_threads)
    said = contributions(model.ensemble, X, n_threads)
    if isinstance(model, FittedClassifier):
        found = verdicts(model, scores)
    else:
        found = [_prediction(y) for y in model.baseline + scores]
        said = replace(said, baseline=said.baseline + model.baseline)
    speaker = Speaker(model.ensemble, said, wording_of(model), rows_of(model))
    return Explanations(
        [
            Explanation(verdict, n, labels.get(n, n), X[n], model.class_names, speaker, top)
            for n, verdict in enumerate(found)
        ]
    )


def _prediction(y: ByClass) -> Verdict:
    return Verdict(float(y[0]), f"Predicted: {amount(float(y[0]))}", y)


def summary_of(model: FittedTerms, top: int) -> ModelSummary:
    """What the model learned."""
    return summarise(model.ensemble, wording_of(model), rows_of(model), model.class_names, top)


def feature_shares(model: FittedTerms) -> Floats:
    """(d,) how much the questions of trees about each feature change the scores; they sum to 1."""
    if not any(isinstance(term.hypothesis, GrownTree) for term in model.ensemble.terms):
        raise AttributeError(
            "feature_importances_ are those of trees, and this model has none: similarities "
            "compare all features at once; summary() tells which training rows they use"
        )
    sizes = importances(model.ensemble, model.n_features)
    return sizes / (sizes.sum() or 1.0)


def wording_of(model: FittedTerms) -> Wording:
    """How its features and their values are called."""
    missing = frozenset(model.provenance.missing_features)
    return Wording(model.shown_names, model.encoder.levels, missing)


def rows_of(model: FittedTerms) -> Rows:
    """How its training rows are called, and their classes."""
    kept, names = model.provenance, model.class_names
    if names is None:
        return Rows({}, {})
    return Rows(kept.row_labels, {row: names[k] for row, k in kept.example_classes.items()})
