"""Suspect labels: training rows whose label the model doubts, by what acting on the label would cost.

A label y is wrong, and k is right, with a probability in proportion to ε/(K − 1)·p_k; it is right in proportion
to (1 − ε)·p_y. Here p are the probabilities of fits that did not see the row, and ε is the share of labels that
are assumed to be wrong. So a row is suspect where the model is sure, and not where it hesitates. Each of these
cases has a price: what deciding for the label costs if k is the true class. The sum of the prices, each times
its probability, is the doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.base.findings import Column, Described, Document, Sentence, Table
from rebelboost.base.names import printed
from rebelboost.base.text import amount, counted, percent
from rebelboost.costs.decision import expected_costs
from rebelboost.evaluation.evaluate import left_out
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import EvaluationError

MOST_SHOWN = 20
WRONG, LEAST = 0.01, 1e-12
"""Share of labels that are assumed to be wrong, and least probability of a label."""


@dataclass(frozen=True, eq=False, repr=False)
class Doubts(Described):
    """Training rows whose label is less probable than another class, the most expensive first."""

    classes: tuple[Any, ...]
    n: int
    """Number of rows that were judged."""
    rows: Ints
    """(m,) row numbers in the training table, from 0."""
    label: Labels
    """(m,) codes of the labels."""
    suggested: Labels
    """(m,) codes of the most probable classes."""
    wrong: BySample
    """(m,) probability that the label is wrong."""
    doubt: BySample
    """(m,) expected cost of acting on the label."""
    has_costs: bool
    """Whether mistakes have different costs."""

    def __len__(self) -> int:
        return len(self.rows)

    def document(self, names: Sequence[Any] | None = None) -> Document:
        """The rows as a document, which `rebelboost.base.findings` renders; `names` are those of all rows."""
        if len(self) == 0:
            return [
                Sentence(
                    f"No label of {counted(self.n, 'row')} is less probable than another class."
                )
            ]
        opening = (
            f"{len(self):,} of {counted(self.n, 'row')} have a label that is less probable than another class, "
            "by fits that did not see them. A rare case looks like a wrong label too: let somebody check."
        )
        rows = self.rows.tolist()
        told = rows if names is None else [names[row] for row in rows]
        columns = [
            Column("row", [printed(each) for each in told]),
            Column("label", [printed(self.classes[k]) for k in self.label]),
            Column("suggested", [printed(self.classes[k]) for k in self.suggested]),
            Column("wrong", self.wrong.tolist(), percent, "probability wrong", "number"),
        ]
        if self.has_costs:
            columns.append(Column("doubt", self.doubt.tolist(), amount, "expected cost", "number"))
        return [Sentence(opening), Table(columns, key="doubts", n_shown=MOST_SHOWN, noun="row")]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {
            "n": self.n,
            "rows": self.rows.tolist(),
            "label": [self.classes[k] for k in self.label],
            "suggested": [self.classes[k] for k in self.suggested],
            "wrong": self.wrong.tolist(),
            "doubt": self.doubt.tolist(),
        }


def doubt(model: Any, y: Any, *, X: Any = None, costs: Any = None, share: float = WRONG) -> Doubts:
    """Find training rows whose label the model doubts, by what acting on the label would cost.

    Parameters
    ----------
    model : RebelClassifier
        Cross-fitted model.
    y : array of shape (N,)
        Labels that it was fitted to.
    X : table of shape (N, d), optional
        Table that it was fitted to; see `left_out`.
    costs : array or data frame, optional
        The samples' own costs, as in `RebelClassifier.predict`.
    share : float, default=0.01
        Share of labels that are assumed to be wrong. It changes the probabilities and, where mistakes have
        different costs, the order.

    Returns
    -------
    Doubts
        The rows, the most expensive first.
    """
    if not 0 < share < 1:
        raise ValueError(f"share is {share!r}: give a share of the labels between 0 and 1")
    found = left_out(model, y, X=X, costs=costs)
    if not isinstance(found, Evaluation):
        raise EvaluationError(
            "labels are doubted by fits that did not see them, and this model has none: fit a classifier "
            "with cross_fit=5"
        )
    return doubts_of(found, share)


def doubts_of(evaluation: Evaluation, share: float = WRONG) -> Doubts:
    """The doubts of an evaluation of left-out rows."""
    judged = evaluation.judged
    if judged is None:
        raise EvaluationError("this evaluation has no results by sample: labels cannot be doubted")
    n_classes = judged.posterior.shape[1]
    by_class = np.ascontiguousarray(evaluation.confusion.costs[:, :n_classes])
    costs = by_class if judged.costs is None else judged.costs
    wrong, priced = doubts_in(judged.posterior, costs, judged.true, share)
    suggested = judged.posterior.argmax(axis=1).astype(np.int32)
    suspect = np.flatnonzero(suggested != judged.true)
    order = suspect[np.lexsort((judged.rows[suspect], -wrong[suspect], -priced[suspect]))]
    return Doubts(
        evaluation.confusion.classes,
        len(judged.true),
        judged.rows[order],
        judged.true[order],
        suggested[order],
        wrong[order],
        priced[order],
        evaluation.has_costs,
    )


def doubts_in(
    posterior: Floats, costs: Floats, label: Labels, share: float = WRONG
) -> tuple[BySample, BySample]:
    """(N,) probability that each label is wrong, and what acting on it would cost for that reason.

    Costs are (K, K) or (N, K, K) costs[true, decided].
    """
    n_classes, rows = posterior.shape[1], np.arange(len(label))
    wrong = share / max(1, n_classes - 1) * posterior
    wrong[rows, label] = (1 - share) * np.maximum(posterior[rows, label], LEAST)
    wrong = wrong / wrong.sum(axis=1, keepdims=True)
    right = wrong[rows, label].copy()
    wrong[rows, label] = 0.0  # acting on a right label costs nothing
    return 1 - right, expected_costs(wrong, costs)[rows, label]
