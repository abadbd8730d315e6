"""Model files of the command: what they keep of a table and its rows, and how they are checked."""

import hashlib
import os
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from rebelboost.base.names import listed, printed
from rebelboost.base.text import counted
from rebelboost.base.writing import is_stream
from rebelboost.cli.fitted_model import FittedModel, fitted_model
from rebelboost.exceptions import ModelFileError, TableError
from rebelboost.files.packed_schema import unpacked_schema
from rebelboost.files.training_rows import ROWS
from rebelboost.tables.files import Source, check_name
from rebelboost.tables.held_out import HoldOutRule
from rebelboost.tables.schema import TableSchema, stored_schema


def check_writable(path: Path, *inputs: Path | None, option: str = "-o") -> None:
    """Raise an error before any work is done if the file cannot be written, or is one that is read."""
    check_name(path)
    for read in inputs:
        if read is not None and path.exists() and read.exists() and path.samefile(read):
            raise TableError(
                f"{path} is read by this command and would be overwritten: choose another place with "
                f"{option}"
            )
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a file name, such as {path / 'out'}")
    if is_stream(path):
        return
    folder = path.parent
    if not folder.is_dir():
        raise TableError(f"cannot write {path.name}: there is no folder {folder}; create it first")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise TableError(f"cannot write {path}: permission denied; choose another folder")


def check_replaceable(path: Path, table: TableSchema) -> None:
    """Raise an error if the file is anything but a model of the same target, trained on the same table.

    Tables of one name with the same columns count as one: rows are often added.
    """
    from rebelboost import load

    if not path.exists() or is_stream(path):
        return
    remedy = "choose another file with -o, or use --force to replace it"
    try:
        told = stored_schema(load(path))
    except ValueError as error:
        raise TableError(f"{path} exists and is not a model file: {remedy}") from error
    if told is None or (told.source, told.target) != (table.source, table.target):
        whose = "another table" if told is None else f"{told.target!r} in {told.source}"
        raise TableError(f"{path} exists and holds a model of {whose}: {remedy}")
    differing = told.names_in_file ^ table.names_in_file
    if differing:
        raise TableError(
            f"{path} exists and holds a model of another {table.source}, which differs in "
            f"{counted(len(differing), 'column')} ({listed(sorted(differing), 3)}): {remedy}"
        )


def save_model(model: Any, path: Path, rows: str) -> list[str]:
    """Save a model; without the figures of its evaluation if they are too many. Returns notes."""
    try:
        model.save(path, rows=rows)
    except ModelFileError:
        if model.metadata_.get("evaluation") is None:
            raise
        model.metadata_["evaluation"] = None
        model.save(path, rows=rows)
        return ["the figures of the evaluation are too many to be stored in the model file"]
    return []


def load_model(path: Path) -> Any:
    """Load a model."""
    from rebelboost import load

    _check_path(path)
    model = load(path)
    check_stored(model)
    return model


def load_fitted(path: Path) -> FittedModel:
    """Load a model for prediction alone, which is faster."""
    _check_path(path)
    model = fitted_model(path)
    check_stored(model, evaluated=False)
    return model


def _check_path(path: Path) -> None:
    check_name(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a model file written by `rebel train`")
    if not path.exists():
        raise TableError(
            f"there is no file {path}: `rebel train data.csv --target COLUMN` writes a model file"
        )


def fingerprints(data: Source) -> dict[str, Any]:
    """Hash of a table, which identifies the one that a model was trained on, and those of its files."""
    files = [fingerprint(file) for file in data.files]
    if len(files) == 1:
        return {"fingerprint": files[0]}
    return {"fingerprint": _digest("".join(files).encode()), "fingerprints": files}


def _digest(told: bytes) -> str:
    return hashlib.blake2b(told, digest_size=16).hexdigest()


def fingerprint(path: Path) -> str:
    """Hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What data of another form than expected may cause."""


def check_stored(model: Any, *, evaluated: bool = True) -> None:
    """Raise an error unless what the file tells of its table is as `rebel train` writes it.

    `evaluated` says whether the figures of its evaluation are checked too.
    """
    told = model.metadata_
    try:
        _check_table(told.get("table"), model)
        if evaluated:
            _check_evaluation(told.get("evaluation"), model)
        if "held_out" in told:
            HoldOutRule.from_dict(told["held_out"])
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
    told = unpacked_schema(told)
    for field in fields(TableSchema):
        hint = get_type_hints(TableSchema)[field.name]
        _require(field.name not in told or _fits(told[field.name], hint), field.name)
    table = TableSchema.from_dict(told)
    names = [column.name for column in table.columns]
    known = getattr(model, "feature_names_in_", None)
    _require(known is None or names == [printed(name) for name in known], "columns")
    _require(table.predicts_numbers != hasattr(model, "classes_"), "target_column")


def _check_evaluation(told: Any, model: Any) -> None:
    from rebelboost.evaluation.regression import RegressionEvaluation  # slow to import
    from rebelboost.evaluation.result import Evaluation

    if told is not None:
        kind = Evaluation if hasattr(model, "classes_") else RegressionEvaluation
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


class KeptRows(NamedTuple):
    """What a model file keeps of the training rows."""

    rows: str = "values"
    """One of `ROWS`."""
    names: bool = True
    """Whether rows are named by the identifier column; otherwise by their numbers."""

    def words(self) -> list[str]:
        """The options on the command line."""
        words = [] if self.rows == "values" else ["--rows", self.rows]
        return words if self.names else [*words, "--no-names"]

    def learner(self, wanted: str) -> str:
        """The learner to use; for a model without rows, one that keeps none."""
        from rebelboost.learners.base import traits_of
        from rebelboost.tasks.base import RACES
        from rebelboost.tasks.classes import ClassTask

        if self.rows not in ROWS:
            raise ValueError(f"--rows is {self.rows!r}: choose one of {', '.join(ROWS)}")
        if self.rows != "none":
            return wanted
        if wanted in RACES:
            return "auto_trees"
        if traits_of(ClassTask.learners[wanted]).compares_rows:
            raise ValueError(
                f"--learner {wanted} compares cases with training rows, so it needs them: use another "
                "--learner, or --rows ids"
            )
        return wanted

    def of_table(self, schema: TableSchema) -> TableSchema:
        """What is kept of the description of the table: without rows, no cells and no extreme targets."""
        if self.rows != "none":
            return schema
        return replace(schema, readings={}, spread=())

    def told(self, model: Any) -> str:
        """Say what the file holds of the training rows."""
        n_rows = len(model.ensemble_.example_rows)
        if self.rows == "none":
            return "no training rows; names of columns, classes and categories"
        if not n_rows:
            scored = "" if getattr(model, "cross_fit_", None) is None else "a score of each and "
            return f"no values of training rows, but {scored}hashes (--rows none: not even that)"
        rows = counted(n_rows, "training row")
        if self.rows == "ids":
            return (
                f"the numbers or names of {rows}; their values can be computed from the comparisons"
            )
        is_named = any(
            isinstance(label, str) for label in model.model_.provenance.row_labels.values()
        )
        names = " and names" if is_named else ""
        fewer = "--rows none keeps none"
        return f"the values{names} of {rows}: share with care ({fewer})"
