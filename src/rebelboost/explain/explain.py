"""Explain a fitted model: its decisions, its predictions, and the model as a whole."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from rebelboost.base.arrays import ByClass, Floats, Values
from rebelboost.base.by_row import ByRow
from rebelboost.base.names import printed
from rebelboost.base.text import number
from rebelboost.explain.explanation import Explanation, Explanations, Verdict
from rebelboost.explain.headline import verdicts
from rebelboost.explain.reasons import ReasonBuilder, Rows
from rebelboost.explain.rules import Wording, date_kinds
from rebelboost.explain.shares import contributions
from rebelboost.explain.summary import ModelSummary, summarise
from rebelboost.explain.usage import importances
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, FittedTerms

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""Empty metadata."""


class Naming(NamedTuple):
    """Names that the fitted model does not store: labels of the samples, and the estimator's `metadata_`."""

    samples: Mapping[int, Any] = MappingProxyType({})
    """Position of a sample → its label in the table's index."""
    metadata: Mapping[str, Any] = NOTHING


def explain_samples(
    model: FittedClassifier | FittedRegressor,
    X: Values,
    *,
    top: int,
    naming: Naming,
    costs: Any = None,
    n_threads: int = 1,
) -> Explanations:
    """Reasons of what the model says of each encoded sample; `costs` are the samples' own, if any."""
    if top < 1:
        raise ValueError(f"top is {top}: give 1 or more")
    scores = model.ensemble.scores(X, n_threads)
    said = contributions(model.ensemble, X, n_threads)
    if isinstance(model, FittedClassifier):
        found = verdicts(model, scores, model.costs_of(X, costs, n_threads))
    else:
        found = [_prediction(y) for y in model.baseline + scores]
        said = replace(said, baseline=said.baseline + model.baseline)
    builder = ReasonBuilder(
        model.ensemble, said, wording_of(model, naming.metadata), rows_of(model)
    )
    labels = naming.samples
    return Explanations(
        [
            Explanation(verdict, n, labels.get(n, n), X[n], model.class_names, builder, top)
            for n, verdict in enumerate(found)
        ]
    )


def _prediction(y: ByClass) -> Verdict:
    return Verdict(float(y[0]), f"Predicted: {number(float(y[0]))}", y)


def summary_of(
    model: FittedTerms, *, top: int, metadata: Mapping[str, Any] = NOTHING
) -> ModelSummary:
    """Summarise a fitted model."""
    wording = wording_of(model, metadata)
    return summarise(model.ensemble, wording, rows_of(model), model.class_names, top)


def feature_shares(model: FittedTerms) -> Floats:
    """(d,) how much the splits of trees on each feature change the scores; the shares sum to 1."""
    sizes = importances(model.ensemble, model.n_features)
    credited = any(group.terms.credits_features for group in model.ensemble.groups)
    if not credited or (model.ensemble.example_rows and not sizes.any()):  # an offset is a tree
        raise AttributeError(
            "feature_importances_ need trees or a smooth function, and this model has none: similarities "
            "compare all features at once. summary() lists the training rows they use"
        )
    return sizes / (sizes.sum() or 1.0)


def wording_of(model: FittedTerms, metadata: Mapping[str, Any] = NOTHING) -> Wording:
    """Names of the features and of their values; `metadata` tells which features are dates or times."""
    names, missing = model.shown_names, frozenset(model.provenance.missing_features)
    classes = () if model.class_names is None else tuple(map(printed, model.class_names))
    return Wording(names, model.encoder.levels, missing, date_kinds(metadata, names), classes)


def rows_of(model: FittedTerms) -> Rows:
    """Names and classes of the stored training rows."""
    kept, names = model.provenance, model.class_names
    if names is None:
        return Rows({}, {})
    rows = list(kept.example_classes)
    classes = ByRow(rows, [names[k] for k in kept.example_classes.values()])
    if kept.example_values is None:
        return Rows(kept.row_labels, classes)
    return Rows(kept.row_labels, classes, ByRow(rows, list(kept.example_values)))
