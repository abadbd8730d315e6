"""Check what `rebel train` has stored in a model file beside the model, before a command relies on it."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from rebelboost.base.names import printed
from rebelboost.evaluation.numbers import NumberEvaluation
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import ModelFileError
from rebelboost.tables.held_out import LeftOutRule
from rebelboost.tables.kept import unpacked_table
from rebelboost.tables.schema import Understanding

UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What data of another form than expected may cause."""


def check_stored(model: Any) -> None:
    """Raise an error unless what the file tells of its table is as `rebel train` writes it."""
    told = model.metadata_
    try:
        _check_table(told.get("table"), model)
        _check_evaluation(told.get("evaluation"), model)
        if "held_out" in told:
            LeftOutRule.from_dict(told["held_out"])
        files = [told.get("fingerprint", ""), *told.get("fingerprints", ())]
        _require(all(isinstance(each, str) for each in files), "fingerprint")
    except UNREADABLE as error:
        raise ModelFileError(
            f"the model file was altered: what it says of its table is not what `rebel train` writes "
            f"({type(error).__name__}: {error}); train the model again"
        ) from None


def _check_table(told: Any, model: Any) -> None:
    if told is None:
        return
    told = unpacked_table(told)
    for field in fields(Understanding):
        hint = get_type_hints(Understanding)[field.name]
        _require(field.name not in told or _fits(told[field.name], hint), field.name)
    table = Understanding.from_dict(told)
    names = [column.name for column in table.columns]
    known = getattr(model, "feature_names_in_", None)
    _require(known is None or names == [printed(name) for name in known], "columns")
    _require(table.predicts_numbers != hasattr(model, "classes_"), "target_column")


def _check_evaluation(told: Any, model: Any) -> None:
    if told is not None:
        kind = Evaluation if hasattr(model, "classes_") else NumberEvaluation
        str(kind.from_dict(told))


def _require(condition: bool, name: str) -> None:
    if not condition:
        raise ValueError(name)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON can be one of this type."""
    kind, inside = get_origin(hint), get_args(hint)
    if kind in (Union, types.UnionType):
        return any(_fits(value, each) for each in inside)
    if kind is not None and issubclass(kind, Mapping):
        return isinstance(value, dict) and all(_fits(each, inside[1]) for each in value.values())
    if kind is not None and issubclass(kind, Sequence):
        return isinstance(value, list | tuple) and all(_fits(each, inside[0]) for each in value)
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return isinstance(value, dict) and all(
            _fits(value[name], hints[name]) for name in hints.keys() & value.keys()
        )
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return hint is Any or (
        isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    )
