"""An estimator's half that gives reasons: of decisions, and of the whole model."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import Floats, Values
from rebelboost.base.names import plain, printed
from rebelboost.base.text import number
from rebelboost.costs.matrix import is_uniform
from rebelboost.data.samples import Samples
from rebelboost.estimators.inputs import TableInput, index_labels
from rebelboost.estimators.proven import Proven
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.trees import Trees

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanations, Verdict
    from rebelboost.explain.reasons import Rows
    from rebelboost.explain.rules import Wording
    from rebelboost.explain.summary import ModelSummary


class ExplainedTerms(TableInput):
    """Part of an estimator: what its terms say, whether they predict classes or numbers."""

    ensemble_: Ensemble
    n_features_in_: int

    if TYPE_CHECKING:

        def _n_threads(self) -> int: ...

    def _wording(self) -> "Wording":
        from rebelboost.explain.rules import Wording, date_kinds

        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{f}" for f in range(self.n_features_in_)]
        names = tuple(map(printed, names))
        missing = getattr(self, "missing_features_", None)
        return Wording(
            names,
            self._encoder.levels,
            None if missing is None else frozenset(missing),
            date_kinds(getattr(self, "metadata_", None) or {}, names),
        )

    def _rows(self) -> "Rows":
        from rebelboost.explain.reasons import Rows

        return Rows({}, {})

    def _class_names(self) -> tuple[Any, ...] | None:
        return None

    def summary(self, *, top: int = 10) -> "ModelSummary":
        """What the model learned: features, training rows and rules used most; classes told apart.

        Parameters
        ----------
        top : int
            How many of each the text shows; the tables have all (of the rules ten times as many).
        """
        from rebelboost.explain.summary import summarise

        check_is_fitted(self)
        return summarise(self.ensemble_, self._wording(), self._rows(), self._class_names(), top)

    @property
    def feature_importances_(self) -> Floats:
        """(d,) shares of what questions change, on average over the training samples; they sum to 1."""
        from rebelboost.explain.usage import importances

        check_is_fitted(self)
        if not self.ensemble_.of_kind(Trees):
            raise AttributeError(
                "feature_importances_ are those of trees, and this model has none: similarities "
                "compare all features at once; summary() tells which training rows they use"
            )
        sizes = importances(self.ensemble_, self.n_features_in_)
        return sizes / (sizes.sum() or 1.0)

    def _explain(
        self,
        X: Any,
        values: Values,
        verdicts: "list[Verdict]",
        *,
        top: int,
        baseline: float = 0.0,
    ) -> "Explanations":
        from rebelboost.explain.explanation import Explanation, Explanations
        from rebelboost.explain.reasons import Speaker
        from rebelboost.explain.shares import contributions

        if top < 1:
            raise ValueError(f"top is {top}: ask for one reason at least")
        said = contributions(self.ensemble_, values, self._n_threads())
        said = replace(said, baseline=said.baseline + baseline)
        speaker = Speaker(self.ensemble_, said, self._wording(), self._rows())
        classes = self._class_names()
        labels = index_labels(X, range(len(values)))
        return Explanations(
            [
                Explanation(verdict, n, labels.get(n, n), values[n], classes, speaker, top)
                for n, verdict in enumerate(verdicts)
            ]
        )


class Explained(ExplainedTerms, Proven):
    """Part of `RebelClassifier`: why it decides as it does.

    What it remembers of the training table, of the rows only that are examples: `row_labels_`, row
    number → what the table's index calls it (empty where there is none); `example_classes_`, row number
    → code of its class. And `missing_features_`, the features some of whose values were missing.
    """

    row_labels_: dict[int, Any]
    example_classes_: dict[int, int]
    missing_features_: list[int]

    def explain(self, X: Any, *, top: int = 5) -> "Explanations":
        """Reasons of the decision on each sample.

        Parameters
        ----------
        X : array or data frame of shape (N, d)
        top : int
            Reasons that texts and `terms` show; the tables have all.

        Returns
        -------
        Explanations
            One for each sample: ``print(clf.explain(X)[0])``; see `rebelboost.explain.explanation`.
        """
        from rebelboost.explain.headline import Deciding, verdicts

        check_is_fitted(self)
        values = self._encode(X)
        scores = self.ensemble_.scores(values, self._n_threads())
        posterior = self._posterior(scores) if self._decodes() else None
        by_cost = self.decision == "min_risk" and not is_uniform(self.costs_)
        deciding = Deciding(
            self.classes_, self.costs_, by_cost and posterior is not None, self.reject_cost
        )
        found = verdicts(deciding, self._labels(scores), self._decide(scores), scores, posterior)
        return self._explain(X, values, found, top=top)

    def _class_names(self) -> tuple[Any, ...]:
        return tuple(plain(name) for name in self.classes_)

    def _rows(self) -> "Rows":
        from rebelboost.explain.reasons import Rows

        of_class = {row: plain(self.classes_[code]) for row, code in self.example_classes_.items()}
        return Rows(self.row_labels_, of_class)

    def _named(self, X: Any, problem: Samples) -> Self:
        """Remember of the training table what reasons name: labels and classes of the examples."""
        rows = self.ensemble_.example_rows
        place = np.searchsorted(problem.rows_of_table, rows)  # which rise
        self.row_labels_ = index_labels(X, rows)
        codes = problem.labels[place].tolist()
        self.example_classes_ = dict(zip(rows, codes, strict=True))
        self.missing_features_ = missing_features(problem.X)
        self.training_facts_ = self._facts(problem)
        return self


def missing_features(X: Values) -> list[int]:
    """Features some of whose values are missing."""
    return [int(f) for f in np.flatnonzero(np.isnan(X).any(axis=0))]


class ExplainedNumbers(ExplainedTerms):
    """Part of `RebelRegressor`: why it predicts what it predicts."""

    baseline_: float
    missing_features_: list[int]

    def explain(self, X: Any, *, top: int = 5) -> "Explanations":
        """Reasons of each prediction; see `rebelboost.explain.explanation`."""
        from rebelboost.explain.explanation import Verdict

        check_is_fitted(self)
        values = self._encode(X)
        predicted: Floats = self.baseline_ + self.ensemble_.scores(values, self._n_threads())
        found = [Verdict(float(y[0]), f"Predicted: {number(float(y[0]))}", y) for y in predicted]
        return self._explain(X, values, found, top=top, baseline=self.baseline_)
