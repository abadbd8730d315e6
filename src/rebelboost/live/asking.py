"""Which rows' labels are worth most: by how much knowing a label is expected to lower the costs of decisions.

Let w be the share of x among all rows near z, where the model's answer counts as one row more. With
probability w, the labels of x and z are alike as often as their probabilities allow; otherwise, they have
nothing to do with one another. This says what is expected at z if the label of x is y, p(z | y), and Σ_y
p_y(x)·p(z | y) = p(z). A decision costs R(p) = min_k Σ_j p_j c_jk, which is concave, so knowing a label never
raises the costs that are expected:

    worth(x) = Σ_z [ R(p(z)) − Σ_y p_y(x)·R(p(z | y)) ]

over rows z of the pool. Once a question is chosen, what is known near it needs no second one: it is counted
among the rows nearby, its own decision no longer counts, and the next question is the best given that. Before
there is a model, questions are rows that are far from one another (`first`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints
from rebelboost.base.findings import Column, Described, Document, Sentence, Table
from rebelboost.base.names import printed
from rebelboost.base.text import amount, counted, percent
from rebelboost.costs.decision import expected_costs
from rebelboost.costs.matrix import is_uniform
from rebelboost.live.current import CurrentModel, Neighbourhood
from rebelboost.live.reading import frame_of
from rebelboost.live.store import Row

MOST_WEIGHED = 300
"""Of more rows, those whose decisions are expected to cost most are weighed."""
MOST_CLASSES = 8
"""Of more classes, the most probable ones are weighed."""
NEAR = 1e-3
"""Kernels below this one change nothing."""
PRIOR = 1.0
"""Rows that the model's answer counts as where it has seen none: outliers are not worth most."""
TIES, LEAST = 1e-6, 1e-12


class Question(NamedTuple):
    """A row whose label is asked for."""

    id: int
    """Number of the row; of a table that is not in the project, its row from 1."""
    name: str | None
    """Its identifier, if the project has such a column."""
    worth: float
    """By how much knowing the label is expected to lower the cost of a decision on the pool, times the number
    of its rows."""
    probabilities: dict[Any, float]
    """Class → probability, the most probable first."""
    reason: str
    """Why, in words."""

    def __str__(self) -> str:
        return f"row {self.name or self.id}: {self.reason}"


@dataclass(frozen=True, repr=False)
class Questions(Described):
    """Rows whose labels are worth most, the best first."""

    asked: tuple[Question, ...]
    n_pool: int
    """Number of rows without a label."""
    suspect: tuple[tuple[str, Any, Any, float], ...] = ()
    """Labels worth a second look: name or number of the row, label, suggested class, expected cost of acting
    on it.
    """

    def __len__(self) -> int:
        return len(self.asked)

    def __getitem__(self, i: int) -> Question:
        return self.asked[i]

    @property
    def ids(self) -> list[int]:
        """Numbers of the rows."""
        return [question.id for question in self.asked]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        asked = [
            {
                **each._asdict(),
                "probabilities": {printed(k): p for k, p in each.probabilities.items()},
            }
            for each in self.asked
        ]
        return {
            "asked": asked,
            "n_pool": self.n_pool,
            "suspect": [list(each) for each in self.suspect],
        }

    def document(self) -> Document:
        """The questions as a document, which `rebelboost.base.findings` renders."""
        if not self.asked:
            return [Sentence("There are no rows without a label.")]
        opening = (
            f"{counted(len(self.asked), 'row')} of {self.n_pool:,} without a label, the most valuable first. "
            "The "
            "worth is the expected fall of the cost of decisions on all of them."
        )
        columns = [
            Column("row", [each.name or str(each.id) for each in self.asked]),
            Column("worth", [each.worth for each in self.asked], amount, kind="number"),
            Column("reason", [each.reason for each in self.asked]),
        ]
        found: Document = [Sentence(opening), Table(columns, key="questions", noun="row")]
        if self.suspect:
            told = [
                Column("row", [row for row, *_ in self.suspect]),
                Column("label", [printed(label) for _, label, *_ in self.suspect]),
                Column("suggested", [printed(k) for _, _, k, _ in self.suspect]),
                Column(
                    "cost", [cost for *_, cost in self.suspect], amount, "expected cost", "number"
                ),
            ]
            title = "Labels worth a second look"
            found = [*found, Table(told, key="suspect", title=title, noun="row")]
        return found


class Weighed(NamedTuple):
    """Rows of a pool that were chosen, in the order of asking."""

    places: Ints
    """(n,) positions in the pool."""
    worth: BySample
    """(n,)"""


def least_costs(posterior: Floats, costs: Floats) -> BySample:
    """(…) R(p): expected cost of the best decision; posterior (…, K)."""
    flat = posterior.reshape(-1, posterior.shape[-1])
    found: BySample = expected_costs(flat, costs).min(axis=1).reshape(posterior.shape[:-1])
    return found


def weigh(
    posterior: Floats, costs: Floats, log_kernel: Floats, evidence: BySample, n: int
) -> Weighed:
    """Choose n rows of a pool of M.

    Parameters
    ----------
    posterior : array of shape (M, K)
        Probabilities of the pool's rows.
    costs : array of shape (K, K)
        costs[true, decided].
    log_kernel : array of shape (M, M)
        log k between the rows.
    evidence : array of shape (M,)
        Rows seen near each row, in the same unit.
    n : int
        Number of rows to choose.
    """
    now = least_costs(posterior, costs)
    # Where all is certain, the least certain rows come first.
    doubt = now + TIES * (1 - posterior.max(axis=1))
    tried = np.argsort(-doubt, kind="stable")[:MOST_WEIGHED]
    pool = _Pool(posterior[tried], costs, np.exp(log_kernel[np.ix_(tried, tried)]))
    seen, every = evidence[tried].copy(), np.arange(len(tried))
    free = np.ones(len(tried), dtype=bool)
    gains = pool.gains(seen, every, free)
    places, worth = [], []
    for _ in range(min(n, len(tried))):
        best = int(np.argmax(np.where(free, gains + TIES * doubt[tried], -np.inf)))
        free[best] = False
        places.append(int(tried[best]))
        worth.append(max(0.0, float(gains[best])) * len(posterior) / len(tried))
        seen += pool.kernel[:, best]
        near = every[free & (pool.kernel[best] > NEAR)]
        gains[near] = pool.gains(seen, near, free)
    return Weighed(np.array(places, dtype=np.int64), np.array(worth))


class _Pool(NamedTuple):
    """Rows that are tried, and by whose decisions a label is judged."""

    posterior: Floats
    costs: Floats
    kernel: Floats
    """(T, T) k between them."""

    def gains(self, seen: BySample, tried: Ints, free: NDArray[np.bool_]) -> BySample:
        """(t,) expected fall of the costs of decisions on free rows, if the label of a tried row were known."""
        p, q = self.posterior[free], self.posterior[tried]
        kernel = self.kernel[np.ix_(free, tried)]
        share = kernel / (PRIOR + seen[free, np.newaxis] + kernel)  # (T, t)
        both = np.minimum(p[:, np.newaxis, :], q)  # (T, t, K) how often the labels are alike
        others = p[:, np.newaxis, :] - both
        others /= np.maximum(others.sum(axis=2, keepdims=True), LEAST)
        before = least_costs(p, self.costs)[:, np.newaxis]
        classes = np.argsort(-q.sum(axis=0), kind="stable")[:MOST_CLASSES].tolist()
        gains = np.zeros(len(tried))
        for k in classes:
            alike = (both[:, :, k] / np.maximum(q[:, k], LEAST))[:, :, np.newaxis]
            linked = (1 - alike) * others
            linked[:, :, k] += alike[:, :, 0]
            after = p[:, np.newaxis, :] + share[:, :, np.newaxis] * (linked - p[:, np.newaxis, :])
            gains += q[:, k] * (before - least_costs(after, self.costs)).sum(axis=0)
        # Rarer classes count as these do on average.
        found: BySample = gains / np.maximum(q[:, classes].sum(axis=1), LEAST)
        return found


def questions_of(
    rows: Sequence[Row], model: CurrentModel, near: Neighbourhood, n: int
) -> list[Question]:
    """The n rows of a pool whose labels are worth most."""
    cells = frame_of(rows, model.columns)
    values = model.encoded(cells)
    points, posterior = near.place(values), model.posterior_of(values)
    seen = np.exp(near.log_kernel(points, near.points)).sum(axis=1) * near.share
    found = weigh(posterior, model.costs_, near.log_kernel(points, points), seen, n)
    costs = least_costs(posterior, model.costs_)
    classes, has_costs = model.classes_.tolist(), not is_uniform(model.costs_)
    asked = []
    for place, worth in zip(found.places.tolist(), found.worth.tolist(), strict=True):
        order = np.argsort(-posterior[place], kind="stable").tolist()
        shares = [(classes[k], float(posterior[place, k])) for k in order]
        reason = reason_of(shares, float(costs[place]), has_costs=has_costs)
        asked.append(Question(rows[place].id, rows[place].name, worth, dict(shares), reason))
    return asked


def reason_of(probabilities: Sequence[tuple[Any, float]], cost: float, *, has_costs: bool) -> str:
    """Why a row is asked for, in words."""
    (first, p), *others = probabilities
    if not others:
        return f"all rows so far are {printed(first)}"
    second, q = others[0]
    told = f"{printed(first)} with {percent(p)}, {printed(second)} with {percent(q)}"
    return f"{told}; deciding now is expected to cost {amount(cost)}" if has_costs else told
