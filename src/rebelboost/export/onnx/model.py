"""A whole model as ONNX: inputs, sums, probabilities, costs and decisions."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats
from rebelboost.base.names import printed
from rebelboost.costs.amounts import LARGEST_COST, LEAST_COST
from rebelboost.exceptions import ExportError
from rebelboost.export.evaluator import Deciding, Evaluator
from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.export.onnx.posterior import posterior_of
from rebelboost.export.onnx.terms import scores_of
from rebelboost.export.reading import CATEGORY, WEEKDAY, Reading

OPSETS = {"": 18, "ai.onnx.ml": 3}
"""Versions of ONNX's operators."""
IR_VERSION = 8
ABSTAINS, NO_COSTS = -1, -2
SAMPLES, COSTS = "X", "costs"
"""Names of inputs."""
OUTPUTS = ("label", "probabilities", "decision", "expected_costs", "scores")


IDENTIFIER = re.compile(r"(?!(X|costs|v_\d+|x\d+)$)[A-Za-z]\w*$", re.ASCII)
"""Names of features that inputs can have; ONNX asks for identifiers."""


def as_onnx(evaluator: Evaluator) -> bytes:
    """The contents of the file."""
    try:
        import onnx
    except ModuleNotFoundError:
        raise ExportError(
            "ONNX files are written by the package onnx: install rebelboost[onnx]"
        ) from None
    graph = Graph()
    names = input_names(evaluator)
    if SAMPLES in names:
        inputs = [_tensor(SAMPLES, float, ["N", len(evaluator.names)])]
        X = Value(graph, SAMPLES)
    else:
        kinds = [str if is_text(reading) else float for reading in evaluator.readings]
        inputs = [_tensor(name, kind, ["N", 1]) for name, kind in zip(names, kinds, strict=True)]
        given = [Value(graph, name) for name in names]
        columns = [encoded(graph, *each) for each in zip(evaluator.readings, given, strict=True)]
        X = graph.joined(columns, 1)
    defaults = []
    if evaluator.deciding is not None:
        costs = default_costs(evaluator.deciding)
        inputs.append(_tensor(COSTS, float, ["M", *costs.shape[1:]]))
        defaults.append(onnx.numpy_helper.from_array(costs, COSTS))
    outputs = []
    for name, value in answers(graph, evaluator, X, Value(graph, COSTS)).items():
        graph.name_output(value, name)
        kind, shape = _output(evaluator, name)
        outputs.append(_tensor(name, kind, ["N", *shape]))
    constants = [*defaults, *graph.constants.values()]
    built = onnx.helper.make_graph(graph.nodes, "rebelboost", inputs, outputs, constants)
    model = onnx.helper.make_model(
        built,
        producer_name="rebelboost",
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid(*opset) for opset in OPSETS.items()],
    )
    told = {"inputs": dict(zip(names, evaluator.names, strict=False))}
    if SAMPLES in names:
        told = {"inputs": {SAMPLES: list(evaluator.names)}}  # type: ignore[dict-item]
    if evaluator.deciding is not None:
        told["classes"] = list(evaluator.deciding.classes)  # type: ignore[assignment]
    onnx.helper.set_model_props(model, {"rebelboost": json.dumps(told)})
    onnx.checker.check_model(model)
    contents: bytes = model.SerializeToString()
    return contents


def input_names(evaluator: Evaluator) -> list[str]:
    """Names of the inputs that hold samples: one for all features, or with categories one for each."""
    if not any(_is_category(reading) for reading in evaluator.readings):
        return [SAMPLES]
    counts = Counter(evaluator.names)
    return [
        name if IDENTIFIER.match(name) and counts[name] == 1 and name not in OUTPUTS else f"x{f}"
        for f, name in enumerate(evaluator.names)
    ]


def _is_category(reading: Reading) -> bool:
    return reading.kind in (CATEGORY, WEEKDAY)


def is_text(reading: Reading) -> bool:
    """Whether a feature is given as text."""
    return _is_category(reading) and reading.levels_are == "text"


def _tensor(name: str, kind: type, shape: Sequence[int | str]) -> Any:
    from onnx import TensorProto, helper

    kinds = {float: TensorProto.DOUBLE, int: TensorProto.INT64, str: TensorProto.STRING}
    return helper.make_tensor_value_info(name, kinds[kind], shape)


def encoded(graph: Graph, reading: Reading, given: Value) -> Value:
    """(N, 1) a feature as a number; categories that training never saw are missing."""
    if not _is_category(reading):
        return given
    levels = _levels(reading)
    if levels.dtype == object:
        codes = graph.node(
            "LabelEncoder",
            given,
            domain="ai.onnx.ml",
            keys_strings=[*levels, "".join(levels) + "?"],  # there must be one
            values_int64s=[*range(len(levels)), -1],
            default_int64=-1,
        )
        return graph.where(codes < np.int64(0), np.nan, codes.cast(np.float64))
    same = given.equals(levels).cast(np.int32)
    code = graph.node("ArgMax", same, axis=1, keepdims=1).cast(np.float64)
    return graph.where(same.largest(1) > np.int32(0), code, np.nan)


def onnx_inputs(evaluator: Evaluator, X: Floats) -> dict[str, NDArray[Any]]:
    """The inputs of the file for (N, d) encoded samples."""
    names = input_names(evaluator)
    if SAMPLES in names:
        return {SAMPLES: X}
    return {name: _decoded(evaluator.readings[f], X[:, [f]]) for f, name in enumerate(names)}


def _decoded(reading: Reading, codes: Floats) -> NDArray[Any]:
    if not _is_category(reading):
        return codes
    levels = _levels(reading)
    none: Any = "".join(levels) + "?" if levels.dtype == object else np.nan
    known = np.append(levels, np.array([none], dtype=levels.dtype))
    found: NDArray[Any] = known[np.where(np.isnan(codes), len(levels), codes).astype(np.int64)]
    return found


def _levels(reading: Reading) -> NDArray[Any]:
    if reading.levels_are == "text":
        return np.array([_unicode(level) for level in reading.levels], dtype=object)
    named = {"true": 1.0, "false": 0.0}
    return np.array([named[t] if t in named else float(t) for t in reading.levels])


def _unicode(text: str) -> str:
    """Text without halves of characters, which ONNX cannot hold."""
    return text.encode("utf-8", "replace").decode()


# ---- answers


def answers(graph: Graph, evaluator: Evaluator, X: Value, costs: Value) -> dict[str, Value]:
    """The outputs by name; `costs` are (M, K, K), with one row or as many as there are samples."""
    n_features = len(evaluator.names)
    sums = [scores_of(graph, each, X, n_features) for each in evaluator.sums]
    scores, deciding = sums[0], evaluator.deciding
    if deciding is None:
        return {"prediction": (scores + evaluator.baseline).take(0, 1), "scores": scores}
    n_classes = evaluator.n_scores
    P = posterior_of(graph, deciding.decoder, scores, n_classes)
    own = _own_costs(graph, deciding, X, sums)
    costs = graph.where(costs.is_nan(), own, costs)
    risks = (P.new_axis(2) * costs).ordered_total(1)
    decision = _decision(graph, deciding, scores, risks, costs)
    label = graph.constant(labels_of(deciding)).take(decision, 0)
    return dict(zip(OUTPUTS, (label, P, decision, risks, scores), strict=True))


def default_costs(deciding: Deciding) -> Floats:
    """(1, K, K) the costs of the model; NaN where they differ from sample to sample."""
    costs = deciding.costs[np.newaxis].copy()
    return np.full_like(costs, np.nan) if deciding.sources else costs


def _own_costs(graph: Graph, deciding: Deciding, X: Value, sums: Sequence[Value]) -> Value:
    """(1 or N, K, K) the costs of the samples themselves; NaN where they cannot be known."""
    found = graph.constant(deciding.costs[np.newaxis])
    for true, decided, feature, s, baseline in deciding.sources:
        cells = np.zeros(deciding.costs.shape, dtype=bool)
        cells[true, slice(None) if decided < 0 else decided] = True
        if feature >= 0:
            amount = X.take([feature], 1)
            fits = (amount >= LEAST_COST) & (amount <= LARGEST_COST)
            amount = graph.where(amount.equals(0.0) | fits, amount, np.nan)
        else:
            amount = graph.larger(sums[s] + baseline, 0.0)
        amount = amount.new_axis(2)
        found = graph.where(
            graph.constant(cells[np.newaxis]), found * amount if decided < 0 else amount, found
        )
    return found


def _decision(graph: Graph, deciding: Deciding, scores: Value, risks: Value, costs: Value) -> Value:
    """(N,) position of the class that is decided, or `ABSTAINS`, or `NO_COSTS`."""
    allowed, least = scores, risks.least(1)
    if deciding.by_cost:
        fits = risks <= least + least.abs() * 1e-12
        if (
            deciding.decoder.rest is None
            and deciding.decoder.shift is None
            and not deciding.sources
        ):
            fits = fits | _are_uniform(graph, costs, len(deciding.classes))
        allowed = graph.where(fits, scores, -np.inf)
    found = graph.node("ArgMax", allowed, axis=1, keepdims=0)
    if deciding.reject_cost is not None:
        rejected = (least > deciding.reject_cost).take(0, 1)
        found = graph.where(rejected, np.int64(ABSTAINS), found)
    if any(source.feature >= 0 for source in deciding.sources):
        unknown = ~risks.equals(risks).all_along(1)
        found = graph.where(unknown.take(0, 1), np.int64(NO_COSTS), found)
    return found


def _are_uniform(graph: Graph, costs: Value, n_classes: int) -> Value:
    """(1 or N, 1) whether all mistakes cost the same."""
    if n_classes == 1:
        return graph.constant(np.array([[True]]))
    first = costs.take([0], 1).take([1], 2)
    same = costs.equals(first) | graph.constant(np.eye(n_classes, dtype=bool))
    return same.all_along(1).all_along(2).take(0, 2)


def labels_of(deciding: Deciding) -> NDArray[Any]:
    """(K + 2,) labels of decisions: at −1 that of abstaining, at −2 that of missing costs."""
    labels = [*deciding.classes, 0, deciding.reject_label]
    no_costs = any(source.feature >= 0 for source in deciding.sources)
    if deciding.reject_cost is None:
        labels[-1] = 0
    if not no_costs and all(type(label) is int and abs(label) < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    labels[-2] = ""
    texts = ["" if label is None else _unicode(printed(label)) for label in labels]
    return np.array(texts, dtype=object)


def _output(evaluator: Evaluator, name: str) -> tuple[type, list[int]]:
    if name in ("prediction", "decision"):
        return (float if name == "prediction" else int), []
    if name == "label":
        assert evaluator.deciding is not None
        return (str if labels_of(evaluator.deciding).dtype == object else int), []
    return float, [evaluator.n_scores]
