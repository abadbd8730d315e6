"""Files that are written whole or not at all, and model files that are read."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rebelboost.exceptions import TableError


def check_writable(path: Path) -> None:
    """Refuse a place to write to before any work is done."""
    if path.is_dir():
        raise TableError(f"{path} is a folder: name a file in it, such as {path / 'out'}")
    folder = path.parent
    if not folder.is_dir():
        raise TableError(f"there is no folder {folder} to write {path.name} to: make it first")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise TableError(f"{path} cannot be written, for want of permission: choose another place")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to; it takes that name when all went well, or vanishes."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def load_model(path: Path) -> Any:
    """A classifier from its file."""
    from rebelboost import RebelClassifier, load

    if path.is_dir():
        raise TableError(f"{path} is a folder: name the model file that `rebel train` wrote")
    if not path.exists():
        raise TableError(f"there is no file {path}: `rebel train data.csv --target …` writes one")
    model = load(path)
    if not isinstance(model, RebelClassifier):
        raise TableError(f"{path} predicts numbers, not classes: use it in Python, by load()")
    return model


def fingerprint(path: Path) -> str:
    """What tells whether a table is the one that a model has learned from."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
