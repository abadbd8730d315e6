"""The exact model with the labels that are newer than it, at once.

What the exact model got wrong on the newer labels is expected of it nearby, too. With its probabilities P, and
k(x, z) = exp(−‖x − z‖/L),

    p(x) = P(x) + Σ_i k(x, x_i)·(e(y_i) − P(x_i)) / (Σ_j k(x, x_j) + Σ_i k(x, x_i)),

where j runs over the rows that the model was fitted to and i over the newer ones: each row counts as one.
Shares below 0 become 0. So a label that was expected changes little, a class that nobody has seen before has
its place at once, and where the model has seen many rows, one more says little. The scale and the width L are
those by which the rows near a training row tell its class best, leaving it out.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rebelboost.base.arrays import BySample, Floats, Ints, Labels, Values
from rebelboost.base.cached import cached_property
from rebelboost.base.hashing import hash_rows
from rebelboost.base.text import counted
from rebelboost.costs.decision import expected_costs
from rebelboost.costs.matrix import cost_matrix
from rebelboost.data.spaces import Embedding, distances_between, fit_embedding, scales_for
from rebelboost.estimators.base import encode_table
from rebelboost.live.exact import ExactFit, Task
from rebelboost.live.first import FirstRows
from rebelboost.live.reading import arranged, cells_of, frame_of
from rebelboost.live.store import Row

WIDTHS = (0.25, 0.5, 1.0, 2.0)
"""Widths L that are compared, as multiples of the median distance to the nearest other row."""
MOST_NEAR = 5000
"""Of more training rows, so many stand for all."""
MOST_COMPARED = 800
"""Of more training rows, so many choose the scale and the width."""
LEAST = 1e-12


@dataclass(frozen=True)
class Provisional:
    """Why an answer is provisional; `bool` is true."""

    behind: int
    """Number of labels that the exact model has not seen."""
    n_seen: int
    """Number of rows that it has seen; 0: there is no exact model yet."""

    def __str__(self) -> str:
        newer = counted(self.behind, "label")
        if not self.n_seen:
            return f"provisional: no exact model yet, {newer} so far"
        return f"provisional: {newer} newer than the exact model of {counted(self.n_seen, 'row')}"


class Newer(NamedTuple):
    """Labels that are newer than the exact model."""

    ids: Ints
    """(m,) numbers of the rows."""
    values: Values
    """(m, d) encoded by the model's encoder."""
    labels: list[Any]
    """Their labels, or numbers."""


class Neighbourhood:
    """The rows that an exact model was fitted to, in a space where near rows are alike."""

    def __init__(self, values: Values, labels: Labels, categorical: NDArray[np.uint8]) -> None:
        n = len(values)
        lots = hash_rows(values, 3)
        kept = np.sort(np.argsort(lots, kind="stable")[:MOST_NEAR])
        self.share = n / max(1, len(kept))
        """Rows that each of the kept ones stands for."""
        some = (
            kept
            if len(kept) <= MOST_COMPARED
            else np.sort(kept[np.argsort(lots[kept], kind="stable")[:MOST_COMPARED]])
        )
        best: tuple[float, Embedding | None, float] = (math.inf, None, 1.0)
        for scale in scales_for(values, categorical)[1:]:
            space = fit_embedding(values, labels, categorical, scale)
            points = space.place(values[some]).astype(np.float64)
            for width, loss in _losses(points, labels[some]):
                best = min(best, (loss, space, width), key=lambda found: found[0])
        self.space: Embedding | None = best[1]
        self.width = best[2]
        self.points = self.place(values[kept])

    def place(self, values: Values) -> Floats:
        """(N, D) points of encoded rows; the values themselves, where no distance can be measured."""
        if self.space is None:
            return np.nan_to_num(values.astype(np.float64))
        return self.space.place(values).astype(np.float64)

    def log_kernel(self, a: Floats, b: Floats) -> Floats:
        """(A, B) log k between points; between equal ones only, where no distance can be measured."""
        if self.space is None:
            return np.where((a[:, np.newaxis] == b).all(axis=2), 0.0, -np.inf)
        found: Floats = -distances_between(a, b) / self.width
        return found


def _losses(points: Floats, labels: Labels) -> list[tuple[float, float]]:
    """Width and mean log-loss of the rows near each row, without the row itself."""
    apart = distances_between(points, points)
    np.fill_diagonal(apart, np.inf)
    nearest = apart.min(axis=1)
    positive = nearest[(nearest > 0) & np.isfinite(nearest)]
    if not len(positive):
        return [(1.0, math.inf)]
    unit = float(np.median(positive))
    targets = np.eye(int(labels.max()) + 1)[labels]
    prior = targets.mean(axis=0)
    found = []
    for width in WIDTHS:
        kernel = np.exp((nearest[:, np.newaxis] - apart) / (width * unit))
        shares = (kernel @ targets + prior) / (kernel.sum(axis=1) + 1)[:, np.newaxis]
        own = shares[np.arange(len(labels)), labels]
        found.append((width * unit, float(-np.log(np.maximum(own, LEAST)).mean())))
    return found


# ---- the model


class CurrentModel:
    """What a project knows now: the exact model and, where labels are newer, a provisional answer."""

    def __init__(
        self,
        task: Task,
        exact: ExactFit | None,
        newer: Newer,
        basis: Neighbourhood | FirstRows | None,
    ) -> None:
        self.exact = exact
        """The latest exact fit; None if there is none yet."""
        self._task, self._newer, self._basis = task, newer, basis

    def __repr__(self) -> str:
        return f"CurrentModel({self.provisional_ or repr(self.exact)})"

    @property
    def estimator(self) -> Any:
        """The exact model: `RebelClassifier` or `RebelRegressor`; None if there is none yet."""
        return None if self.exact is None else self.exact.estimator

    @property
    def provisional_(self) -> Provisional | None:
        """None if the exact model has seen all labels; otherwise how many it has not."""
        if not self._newer.labels and self.exact is not None:
            return None
        return Provisional(len(self._newer.labels), 0 if self.exact is None else self.exact.n_rows)

    @property
    def predicts_numbers(self) -> bool:
        """Whether the target consists of numbers."""
        return self._task.predicts_numbers

    @property
    def neighbourhood(self) -> Neighbourhood | None:
        """The rows of the exact model, by which newer ones are weighed; None if there are no newer ones."""
        return self._basis if isinstance(self._basis, Neighbourhood) else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the project, in their order."""
        return self._task.columns

    @cached_property
    def classes_(self) -> NDArray[Any]:
        """(K,) classes: the exact model's, then new ones."""
        known = [] if self.exact is None else self.estimator.classes_.tolist()
        new = [label for label in dict.fromkeys(self._newer.labels) if label not in known]
        every = [*known, *sorted(new, key=str)]
        if len({type(each) for each in every}) == 1:
            return np.array(every)
        found = np.empty(len(every), dtype=object)
        found[:] = every
        return found

    @cached_property
    def costs_(self) -> Floats:
        """(K, K) costs[true, decided]."""
        classes = self.classes_.tolist()
        return cost_matrix(self._task.costs_of(classes), classes)

    def predict(self, rows: Any) -> NDArray[Any]:
        """Predict the class with the lowest expected cost, or a number, for each row.

        Parameters
        ----------
        rows : dict, sequence of dicts, data frame or file
            Rows as they stand in the table; text, numbers or dates.

        Returns
        -------
        ndarray of shape (N,)
        """
        cells = self.cells(rows)
        if self.predicts_numbers:
            return self._numbers(cells)
        return self.classes_[self.decided(self.posterior(cells))]

    def predict_proba(self, rows: Any) -> Floats:
        """Class probabilities, (N, K), in the order of `classes_`."""
        return self.posterior(self.cells(rows))

    def expected_cost(self, rows: Any) -> Floats:
        """Expected cost of each possible decision, (N, K)."""
        return expected_costs(self.predict_proba(rows), self.costs_)

    def decided(self, posterior: Floats) -> Labels:
        """(N,) codes of the decisions, given probabilities: the lowest expected cost."""
        found: Labels = expected_costs(posterior, self.costs_).argmin(axis=1).astype(np.int32)
        return found

    def newer_rows(self, row: Any, most: int = 5) -> list[tuple[int, Any, float]]:
        """The newer rows that change the answer for a row most: number, label, and share of all rows nearby."""
        if not self._newer.labels:
            return []
        cells = self.cells(row)
        first = self.exact is None
        share = (self._first.shares(cells) if first else self._shares(self.encoded(cells)))[0]
        order = np.argsort(-share, kind="stable")[:most].tolist()
        return [(int(self._newer.ids[i]), self._newer.labels[i], float(share[i])) for i in order]

    # ---- cells and encoded rows

    def cells(self, rows: Any) -> pl.DataFrame:
        """Rows as text, in the project's columns."""
        given = arranged(cells_of(rows), self._task.columns, self._task.target, "")
        every = [Row(0, None, row, None, None, 1.0) for row in given.rows]
        return frame_of(every, self._task.columns)

    def encoded(self, cells: pl.DataFrame) -> Values:
        """(N, d) numbers that the exact model is fitted to."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # new categories are common here, and count as missing
            return encode_table(self.estimator, cells)

    def posterior(self, cells: pl.DataFrame) -> Floats:
        """(N, K) probabilities of rows of text, in the project's columns."""
        if self.exact is not None:
            return self.posterior_of(self.encoded(cells))
        codes = {label: k for k, label in enumerate(self.classes_.tolist())}
        labels = [codes[label] for label in self._newer.labels]
        found: Floats = self._first.shares(cells) @ np.eye(len(codes))[labels]
        return found

    def posterior_of(self, values: Values) -> Floats:
        """(N, K) probabilities of encoded rows."""
        model = self.estimator.model_
        known: Floats = model.posterior(model.scores(values))
        if not self._newer.labels:
            return known
        codes = {label: k for k, label in enumerate(self.classes_.tolist())}
        mistakes = np.eye(len(codes))[[codes[label] for label in self._newer.labels]]
        mistakes[:, : known.shape[1]] -= model.posterior(model.scores(self._newer.values))
        mass = np.zeros((len(values), len(codes)))
        mass[:, : known.shape[1]] = known
        mass = np.maximum(mass + self._shares(values) @ mistakes, 0.0)
        found: Floats = mass / mass.sum(axis=1, keepdims=True)
        return found

    def _numbers(self, cells: pl.DataFrame) -> BySample:
        newer = np.array(self._newer.labels, dtype=np.float64)
        found: BySample
        if self.exact is None:
            found = self._first.shares(cells) @ newer
            return found
        values, model = self.encoded(cells), self.estimator.model_
        found = model.predict(values)
        if len(newer):
            found = found + self._shares(values) @ (newer - model.predict(self._newer.values))
        return found

    @property
    def _first(self) -> FirstRows:
        assert isinstance(self._basis, FirstRows)
        return self._basis

    def _shares(self, values: Values) -> Floats:
        """(N, m) what each newer row counts, as a share of all rows nearby."""
        near = self._basis
        assert isinstance(near, Neighbourhood)
        points, others = near.place(values), near.place(self._newer.values)
        seen, new = near.log_kernel(points, near.points), near.log_kernel(points, others)
        # Where all rows are far, only their proportions count.
        largest = np.maximum(seen.max(axis=1), new.max(axis=1))[:, np.newaxis]
        largest = np.where(np.isfinite(largest), largest, 0.0)
        counts = np.exp(new - largest)
        every = np.exp(seen - largest).sum(axis=1) * near.share + counts.sum(axis=1)
        found: Floats = counts / np.maximum(every, LEAST)[:, np.newaxis]
        return found


def neighbourhood_of(exact: ExactFit, values: Values, labels: Sequence[Any]) -> Neighbourhood:
    """The rows of an exact fit; numbers are told apart by their quarters."""
    encoder = exact.estimator.model_.encoder
    if hasattr(exact.estimator, "classes_"):
        codes = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)[1]
    else:
        numbers = np.array(labels, dtype=np.float64)
        codes = np.searchsorted(np.unique(np.quantile(numbers, [0.25, 0.5, 0.75])), numbers)
    return Neighbourhood(values, codes.astype(np.int32), encoder.categorical)
