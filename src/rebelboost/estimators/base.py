"""What both estimators share: they hold a fitted model, and pass questions on to it."""

import os
from collections.abc import Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import Floats, Scores, Values
from rebelboost.boosting.rounds import History
from rebelboost.estimators.inputs import encode_features, index_labels, threads_of
from rebelboost.model.fitted import FittedTerms

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanations
    from rebelboost.explain.summary import ModelSummary


def encode_table(estimator: Any, X: Any) -> Values:
    """Check `X`, and turn it into the numbers that the fitted model `estimator.model_` takes."""
    return encode_features(estimator, X, estimator.model_.encoder)


def table_scores(estimator: Any, X: Any) -> Scores:
    """(N, K) scores of a table: a column for each class, also with two classes."""
    model: FittedTerms = estimator.model_
    values = encode_features(estimator, X, model.encoder)
    return model.ensemble.scores(values, threads_of(estimator.n_jobs))


def of_model(path: str, doc: str) -> property:
    """An attribute of an estimator that is one of its fitted model; it cannot be set."""
    found = attrgetter(path)
    return property(lambda estimator: found(estimator.model_), doc=doc)


class BoostedEstimator(BaseEstimator):
    """Holds a fitted model."""

    _parameter_constraints: ClassVar[dict[str, Any]]
    _model: Any
    n_jobs: int | None
    history_: History

    @property
    def model_(self) -> Any:
        """What was learned; see `rebelboost.model.fitted`."""
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

    ensemble_ = of_model("ensemble", "The terms.")
    missing_features_ = of_model(
        "provenance.missing_features", "Features some of whose training values were missing."
    )

    @property
    def metadata_(self) -> dict[str, Any]:
        """Anything that JSON can say, for the user's own use: saved and loaded with the model."""
        kept: dict[str, Any] = self.__dict__.setdefault("_metadata", {})
        return kept

    @metadata_.setter
    def metadata_(self, given: Mapping[str, Any]) -> None:
        self.__dict__["_metadata"] = dict(given)

    def check_parameters(self) -> None:
        """Raise an error for parameters out of their range, as `fit` and `save` do."""
        self._validate_params()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `rebelboost.load` reads; see docs/files.md.

        Everything is kept but callbacks. The file is replaced at once and whole, or not at all.
        """
        from rebelboost.files.model_file import StoredModel, write_model  # rarely needed

        model = self.model_
        self.check_parameters()  # what would be refused on loading is better refused now
        stored = StoredModel(
            type(self).__name__,
            self.get_params(deep=False),
            model,
            self.history_,
            getattr(self, "cross_fit_", None),
            self.metadata_,
        )
        write_model(stored, path)

    def to_dict(self) -> dict[str, Any]:
        """The model as plain JSON, for other languages; see docs/files.md."""
        from rebelboost.files.plain_json import as_plain

        return as_plain(self.model_, type(self).__name__)

    def explain(self, X: Any, *, top: int = 5, costs: Any = None) -> "Explanations":
        """Reasons of the decision on each sample or, of a regression, of each prediction.

        Parameters
        ----------
        X : array or data frame of shape (N, d)
        top : int
            Reasons that texts and `terms` show; the tables have all.
        costs : array or data frame, optional
            Of a classifier: the samples' own costs, as in `predict`.

        Returns
        -------
        Explanations
            One for each sample: ``print(model.explain(X)[0])``; see `rebelboost.explain.explanation`.
        """
        from rebelboost.explain.explain import Naming, explain_samples  # rarely needed

        values = encode_table(self, X)
        naming = Naming(index_labels(X, range(len(values))), self.metadata_)
        n_threads = threads_of(self.n_jobs)
        return explain_samples(
            self.model_, values, top=top, naming=naming, costs=costs, n_threads=n_threads
        )

    def summary(self, *, top: int = 10) -> "ModelSummary":
        """What the model learned: features, training rows and rules used most; classes told apart.

        Parameters
        ----------
        top : int
            How many of each the text shows; the tables have all (of the rules ten times as many).
        """
        from rebelboost.explain.explain import summary_of

        return summary_of(self.model_, top=top, metadata=self.metadata_)

    @property
    def feature_importances_(self) -> Floats:
        """(d,) shares of what questions change, on average over the training samples; they sum to 1."""
        from rebelboost.explain.explain import feature_shares

        return feature_shares(self.model_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
