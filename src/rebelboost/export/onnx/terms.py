"""The sums of terms of a model as nodes of ONNX."""

from collections.abc import Callable, Iterator

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.export.onnx.trees import leaves_of
from rebelboost.export.terms import (
    ComparisonTable,
    ConstantTable,
    SmoothTable,
    SpaceTable,
    Sum,
    Table,
    TreeTable,
)
from rebelboost.kernels.reference.similarity import PEAK

AT_ONCE = 32
"""Terms whose outputs are looked up at once: more need more memory."""
STEPS = 4096
"""The levels of responses begin at multiples of 1/4096."""
OF_WHITENING, OF_COORDINATES = 16384.0, 1073741824.0
"""Numbers are rounded to multiples of one by these, as in `data.spaces`."""
LARGEST_COLUMN, LARGEST_COORDINATE = 1e100, 1e15

Outputs = Callable[[slice], Value]
"""Terms → (N, terms, K) what they add."""


def scores_of(graph: Graph, each: Sum, X: Value, n_features: int) -> Value:
    """(N, K) the sum of the terms, for (N, d) samples."""
    found = [_outputs(graph, table, X, n_features) for table in each.tables]
    sums = _zeros(graph, X, each.n_outputs)
    for step in each.steps:
        outputs = found[step.table]
        if isinstance(outputs, _Smooth):
            sums = outputs.added(sums)
            continue
        for part in _parts(step.first, step.last):
            terms = outputs(part)
            if each.is_exact:
                sums = sums + terms.exact_total(1)
            else:
                sums = graph.joined([sums.new_axis(1), terms], 1).ordered_total(1)
    return sums


def _zeros(graph: Graph, X: Value, width: int) -> Value:
    shape = graph.joined([graph.length(X), np.array([width], dtype=np.int64)], 0)
    return graph.node("Expand", np.zeros((1, 1)), shape)


def _parts(first: int, last: int) -> Iterator[slice]:
    for start in range(first, last, AT_ONCE):
        yield slice(start, min(last, start + AT_ONCE))


def _outputs(graph: Graph, table: Table, X: Value, n_features: int) -> "Outputs | _Smooth":
    if isinstance(table, TreeTable):
        return _tree_outputs(graph, table, leaves_of(graph, table, X, n_features))
    if isinstance(table, ConstantTable):
        zeros = _zeros(graph, X, 1).new_axis(1)
        constants = table.outputs
        return lambda part: zeros + constants[np.newaxis, part]
    distances = _distances(graph, table.space, X)
    if isinstance(table, SmoothTable):
        return _Smooth(graph, table, distances)
    return _comparison_outputs(graph, table, distances)


def _tree_outputs(graph: Graph, table: TreeTable, leaves: Value) -> Outputs:
    starts = np.concatenate([[0], np.cumsum(table.sizes + 1)])
    units = np.repeat(table.units, table.sizes + 1)[:, np.newaxis] if len(table.units) else 1.0
    outputs: Floats = units * table.outputs

    def of(part: slice) -> Value:
        first = starts[part.start]
        at = leaves.take(range(part.start, part.stop), 1) - graph.constant(np.int64(first))
        return graph.constant(outputs[first : starts[part.stop]]).take(at, 0)

    return of


# ---- comparisons


def _point(graph: Graph, space: SpaceTable, X: Value) -> Value:
    """(N, D) coordinates of samples, in single precision."""
    parts: list[Value] = []
    if len(space.numeric):
        own = X.take(space.numeric, 1)
        parts.append(graph.where(own.is_nan(), space.fill[space.numeric], own))
    if len(space.indicated):
        parts.append(X.take(space.indicated, 1).is_nan().cast(np.float64))
    for feature, n in zip(space.leveled.tolist(), space.counts.tolist(), strict=True):
        codes = np.arange(n, dtype=np.float64)
        parts.append(X.take([feature], 1).equals(codes).cast(np.float64))
    columns = ((graph.joined(parts, 1) - space.offset) * space.factor).clipped(LARGEST_COLUMN)
    if space.turn.size:
        n = len(space.offset)
        rounded = graph.node("Transpose", (columns * OF_WHITENING).nearest(), perm=[1, 0])
        turned = graph.running_total(
            _zeros(graph, X, n),
            [rounded, graph.constant(space.turn.reshape(n, n).astype(np.float64))],
            _outer,
            np.float64,
            n,
        )
        columns = turned * space.turn_unit
    rounded = (columns * OF_COORDINATES).nearest() / OF_COORDINATES
    return rounded.clipped(LARGEST_COORDINATE).cast(np.float32)


def _outer(a: Value, b: Value) -> Value:
    """(N, M) products of (N,) and (M,)."""
    return a.new_axis(1) * b


def _distances(graph: Graph, space: SpaceTable, X: Value) -> Value:
    """(N, E) squared distances to the examples: single precision, one coordinate after the other."""

    def squared(placed: Value, points: Value) -> Value:
        apart = placed.new_axis(1) - points
        return apart * apart

    points = np.ascontiguousarray(space.points.T)
    zeros = _zeros(graph, X, len(space.points)).cast(np.float32)
    placed = graph.node("Transpose", _point(graph, space, X), perm=[1, 0])
    along = [placed, graph.constant(points)]
    found = graph.running_total(zeros, along, squared, np.float32, len(space.points))
    return found.cast(np.float64)


def _comparison_outputs(graph: Graph, table: ComparisonTable, distances: Value) -> Outputs:
    largest = len(LEVELS) // 2
    # The level of a response from how many steps it has, which are less than a level near 0.
    steps = np.arange(STEPS + 1) / STEPS
    levels = (steps.astype(np.float32).view(np.int32) >> 19) - 119 * 16 + 1
    levels = np.clip(levels, 0, largest)
    rounded = LEVELS[np.concatenate([largest - levels[:0:-1], largest + levels])]

    def of(part: slice) -> Value:
        responses = []
        kinds = table.kinds[part]
        order = np.argsort(kinds, kind="stable")
        for kind in np.unique(kinds).tolist():
            own = np.arange(part.start, part.stop)[kinds == kind]
            near, far = (distances.take(at[own], 1) for at in (table.anchors, table.rivals))
            responses.append(_response(graph, kind, near, far, table.apart[own]))
        found = graph.joined(responses, 1)
        if not np.array_equal(order, np.arange(len(order))):
            found = found.take(np.argsort(order, kind="stable"), 1)
        single = found.cast(np.float32).cast(np.float64)
        at = graph.smaller(graph.larger(single * float(STEPS), -float(STEPS)), float(STEPS))
        f = graph.constant(rounded).take(at.cast(np.int64) + np.int64(STEPS), 0)
        return f.new_axis(2) * table.slopes[part] + table.offsets[part]

    return of


def _response(graph: Graph, kind: int, near: Value, far: Value, apart: Floats) -> Value:
    """(N, T) responses of one kind before they are rounded to levels."""
    if kind == 0:
        quarter = apart * 0.25
        middle = graph.larger((near + far) * 0.5 - quarter, 0.0)
        bottom = 4.0 * quarter * quarter + middle * middle
        return (PEAK * quarter) * ((far - near) * 0.25) / bottom
    if kind == 1:
        return graph.where(far > near, 1.0, -1.0)
    if kind == 2:
        return (apart - near) / (apart + near)
    return graph.where(near < apart, 1.0, -1.0)


class _Smooth:
    """A smooth function, which adds to the sums as a whole."""

    def __init__(self, graph: Graph, table: SmoothTable, distances: Value) -> None:
        self.graph, self.table = graph, table
        self.f = (table.tau - distances) / (table.tau + distances)

    def added(self, sums: Value) -> Value:
        """The sums and the function, rounded to its unit if it has one."""
        table = self.table
        start = sums * 0.0 if table.unit > 0 else sums
        along = [
            self.graph.node("Transpose", self.f, perm=[1, 0]),
            self.graph.constant(table.outputs),
        ]
        width = table.outputs.shape[1]
        total = self.graph.running_total(start, along, _outer, np.float64, width)
        total = total + table.offset
        if table.unit > 0:
            return sums + (total / table.unit).nearest() * table.unit
        return total
