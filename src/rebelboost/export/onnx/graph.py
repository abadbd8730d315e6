"""Build ONNX graphs: values that are computed with, as with arrays, and written down as nodes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Value:
    """A tensor of a graph."""

    __array_ufunc__ = None  # arrays leave arithmetic with values to these methods

    def __init__(self, graph: "Graph", name: str) -> None:
        self.graph = graph
        self.name = name

    def __add__(self, other: Any) -> "Value":
        return self.graph.node("Add", self, other)

    def __radd__(self, other: Any) -> "Value":
        return self.graph.node("Add", other, self)

    def __sub__(self, other: Any) -> "Value":
        return self.graph.node("Sub", self, other)

    def __rsub__(self, other: Any) -> "Value":
        return self.graph.node("Sub", other, self)

    def __mul__(self, other: Any) -> "Value":
        return self.graph.node("Mul", self, other)

    def __rmul__(self, other: Any) -> "Value":
        return self.graph.node("Mul", other, self)

    def __truediv__(self, other: Any) -> "Value":
        return self.graph.node("Div", self, other)

    def __rtruediv__(self, other: Any) -> "Value":
        return self.graph.node("Div", other, self)

    def __neg__(self) -> "Value":
        return self.graph.node("Neg", self)

    def __lt__(self, other: Any) -> "Value":
        return self.graph.node("Less", self, other)

    def __le__(self, other: Any) -> "Value":
        return self.graph.node("LessOrEqual", self, other)

    def __gt__(self, other: Any) -> "Value":
        return self.graph.node("Greater", self, other)

    def __ge__(self, other: Any) -> "Value":
        return self.graph.node("GreaterOrEqual", self, other)

    def __and__(self, other: Any) -> "Value":
        return self.graph.node("And", self, other)

    def __or__(self, other: Any) -> "Value":
        return self.graph.node("Or", self, other)

    def __invert__(self) -> "Value":
        return self.graph.node("Not", self)

    def equals(self, other: Any) -> "Value":
        """Whether elements are equal."""
        return self.graph.node("Equal", self, other)

    def is_nan(self) -> "Value":
        """Whether elements are missing."""
        return self.graph.node("IsNaN", self)

    def abs(self) -> "Value":
        """Absolute values."""
        return self.graph.node("Abs", self)

    def nearest(self) -> "Value":
        """The nearest integers, the even one of two."""
        return self.graph.node("Round", self)

    def clipped(self, most: float) -> "Value":
        """At most this large, on either side."""
        return self.graph.node("Clip", self, -most, most)

    def cast(self, kind: type) -> "Value":
        """The same numbers in another type; fractions are cut off in integers."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.graph.node("Cast", self, to=np_dtype_to_tensor_dtype(np.dtype(kind)))

    def take(self, indices: Any, axis: int) -> "Value":
        """Elements at these indices of an axis; a single index removes the axis."""
        return self.graph.node("Gather", self, _index(indices), axis=axis)

    def new_axis(self, *axes: int) -> "Value":
        """With axes of length 1."""
        return self.graph.node("Unsqueeze", self, np.array(axes, dtype=np.int64))

    def last(self, axis: int) -> "Value":
        """The last element along an axis, which is removed."""
        return self.take(-1, axis)

    def largest(self, axis: int) -> "Value":
        """Largest elements along an axis, which is kept."""
        return self.graph.node("ReduceMax", self, np.array([axis], dtype=np.int64))

    def least(self, axis: int) -> "Value":
        """Least elements along an axis, which is kept."""
        return self.graph.node("ReduceMin", self, np.array([axis], dtype=np.int64))

    def any(self) -> "Value":
        """Whether any element is true, as a scalar."""
        return self.graph.node("ReduceMax", self.cast(np.int32), keepdims=0) > np.int32(0)

    def all_along(self, axis: int) -> "Value":
        """Whether all elements along an axis are true; the axis is kept."""
        return self.cast(np.int32).least(axis) > np.int32(0)

    def exact_total(self, axis: int) -> "Value":
        """Sums along an axis that have no rounding, and so no order."""
        return self.graph.node("ReduceSum", self, np.array([axis], dtype=np.int64), keepdims=0)

    def ordered_total(self, axis: int) -> "Value":
        """Sums along an axis, one element after the other."""
        return self.graph.node("CumSum", self, np.array(axis, dtype=np.int64)).last(axis)


class Graph:
    """Nodes, and the constants that they use. The body of a loop shares the constants and the names."""

    def __init__(self, outer: "Graph | None" = None, prefix: str = "v_") -> None:
        self.root: Graph = self if outer is None else outer.root
        self.prefix = prefix
        self.nodes: list[Any] = []
        self.constants: dict[tuple[str, tuple[int, ...], bytes], Any] = {}
        self.n_names = 0

    def name(self) -> str:
        """A name that no other value has."""
        self.root.n_names += 1
        return f"{self.root.prefix}{self.root.n_names}"

    def constant(self, values: ArrayLike | NDArray[Any]) -> Value:
        """A constant; numbers of Python are double."""
        from onnx import numpy_helper

        array = np.asarray(values)
        if not isinstance(values, np.ndarray | np.generic) and array.dtype.kind in "if":
            array = array.astype(np.float64)
        known = self.root.constants
        key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype.kind in "UO":
            key = ("text", array.shape, repr(array.tolist()).encode())
            array = array.astype(object)
        if key not in known:
            known[key] = numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape), self.name()
            )
        return Value(self, known[key].name)

    def node(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> Value:
        """A node with one output."""
        from onnx import helper

        given = [self.own(value) for value in inputs]
        found = Value(self, self.name())
        names = [value.name for value in given]
        self.nodes.append(helper.make_node(kind, names, [found.name], domain=domain, **attributes))
        return found

    def name_output(self, value: Value, name: str, kind: int | None = None) -> None:
        """Give a value the name of an output, and another type of numbers if need be."""
        from onnx import helper

        how: dict[str, Any] = (
            {"op_type": "Identity"} if kind is None else {"op_type": "Cast", "to": kind}
        )
        self.nodes.append(helper.make_node(inputs=[value.name], outputs=[name], **how))

    def own(self, value: Any) -> Value:
        """A value as this graph's, also if it is a constant or belongs to a graph around this one."""
        return Value(self, value.name) if isinstance(value, Value) else self.constant(value)

    def length(self, value: Value) -> Value:
        """(1,) length of the first axis."""
        return self.node("Shape", value, start=0, end=1)

    def where(self, condition: Value, then: Any, otherwise: Any) -> Value:
        """Elements of one or the other."""
        return self.node("Where", condition, then, otherwise)

    def larger(self, *values: Any) -> Value:
        """The largest of several values."""
        return self.node("Max", *values)

    def smaller(self, *values: Any) -> Value:
        """The smallest of several values."""
        return self.node("Min", *values)

    def joined(self, values: Sequence[Any], axis: int) -> Value:
        """Values side by side."""
        return self.node("Concat", *values, axis=axis) if len(values) > 1 else self.own(values[0])

    def loop(
        self,
        most: int,
        start: Sequence[Value],
        active: Value,
        step: Callable[["Graph", Sequence[Value], Value], tuple[Sequence[Value], Value]],
    ) -> list[Value]:
        """Repeat a step while a row is active, and let other rows be as they are.

        `step` takes the state, and returns the next one and which rows stay active.
        """
        from onnx import TensorProto, helper

        inside = Graph(self)
        names = [self.name() for _ in range(len(start) + 3)]
        before = [Value(inside, name) for name in names[2:]]
        found, goes_on = step(inside, before[:-1], before[-1])
        still = before[-1] & goes_on
        after = [
            inside.where(before[-1], new, old) for new, old in zip(found, before, strict=False)
        ]
        outputs = [still.any(), *after, still]
        kinds = [TensorProto.DOUBLE] * len(start) + [TensorProto.BOOL]
        body = helper.make_graph(
            inside.nodes,
            "step",
            [
                helper.make_tensor_value_info(names[0], TensorProto.INT64, []),
                helper.make_tensor_value_info(names[1], TensorProto.BOOL, []),
                *(
                    helper.make_tensor_value_info(name, kind, None)
                    for name, kind in zip(names[2:], kinds, strict=True)
                ),
            ],
            [
                helper.make_tensor_value_info(value.name, kind, None)
                for value, kind in zip(outputs, [TensorProto.BOOL, *kinds], strict=True)
            ],
        )
        given = [self.constant(np.array(most, dtype=np.int64)), active.any(), *start, active]
        ends = [Value(self, self.name()) for _ in range(len(start) + 1)]
        self.nodes.append(
            helper.make_node(
                "Loop", [self.own(v).name for v in given], [v.name for v in ends], body=body
            )
        )
        return ends[:-1]

    def running_total(
        self,
        start: Value,
        along: Sequence[Value],
        added: Callable[..., Value],
        kind: type,
        width: int,
    ) -> Value:
        """Add something for each position of the first axis of some values, one after the other.

        The sums are (N, width). `added` takes what stands at a position in each of the values.
        """
        from onnx import helper

        inside, element = Graph(self), helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        before, *parts = (Value(inside, self.name()) for _ in range(len(along) + 1))
        after = before + added(*parts)
        told = [
            helper.make_tensor_value_info(value.name, element, shape)
            for value, shape in [(before, ["N", width]), *((part, None) for part in parts)]
        ]
        result = helper.make_tensor_value_info(after.name, element, ["N", width])
        body = helper.make_graph(inside.nodes, "added", told, [result])
        found = Value(self, self.name())
        given = [self.own(value).name for value in (start, *along)]
        self.nodes.append(
            helper.make_node("Scan", given, [found.name], body=body, num_scan_inputs=len(along))
        )
        return found


def _index(indices: Any) -> Any:
    return indices if isinstance(indices, Value) else np.array(indices, dtype=np.int64)
