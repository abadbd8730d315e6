"""Check files before they are written, and load model files."""

import hashlib
import os
from pathlib import Path
from typing import Any

from rebelboost.base.names import listed
from rebelboost.base.text import counted
from rebelboost.base.writing import is_stream
from rebelboost.cli.stored import check_stored
from rebelboost.exceptions import ModelFileError, TableError
from rebelboost.tables.files import check_name
from rebelboost.tables.kept import kept_table
from rebelboost.tables.schema import Understanding
from rebelboost.tables.together import Source


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


def check_replaceable(path: Path, table: Understanding) -> None:
    """Raise an error if the file is anything but a model of the same target, trained on the same table.

    Tables of one name with the same columns count as one: rows are often added.
    """
    from rebelboost import load

    if not path.exists() or is_stream(path):
        return
    remedy = "choose another file with -o, or use --force to replace it"
    try:
        told = kept_table(load(path))
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

    check_name(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a model file written by `rebel train`")
    if not path.exists():
        raise TableError(
            f"there is no file {path}: `rebel train data.csv --target COLUMN` writes a model file"
        )
    model = load(path)
    check_stored(model)
    return model


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
