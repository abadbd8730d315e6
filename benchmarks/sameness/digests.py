"""Values → SHA-256: exact for numbers, and apart from them the words that go with them."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rebelboost import load


class Notes:
    """Digests of all that a model says, numbers and words apart.

    An exception is an answer too: its type counts among the numbers, its message among the words.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, str] = {}
        self.words: dict[str, str] = {}

    def number(self, name: str, ask: Callable[[], Any]) -> None:
        self._note(name, ask, lambda found: self.numbers.update({name: digest(found)}))

    def word(self, name: str, ask: Callable[[], Any]) -> None:
        self._note(name, ask, lambda found: self.words.update({name: digest(found)}))

    def both(self, name: str, ask: Callable[[], Any]) -> None:
        """Of a nested value: its texts are words, all else is numbers."""

        def note(found: Any) -> None:
            self.numbers[name] = digest(without_texts(found))
            self.words[name] = digest(list(texts(found)))

        self._note(name, ask, note)

    def each(self, name: str, ask: Callable[[], dict[str, Any]]) -> None:
        """A digest of each entry, so that a difference is named exactly."""

        def note(found: dict[str, Any]) -> None:
            self.numbers |= {f"{name}: {key}": digest(value) for key, value in found.items()}

        self._note(name, ask, note)

    def _note(self, name: str, ask: Callable[[], Any], keep: Callable[[Any], None]) -> None:
        try:
            found = ask()
        except Exception as error:  # noqa: BLE001  (whatever is raised is compared)
            self.numbers[name] = f"raises {type(error).__name__}"
            self.words[f"{name}: message"] = digest(str(error))
        else:
            keep(found)


def digest(value: Any) -> str:
    taken = hashlib.sha256()
    for piece in _pieces(value):
        taken.update(piece)
    return taken.hexdigest()


def _pieces(value: Any) -> Iterator[bytes]:
    """Bytes that differ wherever two values differ; floats by all their bits."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"array {value.dtype} {value.shape} ".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, dict):
        yield f"dict {len(value)} ".encode()
        for key in sorted(value, key=str):  # their order is no result
            yield from (*_pieces(key), *_pieces(value[key]))
    elif isinstance(value, list | tuple | np.ndarray):
        yield f"list {len(value)} ".encode()
        for held in value:
            yield from _pieces(held)
    else:
        value = value.item() if isinstance(value, np.generic) else value
        shown = value.hex() if isinstance(value, float) else str(value)
        yield f"{type(value).__name__} {len(shown)} {shown} ".encode()


def without_texts(value: Any) -> Any:
    """The value with every text, and every key, left blank."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return [without_texts(held) for held in value.values()]
    if isinstance(value, list | tuple):
        return [without_texts(held) for held in value]
    return value


def texts(value: Any) -> Iterator[str]:
    """All texts in it, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from (str(key), *texts(held))
    elif isinstance(value, list | tuple):
        for held in value:
            yield from texts(held)


# ---- files


def note_file(notes: Notes, path: Path) -> None:
    """What the model in a file is, however the file is laid out; the user's own part of it apart."""
    model = load(path)
    kept = dict(model.metadata_)
    kept.pop("seconds", None)  # of the command's training
    notes.number("file: model", model.to_dict)
    notes.number("file: parameters", lambda: repr(model))
    notes.both("file: metadata_", lambda: kept)
