"""Select ten decisions: the most certain, the least certain, and the most expensive mistakes."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import BySample, Floats, Ints, Labels
from rebelboost.base.names import ClassNames
from rebelboost.costs.decision import expected_costs
from rebelboost.evaluation.evaluate import evaluate
from rebelboost.evaluation.result import Judged
from rebelboost.exceptions import EvaluationError
from rebelboost.report.subject import Subject

N_SUREST, N_LEAST_SURE, N_MISTAKES = 2, 4, 4
LEAST_COST = 1e-300
MOST_CERTAIN, LEAST_CERTAIN = "Most certain decisions", "Least certain decisions"
MOST_EXPENSIVE, MOST_CONFIDENT = "Most expensive mistakes", "Most confident mistakes"


class Picked(NamedTuple):
    """A selected decision."""

    kind: str
    """Why it was selected: one of the headings above."""
    row: int
    """Row in the table of the report, from 0."""
    true: int
    """Code of the true class."""
    decided: int
    """Code of the decision; the number of classes stands for an abstention."""
    cost: float
    has_costs: bool
    is_left_out: bool


def pick(subject: Subject) -> list[Picked]:
    """Select up to ten different decisions."""
    found = subject.decisions
    judged = found.judged if found is not None else None
    if judged is None:
        judged = _judged_now(subject)
    if judged is None:
        return []
    _check_same(subject, judged)
    paid = _paid(subject, judged)
    merits = _merits(subject, judged)
    chosen = _chosen(judged, paid, merits)
    has_costs = found is not None and found.has_costs
    mistakes = MOST_EXPENSIVE if has_costs else MOST_CONFIDENT
    left_out = found is not None and found.is_left_out and found.judged is not None
    return [
        Picked(
            mistakes if kind == MOST_EXPENSIVE else kind,
            int(judged.rows[i]),
            int(judged.true[i]),
            int(judged.decided[i]),
            float(paid[i]),
            has_costs,
            left_out,
        )
        for kind, i in chosen
    ]


def _chosen(judged: Judged, paid: BySample, merits: Floats) -> list[tuple[str, int]]:
    two = np.partition(merits, -2, axis=1)[:, -2:]
    gap: BySample = two[:, 1] - two[:, 0]
    wrong = np.flatnonzero(judged.decided != judged.true)
    own = merits[np.arange(len(merits)), judged.true]
    # Among mistakes of the same cost, those with the lowest value for the true class come first.
    mistakes = wrong[np.lexsort((own[wrong], -paid[wrong]))][:N_MISTAKES].tolist()
    free = np.setdiff1d(np.arange(len(gap)), mistakes)
    surest = _one_of_each(free[np.argsort(-gap[free], kind="stable")], judged.decided, N_SUREST)
    free = np.setdiff1d(free, surest)
    n_least = N_LEAST_SURE + N_MISTAKES - len(mistakes)
    least = free[np.argsort(gap[free], kind="stable")][:n_least].tolist()
    return [
        *((MOST_CERTAIN, i) for i in surest),
        *((LEAST_CERTAIN, i) for i in least),
        *((MOST_EXPENSIVE, i) for i in mistakes),
    ]


def _one_of_each(ordered: Ints, decided: Labels, most: int) -> list[int]:
    """Return the first samples, with different decisions if possible."""
    firsts: dict[int, int] = {}
    for i in ordered.tolist():
        firsts.setdefault(int(decided[i]), i)
    chosen = list(firsts.values())[:most]
    rest = [i for i in ordered[: 2 * most].tolist() if i not in chosen]
    return [*chosen, *rest][:most]


def _judged_now(subject: Subject) -> Judged | None:
    try:
        return evaluate(subject.clf, subject.X, subject.y).judged
    except EvaluationError:
        return None


def _check_same(subject: Subject, judged: Judged) -> None:
    names = ClassNames(subject.clf.classes_)
    same = judged.rows.max(initial=-1) < len(subject.y) and all(
        names.find(label) == code
        for label, code in zip(subject.y[judged.rows].tolist(), judged.true.tolist(), strict=True)
    )
    if not same:
        raise EvaluationError(
            "the evaluation is of other samples: give the X and y that were evaluated"
        )


def _paid(subject: Subject, judged: Judged) -> BySample:
    """(n,) cost of each decision."""
    abstaining = subject.clf.model_.rule.charge
    prices = judged.prices(subject.clf.costs_, 0.0 if abstaining is None else abstaining)
    return prices[np.arange(len(prices)), judged.decided]


def _merits(subject: Subject, judged: Judged) -> Floats:
    """Return a value for each decision, (n, K): −ln of its expected cost.

    The logarithm distinguishes probabilities that are very close to 1.
    """
    costs = subject.clf.costs_ if judged.costs is None else judged.costs
    return -np.log(np.maximum(expected_costs(judged.posterior, costs), LEAST_COST))
