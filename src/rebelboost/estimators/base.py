"""Base class of both estimators: it holds a fitted model and delegates to it."""

import copy
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import Floats, Scores, Values
from rebelboost.boosting.rounds import History
from rebelboost.estimators.fitting import TrainingInput, Validation, fit_input
from rebelboost.estimators.papers import paper_of
from rebelboost.estimators.validation import deadline_of, encode_features, index_labels, threads_of
from rebelboost.exceptions import ModelFileError
from rebelboost.model.fitted import FittedTerms
from rebelboost.selection.result import CrossFit

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanations
    from rebelboost.explain.summary import ModelSummary


SHARED_CONSTRAINTS: dict[str, Any] = {
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_rounds_no_change": [Interval(Integral, 1, None, closed="left")],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "feature_subsample": [Interval(Real, 0, 1, closed="right")],
    "warm_start": ["boolean"],
    "callbacks": [list, tuple, None],
    "verbose": ["verbose"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state", np.random.Generator],
}
"""Allowed values of the parameters that both estimators have."""
LARGEST_INTEGER = 1e300
"""Limit of integers among the parameters: a float can hold them."""


def encode_table(estimator: Any, X: Any) -> Values:
    """Check `X` and encode it as the numbers that `estimator.model_` was fitted on."""
    return encode_features(estimator, X, estimator.model_.encoder)


def table_scores(estimator: Any, X: Any) -> Scores:
    """(N, K) scores of a table: one column per class, also with two classes."""
    model: FittedTerms = estimator.model_
    values = encode_features(estimator, X, model.encoder)
    return model.ensemble.scores(values, threads_of(estimator.n_jobs))


def of_model(path: str, doc: str) -> property:
    """Read-only property of an estimator that returns an attribute of its fitted model."""
    found = attrgetter(path)
    return property(lambda estimator: found(estimator.model_), doc=doc)


@contextmanager
def kept_on_failure(estimator: Any) -> Iterator[None]:
    """Undo a fit that fails or is interrupted: the estimator holds the last model, and fits its table."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        history = before.get("history_")
        if history is not None and len(history) > len(history.terms):  # of a warm start
            del history.rounds[len(history.terms) :]
        raise


def with_parameters(kind: Any, parameters: Mapping[str, Any]) -> Any:
    """Create an estimator with the parameters in a file."""
    try:
        estimator = kind(**parameters)
        estimator.check_parameters()
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"has invalid parameters ({error})") from None
    return estimator


class BoostedEstimator(BaseEstimator):
    """Estimator that holds a fitted model."""

    _parameter_constraints: ClassVar[dict[str, Any]]
    _model: Any
    n_jobs: int | None
    warm_start: bool
    history_: History
    cross_fit_: CrossFit | None

    @property
    def model_(self) -> Any:
        """The fitted model; see `rebelboost.model.fitted`."""
        return self._held()

    @model_.setter
    def model_(self, model: Any) -> None:
        self._hold(model)

    def _held(self) -> Any:
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises
        return self._model

    def _hold(self, model: FittedTerms) -> None:
        self._model = model
        self.n_features_in_ = model.n_features
        if model.feature_names is not None:
            self.feature_names_in_ = model.feature_names

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @property
    def citation_(self) -> str | None:
        """Where the method is published, if the parameters are those of `papers`; else None."""
        check_is_fitted(self)
        paper = paper_of(self)
        return None if paper is None else paper.citation

    def check_together(self, *, validated: bool) -> None:
        """Raise an error if parameters contradict one another."""
        raise NotImplementedError

    def fit_to(self, read: Callable[[Any], TrainingInput], validation: Validation) -> Self:
        """Fit to the input that `read` returns, given the model that a warm start continues."""
        self._validate_params()
        self.check_together(validated=validation is not None)
        start, deadline = self._previous(), deadline_of(self)
        with kept_on_failure(self):
            found = fit_input(self, read(start), validation, start, deadline)
            self.model_ = found.model
        self.history_, self.cross_fit_ = found.history, found.cross_fit
        return self

    def _previous(self) -> Any:
        """The model that a warm start continues; None if there is none."""
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return None
        if self.cross_fit_ is not None:
            raise ValueError(
                "the previous fit is an average of several fits, which cannot be continued: set "
                "warm_start=False, or fit with cross_fit=None first"
            )
        return self.model_

    ensemble_ = of_model("ensemble", "Ensemble: the terms of the model.")
    missing_features_ = of_model(
        "provenance.missing_features", "Indices of the features with missing training values."
    )

    @property
    def metadata_(self) -> dict[str, Any]:
        """Dict for your own use, of anything that JSON can represent.

        It is saved and loaded with the model.
        """
        kept: dict[str, Any] = self.__dict__.setdefault("_metadata", {})
        return kept

    @metadata_.setter
    def metadata_(self, given: Mapping[str, Any]) -> None:
        self.__dict__["_metadata"] = dict(given)

    def with_row_labels(self, labels: Mapping[int, Any]) -> Self:
        """Return the same model with other names for its training rows in explanations.

        Parameters
        ----------
        labels : mapping
            Row number, counted from 0, to text or number.
        """
        model = self.model_.with_row_labels(labels)
        other = copy.copy(self)
        other.model_ = model
        return other

    def check_parameters(self) -> None:
        """Raise an error if a parameter is invalid. `fit` and `save` call this."""
        self._validate_params()

    def _validate_params(self) -> None:
        given = self.get_params(deep=False)
        for name, value in given.items():
            if isinstance(value, int) and not -LARGEST_INTEGER < value < LARGEST_INTEGER:
                raise ValueError(f"{name} is out of range: give a number below {LARGEST_INTEGER:g}")
        validate_parameter_constraints(self._parameter_constraints, given, type(self).__name__)

    def save(
        self, path: str | os.PathLike[str], *, rows: str = "values", names: bool = True
    ) -> None:
        """Save the model to a file. `rebelboost.load` reads it.

        Everything is saved except callbacks. The file is written atomically: if saving fails, an
        existing file is left unchanged. The documentation page "Model files" describes the format.

        Parameters
        ----------
        path : str or path-like
            File to write. By convention, the name ends in ``.safetensors``.
        rows : {"values", "ids", "none"}, default="values"
            What is kept of the training rows that cases are compared with: their values; their names
            and numbers (their values can still be computed from the comparisons); or nothing of any
            row, which needs a model of trees. See the documentation page "Privacy".
        names : bool, default=True
            Whether the rows are kept with their names in the table's index.
        """
        from rebelboost.files.model_file import (  # rarely needed
            StoredModel,
            unpack_model,
            write_model,
        )
        from rebelboost.files.training_rows import limited

        model = self.model_
        self.check_parameters()  # `load` checks them too: fail now rather than then
        # A subclass is stored, and loaded, as the estimator that it is derived from.
        kind = next(c for c in type(self).__mro__ if c.__module__.startswith("rebelboost."))
        known = {kind.__name__: kind().get_params(deep=False).keys()}
        stored = StoredModel(
            kind.__name__,
            self.get_params(deep=False),
            model,
            self.history_,
            self.cross_fit_,
            self.metadata_,
            getattr(self, "plan_", None),
        )
        write_model(
            limited(stored, rows, names=names),
            path,
            lambda contents: with_parameters(kind, unpack_model(contents, known).parameters),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain JSON data, to be evaluated in other languages.

        The documentation page "Model files" describes the layout.

        Returns
        -------
        dict
            Strings, numbers, lists and dicts only.
        """
        from rebelboost.files.plain_json import as_plain

        return as_plain(self.model_, type(self).__name__)

    def export(self, path: str | os.PathLike[str], *, bins: bool = False) -> None:
        """Write the model as a program, which gives the same scores, probabilities and decisions.

        The documentation page "Models in other languages" shows how to use it.

        Parameters
        ----------
        path : str or path-like
            File to write. Its suffix chooses the language: ``.c`` for C99, ``.js`` or ``.mjs`` for
            JavaScript, ``.onnx`` for ONNX (needs the package onnx), ``.json`` for the data of `to_dict`.
        bins : bool, default=False
            Whether C is to compute with integers only, for machines without floating point. Samples are
            then the bins of their values.

        Raises
        ------
        ExportError
            If the model wraps classifiers of other libraries, or uses distances that are not Euclidean.
            With `bins`, also if integers cannot give the same scores and decisions.
        """
        from rebelboost.export import export_model

        plan = getattr(self, "plan_", None)  # of a cascade, which only classifiers have
        export_model(self.model_, path, type(self).__name__, self.metadata_, bins=bins, plan=plan)

    def explain(self, X: Any, *, top: int = 5, costs: Any = None) -> "Explanations":
        """Explain the decision (or, in regression, the prediction) for each sample.

        Parameters
        ----------
        X : array-like or DataFrame of shape (N, d)
            Samples to explain.
        top : int, default=5
            Number of reasons shown in texts and in `terms`. Tables contain all of them.
        costs : array-like or DataFrame, default=None
            Costs of the samples themselves, as in `RebelClassifier.predict`.

        Returns
        -------
        Explanations
            One explanation per sample: ``print(model.explain(X)[0])``.
        """
        from rebelboost.explain.explain import Naming, explain_samples  # rarely needed

        values = encode_table(self, X)
        naming = Naming(index_labels(X, range(len(values))), self.metadata_)
        n_threads = threads_of(self.n_jobs)
        return explain_samples(
            self.model_, values, top=top, naming=naming, costs=costs, n_threads=n_threads
        )

    def summary(self, *, top: int = 10) -> "ModelSummary":
        """Summarise the model: the features, training rows and rules it uses most.

        With more than two classes, it also lists the pairs of classes that early and later rounds
        separate.

        Parameters
        ----------
        top : int, default=10
            Number of entries of each kind in the text. Tables contain all entries, and ten times
            `top` rules.

        Returns
        -------
        ModelSummary
            Print it, or read its tables.
        """
        from rebelboost.explain.explain import summary_of

        return summary_of(self.model_, top=top, metadata=self.metadata_)

    @property
    def feature_importances_(self) -> Floats:
        """(d,) importance of each feature; the importances sum to 1.

        The importance is the feature's share of what splits and comparisons change in the scores,
        averaged over the training samples.
        """
        from rebelboost.explain.explain import feature_shares

        return feature_shares(self.model_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
