"""The smallest change of a sample that changes the decision on it.

Trees split a feature at finitely many thresholds. All values between two of them give the same scores, so the
decisions that changes of some features can lead to are those in a grid of cells, and the nearest cell with
another decision is the smallest change. Columns are searched one by one, then in pairs, and so on. A group of
columns is left out if it cannot change the decision even with the best leaf of every tree (with two classes),
and cells that are not nearer than the best change so far are left out too: a branch-and-bound search, which
misses nothing. A change is as large as the sum of the columns' changes, each in units of the column's spread.

Where a column holds a cost, the decision also changes between thresholds, at a price that solves an equation.
Such a column is changed alone only. Models with similarities, or with means of pairs of categories, are
searched along one column at a time, in steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Floats, Ints, Labels, Scores, Values
from rebelboost.base.cached import cached_property
from rebelboost.costs.decision import expected_costs
from rebelboost.data.spread import Spreads
from rebelboost.model.cells import Around, Axis, Cells
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier
from rebelboost.model.monotone import trees_of

LEVELS = (1.0, 2.0, 4.0, 8.0, math.inf)
"""Distances up to which groups of columns are searched, one after the other, until there is a change."""
STEPS = 2.0 ** np.arange(-6, 6)
"""Of models with similarities: steps along a column, in units of its spread."""
HALVINGS = 20
CLOSE = 0.01
"""Values are written with as few digits as are within this share of the spread."""


class Moved(NamedTuple):
    """A column that changes."""

    feature: int
    value: float
    """One of the values that it can change to, near the present one."""
    low: float
    """The values that it can change to are above this …"""
    high: float
    """… and not above this; for categories, both are the code."""


class Change(NamedTuple):
    """A change of some columns that changes the decision."""

    moved: tuple[Moved, ...]
    distance: float
    """How far it is, in spreads of the columns."""
    decided: int
    """Code of the new decision."""


class Moves(NamedTuple):
    """Where a value can move to: the cells of its column."""

    distance: Floats
    """(m,) how far it is to each cell; infinite: it cannot move there."""
    value: Floats
    """(m,) a value in the cell, near the present one."""


@dataclass(frozen=True, eq=False)
class Search:
    """Finds the smallest changes of samples."""

    model: FittedClassifier
    spreads: Spreads
    free: tuple[int, ...]
    """Features that may change."""
    most: int
    """Number of columns that change together, at most."""

    @property
    def is_exact(self) -> bool:
        """Whether there is no smaller change than the one that is found."""
        found = [trees_of(ensemble) for ensemble in self._ensembles]
        return all(trees is not None and not trees.crosses for trees in found)

    def changes(self, x: Values, wanted: Sequence[int]) -> list[Change]:
        """The smallest change of one column, then of two if it is smaller, and so on; none if there is none."""
        x = np.asarray(x, dtype=np.float64)
        if not self.is_exact:
            return _nearest_of([_stepped(self, x, f, wanted) for f in self.free])
        around = Around(self._cells, x, self.most)
        found = _nearest_of([self._along(around, x, f, wanted) for f in self._useful])
        together = [f for f in self._useful if f not in self._paying]
        for size in range(2, min(self.most, len(together)) + 1):
            limit = found[-1].distance if found else math.inf
            for level in (level for level in LEVELS if level < limit or level == math.inf):
                more = self._together(
                    around, x, list(combinations(together, size)), wanted, min(level, limit)
                )
                if more is not None:
                    found.append(more)
                    break
        return found

    def decide(self, x: Values, scores: Scores) -> Labels:
        """(N,) codes of the decisions on samples with these scores; K stands for abstaining."""
        model = self.model
        costs = model.costs_of(x) if model.by_sample else model.costs
        codes, abstained = model.decide(scores, costs), model.abstains(scores, costs)
        return codes if abstained is None else np.where(abstained, len(model.classes), codes)

    # ---- one column

    def _along(
        self, around: Around, x: Values, feature: int, wanted: Sequence[int]
    ) -> Change | None:
        """The smallest change of one column."""
        axis = self._cells.axis(feature)
        base, leaves = around.reached([feature])
        scores = around.grid(base, leaves, [feature], [np.arange(len(axis))])
        if feature in self._paying:
            axis, scores = self._between_prices(x, feature, axis, scores)
        moves = self._moves(x, feature, axis)
        there = np.flatnonzero(np.isfinite(moves.distance))
        codes = np.full(len(axis), -1)
        codes[there] = self.decide(_moved(x, {feature: moves.value[there]}), scores[there])
        flips = np.isin(codes, wanted)
        if not flips.any():
            return None
        best = int(np.argmin(np.where(flips, moves.distance, math.inf)))
        # As far as the decision stays so.
        first = last = best
        if not axis.is_category:
            while first > 0 and codes[first - 1] == codes[best] and flips[first - 1]:
                first -= 1
            while last + 1 < len(axis) and codes[last + 1] == codes[best] and flips[last + 1]:
                last += 1
        moved = Moved(
            feature, float(moves.value[best]), float(axis.low[first]), float(axis.high[last])
        )
        return Change((moved,), float(moves.distance[best]), int(codes[best]))

    def _between_prices(
        self, x: Values, feature: int, axis: Axis, scores: Scores
    ) -> tuple[Axis, Scores]:
        """The cells of a column that holds costs, divided where two decisions are expected to cost the same."""
        matrix = self.model.costs_of(x[np.newaxis])[0]
        low, high, owner = [], [], []
        for cell in range(len(axis)):
            begin, end = max(float(axis.low[cell]), 0.0), float(axis.high[cell])
            if end < begin:
                continue
            prices = crossings(self.model, matrix, scores[cell], feature)
            inner = [price for price in prices if begin < price < end]
            ends = [begin if axis.low[cell] >= 0 else -math.inf, *inner, end]
            low += ends[:-1]
            high += ends[1:]
            owner += [cell] * (len(inner) + 1)
        return Axis(np.array(low), np.array(high), is_category=False), scores[owner]

    # ---- several columns

    def _together(
        self,
        around: Around,
        x: Values,
        groups: Sequence[tuple[int, ...]],
        wanted: Sequence[int],
        limit: float,
    ) -> Change | None:
        """The smallest change of several columns that is nearer than a limit."""
        best: Change | None = None
        moves = {f: self._moves(x, f, self._cells.axis(f)) for f in {f for g in groups for f in g}}
        for group in groups:
            inside = [np.flatnonzero(moves[f].distance < limit) for f in group]
            if not all(map(len, inside)):
                continue
            base, leaves = around.reached(group)
            leaves = around.alive(leaves, group, inside)
            if len(leaves) == 0 or self._is_out_of_reach(around.extremes(base, leaves), wanted):
                continue
            scores = around.grid(base, leaves, group, inside)
            found = self._in_grid(x, group, inside, moves, scores, wanted, limit)
            if found is not None:
                best, limit = found, found.distance
        return best

    def _in_grid(
        self,
        x: Values,
        group: tuple[int, ...],
        inside: Sequence[Ints],
        moves: dict[int, Moves],
        scores: Floats,
        wanted: Sequence[int],
        limit: float,
    ) -> Change | None:
        shape = scores.shape[:-1]
        far = np.zeros(shape)
        for axis, (f, cells) in enumerate(zip(group, inside, strict=True)):
            along = [1] * len(shape)
            along[axis] = -1
            far += moves[f].distance[cells].reshape(along)
        near = np.flatnonzero(far.ravel() < limit)
        if len(near) == 0:
            return None
        place = np.unravel_index(near, shape)
        values = {
            f: moves[f].value[cells[own]]
            for f, cells, own in zip(group, inside, place, strict=True)
        }
        codes = self.decide(_moved(x, values), scores.reshape(-1, scores.shape[-1])[near])
        flips = np.isin(codes, wanted)
        if not flips.any():
            return None
        best = int(np.argmin(np.where(flips, far.ravel()[near], math.inf)))
        moved = []
        for f, cells, own in zip(group, inside, place, strict=True):
            cell, line = int(cells[own[best]]), self._cells.axis(f)
            if cell != line.cell(float(x[f])):
                ends = float(line.low[cell]), float(line.high[cell])
                moved.append(Moved(f, float(moves[f].value[cell]), *ends))
        return Change(tuple(moved), float(far.ravel()[near[best]]), int(codes[best]))

    def _is_out_of_reach(self, ends: Scores, wanted: Sequence[int]) -> bool:
        """Whether no scores between these lead to a wanted decision: with two classes, none in between does."""
        model = self.model
        decides = len(model.classes) == 2 and not model.by_sample and model.decoder.kind.is_linear
        return decides and not np.isin(self.decide(np.empty((2, 0)), ends), wanted).any()

    # ---- cells

    def _moves(self, x: Values, feature: int, axis: Axis) -> Moves:
        spread, is_whole = self.spreads.of(feature), self.spreads.is_whole(feature)
        now = float(x[feature])
        if axis.is_category:
            return Moves((axis.low != now).astype(np.float64), axis.low)
        far, value = np.full(len(axis), math.inf), np.full(len(axis), now)
        for cell, (low, high) in enumerate(zip(axis.low.tolist(), axis.high.tolist(), strict=True)):
            if low < now <= high:
                far[cell] = 0.0
                continue
            least, most = whole_ends(low, high) if is_whole else (low, high)
            if is_whole and least > most:
                continue
            if math.isnan(now):
                far[cell] = 1.0
                edge = "low" if math.isfinite(low) else "high"
            else:
                edge = "low" if low >= now else "high"
                far[cell] = (least - now if edge == "low" else now - most) / spread
            if not is_whole or (math.isinf(least) and math.isinf(most)):
                value[cell] = written(low, high, spread, edge)
            else:
                value[cell] = least if edge == "low" else most
        return Moves(far, value)

    @cached_property
    def _cells(self) -> Cells:
        trees = [trees_of(ensemble) for ensemble in self._ensembles]
        model, steps = self.model, {}
        for feature in self._useful:
            own = [each.steps(feature) for each in trees[1:] if each is not None]
            steps[feature] = np.concatenate([np.empty(0), *own])
        levels = {f: len(own) for f, own in model.encoder.levels.items()}
        assert trees[0] is not None
        return Cells(trees[0], levels, steps)

    @cached_property
    def _ensembles(self) -> list[Ensemble]:
        learned = () if self.model.learned is None else self.model.learned.cells
        return [self.model.ensemble, *(cell.ensemble for cell in learned)]

    @cached_property
    def _paying(self) -> frozenset[int]:
        """Features that hold costs."""
        columns = self.model.columns
        return frozenset(() if columns is None else (cell.feature for cell in columns.cells))

    @cached_property
    def _useful(self) -> list[int]:
        """Features that may change and that the decision depends on."""
        trees = [trees_of(ensemble) for ensemble in self._ensembles]
        used = {f for each in trees if each is not None for f in each.used_features.tolist()}
        return [f for f in self.free if f in used | self._paying]


def _moved(x: Values, values: dict[int, Floats]) -> Values:
    """(N, d) the sample with other values of some features."""
    n = len(next(iter(values.values())))
    found: Floats = np.tile(x, (n, 1)).astype(np.float64)
    for feature, own in values.items():
        found[:, feature] = own
    return found


def _nearest_of(found: Sequence[Change | None]) -> list[Change]:
    there = [change for change in found if change is not None]
    return [min(there, key=lambda change: change.distance)] if there else []


def crossings(model: FittedClassifier, costs: Floats, scores: ByClass, feature: int) -> list[float]:
    """The prices, sorted, at which two decisions cost the same, or one as much as abstaining.

    `costs` are those of the sample, some of which a feature holds.
    """
    assert model.columns is not None
    posterior = model.posterior(scores[np.newaxis])[0]
    slope, rest = np.zeros(len(posterior)), costs.copy()
    for true, decided, f in model.columns.cells:
        if f == feature:
            slope[decided] += posterior[true]
            rest[true, decided] = 0.0
    level = expected_costs(posterior[np.newaxis], rest)[0]
    pairs = combinations(range(len(level)), 2)
    lines = [(level[a] - level[b], slope[b] - slope[a]) for a, b in pairs]
    if model.rule.reject_cost is not None:
        lines += [(level[a] - model.rule.reject_cost, -slope[a]) for a in range(len(level))]
    found = {float(rise / fall) for rise, fall in lines if fall != 0}
    return sorted(price for price in found if math.isfinite(price))


def whole_ends(low: float, high: float) -> tuple[float, float]:
    """The least and the greatest whole number above `low` and not above `high`."""
    least = math.floor(low) + 1 if math.isfinite(low) else low
    return least, math.floor(high) if math.isfinite(high) else high


def written(low: float, high: float, spread: float, edge: str) -> float:
    """A number between two ends with few digits, near one of them."""
    if not math.isfinite(low) and not math.isfinite(high):
        return 0.0
    start = low if edge == "low" else high
    largest = math.floor(math.log10(spread)) + 1
    for exponent in range(largest, largest - 12, -1):
        unit = 10.0**exponent
        steps = math.floor(start / unit) + 1 if edge == "low" else math.ceil(start / unit) - 1
        value = float(f"{steps * unit:.{max(0, -exponent)}f}")
        if low < value < high and abs(value - start) <= CLOSE * spread:
            return value
    if math.isfinite(low) and math.isfinite(high):
        return low + (high - low) / 2
    return math.nextafter(low, math.inf) if edge == "low" else high


# ---- models whose decisions change between thresholds


def _stepped(search: Search, x: Values, feature: int, wanted: Sequence[int]) -> Change | None:
    """A change of one column, found in steps. There may be a smaller one between two steps."""
    model, spread = search.model, search.spreads.of(feature)
    now = float(x[feature])

    def codes_of(values: Floats) -> Labels:
        samples = _moved(x, {feature: values})
        return search.decide(samples, model.scores(samples))

    found = []
    for way in _ways(search, feature, now):
        hits = np.flatnonzero(np.isin(codes_of(way), wanted)).tolist()
        if not hits:
            continue
        value, distance, ends = float(way[hits[0]]), 1.0, math.nan
        if feature in model.encoder.levels:
            ends = value
        else:
            nearer = float(way[hits[0] - 1]) if hits[0] > 0 else now
            for _ in range(0 if search.spreads.is_whole(feature) else HALVINGS):
                middle = (nearer + value) / 2
                if np.isin(codes_of(np.array([middle])), wanted)[0]:
                    value = middle
                else:
                    nearer = middle
            distance = abs(value - now) / spread
        code = int(codes_of(np.array([value]))[0])
        found.append(Change((Moved(feature, value, ends, ends),), distance, code))
    return min(found, key=lambda change: change.distance) if found else None


def _ways(search: Search, feature: int, now: float) -> list[Floats]:
    """The values that are tried: all categories, or steps up and steps down."""
    levels = search.model.encoder.levels
    if feature in levels:
        values = np.arange(len(levels[feature]), dtype=np.float64)
        return [values[values != now]]
    if math.isnan(now):
        return []
    ways = [now + sign * STEPS * search.spreads.of(feature) for sign in (1.0, -1.0)]
    if search.spreads.is_whole(feature):
        ways = [np.unique(np.round(way)) for way in ways]
        ways = [way[way != now] for way in ways]
        ways = [way[np.argsort(np.abs(way - now), kind="stable")] for way in ways]
    return [way.astype(np.float64) for way in ways]
