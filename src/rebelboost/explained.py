"""An estimator's half that gives reasons: of decisions, of the whole model, and its guarantee."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rebelboost.callbacks import History
from rebelboost.costs import is_uniform
from rebelboost.deciding import Decides
from rebelboost.inputs import TableInput, index_labels
from rebelboost.learners import Comparison, GrownTree
from rebelboost.model import Ensemble
from rebelboost.names import plain, printed
from rebelboost.problem import Problem
from rebelboost.problem import n_distinct as problem_size
from rebelboost.shapes import Floats, Values
from rebelboost.theory import zero_cost_level

if TYPE_CHECKING:
    from rebelboost.explain import Explanations, Verdict
    from rebelboost.guarantee import FitBound, Guarantee
    from rebelboost.rules import Wording
    from rebelboost.summary import ModelSummary
    from rebelboost.voices import Rows

SOON_SCORED = 20_000_000
"""Samples × terms that take a tenth of a second or so."""


class ExplainedTerms(TableInput):
    """Part of an estimator: what its terms say, whether they predict classes or numbers."""

    ensemble_: Ensemble
    n_features_in_: int

    if TYPE_CHECKING:

        def _n_threads(self) -> int: ...

    def _wording(self) -> "Wording":
        from rebelboost.rules import Wording

        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{f}" for f in range(self.n_features_in_)]
        missing = getattr(self, "missing_features_", None)
        return Wording(
            tuple(map(printed, names)),
            self._encoder.levels,
            None if missing is None else frozenset(missing),
        )

    def _rows(self) -> "Rows":
        from rebelboost.voices import Rows

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
        from rebelboost.summary import summarise

        check_is_fitted(self)
        return summarise(self.ensemble_, self._wording(), self._rows(), self._class_names(), top)

    @property
    def feature_importances_(self) -> Floats:
        """(d,) shares of what questions change, on average over the training samples; they sum to 1."""
        from rebelboost.usage import importances

        check_is_fitted(self)
        if not any(isinstance(term.hypothesis, GrownTree) for term in self.ensemble_.terms):
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
        from rebelboost.contributions import contributions
        from rebelboost.explain import Explanation, Explanations
        from rebelboost.voices import Speaker

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


class Explained(ExplainedTerms, Decides):
    """Part of `RebelClassifier`: why it decides as it does."""

    history_: History
    row_labels_: dict[int, Any]
    example_classes_: dict[int, int]
    missing_features_: list[int]
    training_facts_: dict[str, Any]
    loss: str
    shrinkage: Any

    if TYPE_CHECKING:

        def _learner(self) -> Any: ...

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
            One for each sample: ``print(clf.explain(X)[0])``; see `rebelboost.explain`.
        """
        from rebelboost.verdicts import Deciding, verdicts

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
        from rebelboost.voices import Rows

        of_class = {row: plain(self.classes_[code]) for row, code in self.example_classes_.items()}
        return Rows(self.row_labels_, of_class)

    def _named(self, X: Any, problem: Problem) -> Self:
        """Remember of the training table what reasons name: labels and classes of the examples."""
        comparisons = [
            term.hypothesis
            for term in self.ensemble_.terms
            if isinstance(term.hypothesis, Comparison)
        ]
        rows = sorted({e.row for comparison in comparisons for e in comparison.examples})
        place = {int(row): n for n, row in enumerate(problem.rows_of_table)} if rows else {}
        self.row_labels_ = index_labels(X, rows)
        self.example_classes_ = {row: int(problem.labels[place[row]]) for row in rows}
        self.missing_features_ = missing_features(problem.X)
        self.training_facts_ = self._proven(problem).to_dict()
        return self

    @property
    def guarantee_(self) -> "Guarantee":
        """What is proven of the training, beside what it achieved; see `rebelboost.theory`."""
        from rebelboost.guarantee import Guarantee

        check_is_fitted(self)
        return Guarantee.from_dict(self.training_facts_)

    def _proven(self, problem: Problem) -> "Guarantee":
        from rebelboost.guarantee import Guarantee, proven_rate

        trained = self.decoder_.costs
        neutral = is_uniform(trained) and not is_uniform(self.costs_)
        by_sample = problem.by_sample and not neutral
        rows = problem.costs if by_sample else trained[problem.labels]
        level = zero_cost_level(rows, problem.weight)
        compares = all(isinstance(t.hypothesis, Comparison) for t in self.ensemble_.terms)
        n_distinct = problem_size(problem) if compares and len(self.ensemble_) else 0
        plain = self.loss == "exponential" and self.subcosts_ == "thesis"
        cross, both = self.cross_fit_, self._both_costs(problem)
        return Guarantee(
            self._fit_bounds(),
            len(self.classes_),
            of_errors=not by_sample
            and bool((trained.max(axis=1) == 1).all())
            and is_uniform(trained),
            applies=plain,
            zero_level=level if np.isfinite(level) else None,
            unavoidable_cost=self.ensemble_.unavoidable_cost,
            costs_differ=not is_uniform(self.costs_),
            cost_at_argmax=both[0],
            cost_as_decided=both[1],
            left_out_cost=None if cross is None else cross.cost,
            similarity=proven_rate(len(self.classes_), n_distinct) if n_distinct >= 4 else None,
        )

    def _fit_bounds(self) -> "tuple[FitBound, ...]":
        """Of every run of boosting that the ensemble has a part of, cut as it is."""
        from rebelboost.guarantee import fit_bound, runs

        cross = self.cross_fit_
        if cross is None:
            found = [self.history_.rounds[: len(self.ensemble_)]]
        else:
            found = runs(self.history_.rounds)
            n_parts = max(1, len(found) // len(cross.rounds))
            cuts = [
                rounds if share > 0 else 0
                for rounds, share in zip(cross.rounds, cross.shares, strict=True)
                for _ in range(n_parts)
            ]
            found = [run[:cut] for run, cut in zip(found, cuts, strict=False)]
        shrinkage = self._learner().shrinkage if self.shrinkage == "auto" else self.shrinkage
        return tuple(fit_bound(run, shrinkage) for run in found if run)

    def _both_costs(self, problem: Problem) -> tuple[float | None, float | None]:
        """Mean training cost at argmax and as decided, where those differ and are soon known."""
        same = self.decision == "argmax" or is_uniform(self.costs_) or not self._decodes()
        if same or len(problem.labels) * len(self.ensemble_) > SOON_SCORED:
            return None, None
        scores = self.ensemble_.scores(problem.X, self._n_threads())
        judge = problem.judge()
        decided = np.argmax(scores, axis=1).astype(np.int32), self._decide(scores)
        return judge.judge(decided[0])[1], judge.judge(decided[1])[1]


def missing_features(X: Values) -> list[int]:
    """Features some of whose values are missing."""
    return [int(f) for f in np.flatnonzero(np.isnan(X).any(axis=0))]


class ExplainedNumbers(ExplainedTerms):
    """Part of `RebelRegressor`: why it predicts what it predicts."""

    baseline_: float
    missing_features_: list[int]

    def explain(self, X: Any, *, top: int = 5) -> "Explanations":
        """Reasons of each prediction; see `rebelboost.explain`."""
        from rebelboost.explain import Verdict
        from rebelboost.verdicts import amount

        check_is_fitted(self)
        values = self._encode(X)
        predicted: Floats = self.baseline_ + self.ensemble_.scores(values, self._n_threads())
        found = [Verdict(float(y[0]), f"Predicted: {amount(float(y[0]))}", y) for y in predicted]
        return self._explain(X, values, found, top=top, baseline=self.baseline_)
