"""Our estimators in scikit-learn's pipelines that skl2onnx converts to ONNX."""

from typing import Any

import numpy as np

from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.exceptions import ExportError
from rebelboost.export.evaluator import Evaluator, evaluator_of
from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.export.onnx.model import (
    OPSETS,
    answers,
    default_costs,
    encoded,
    is_text,
    labels_of,
)

__all__ = ["register_converters"]


def register_converters() -> None:
    """Register `RebelClassifier` and `RebelRegressor` with skl2onnx.

    Afterwards, ``skl2onnx.to_onnx`` converts pipelines that contain them. Inputs should be of type
    ``DoubleTensorType``, since others are rounded. Costs are constants in such files.

    Raises
    ------
    ExportError
        If skl2onnx is not installed.
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common import shape_calculator
    except ModuleNotFoundError:
        raise ExportError("skl2onnx is not installed: pip install skl2onnx") from None
    update_registered_converter(
        RebelClassifier,
        "RebelboostClassifier",
        shape_calculator.calculate_linear_classifier_output_shapes,
        _convert,
        options={"zipmap": [True, False, "columns"], "nocl": [True, False]},
    )
    update_registered_converter(
        RebelRegressor,
        "RebelboostRegressor",
        shape_calculator.calculate_linear_regressor_output_shapes,
        _convert,
    )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a fitted estimator; called by skl2onnx."""
    from skl2onnx.common.data_types import DoubleTensorType, guess_proto_type

    evaluator = evaluator_of(operator.raw_operator.model_)
    graph = Graph(prefix=scope.get_unique_variable_name("rebelboost") + "_")
    given = Value(graph, operator.inputs[0].full_name)
    if not isinstance(operator.inputs[0].type, DoubleTensorType):
        given = given.cast(np.float64)
    X, costs = _samples(graph, evaluator, given), graph.constant(0.0)
    if evaluator.deciding is not None:
        _check_labels(evaluator)
        costs = graph.constant(default_costs(evaluator.deciding))
    found = answers(graph, evaluator, X, costs)
    if evaluator.deciding is None:
        results = [found["prediction"].new_axis(1)]
    else:
        results = [found["label"], found["probabilities"]]
    for value, output in zip(results, operator.outputs, strict=True):
        kind = guess_proto_type(output.type)
        is_number = value is not found.get("label")
        graph.name_output(value, output.full_name, kind if is_number else None)
    container.nodes += graph.nodes
    container.initializers += graph.constants.values()
    container.node_domain_version_pair_sets.update(OPSETS.items())


def _samples(graph: Graph, evaluator: Evaluator, given: Value) -> Value:
    columns = []
    for f, name in enumerate(evaluator.names):
        if is_text(evaluator.readings[f]):
            raise ExportError(
                f"the model reads the feature {name} as text, but skl2onnx gives numbers: encode it in the "
                "pipeline, or export the model itself with clf.export"
            )
        columns.append(encoded(graph, evaluator.readings[f], given.take([f], 1)))
    return graph.joined(columns, 1)


def _check_labels(evaluator: Evaluator) -> None:
    """The labels of skl2onnx have the type of the classes, also where the model abstains."""
    deciding = evaluator.deciding
    assert deciding is not None
    numbers = all(type(label) is int for label in deciding.classes)
    if numbers != (labels_of(deciding).dtype != object):
        raise ExportError(
            f"the classes are integers, but the label {deciding.reject_label!r} of abstaining is not: set "
            "reject_label to an integer, or export the model itself with clf.export"
        )
