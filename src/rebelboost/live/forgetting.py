"""Rows that are erased, and the receipt.

The project's file is written anew without them (VACUUM), so that nothing of their cells, labels and names is
left in it; the model is fitted anew, and equals a fit that never saw them. Model files that were saved before
cannot be changed from here: those that hold the rows are named. The receipt keeps numbers of rows only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebelboost.base.findings import Column as Cells
from rebelboost.base.findings import Described, Document, Sentence, Table
from rebelboost.base.text import counted
from rebelboost.live.store import Row

FEWEST_BYTES = 5
"""Shorter texts are found in any file by chance."""


@dataclass(frozen=True, repr=False)
class Receipt(Described):
    """What was forgotten, and what shows it."""

    at: str
    """Time in UTC."""
    who: str
    ids: tuple[int, ...]
    """Numbers of the rows."""
    n_labelled: int
    """How many of them the model had been fitted to."""
    hash_before: str | None
    """Hash of the model before; None if there was none."""
    hash_after: str | None
    """Hash of the model afterwards, which equals a fit that never saw the rows; None if none can be fitted."""
    files: tuple[tuple[str, str], ...]
    """Saved model files that hold some of these rows, and their hashes: delete them."""
    n_searched: int
    """Number of texts that only these rows had, which were searched for in the file."""
    n_found: int
    """How often they were found: 0."""

    def document(self) -> Document:
        """The receipt as a document, which `rebelboost.base.findings` renders."""
        rows = counted(len(self.ids), "row")
        before, after = (each or "none" for each in (self.hash_before, self.hash_after))
        found: Document = [
            Sentence(
                f"{rows} forgotten at {self.at} by {self.who}, of which {self.n_labelled:,} had a label."
            ),
            Sentence(f"Hash of the model before: {before}; now: {after}."),
            Sentence(
                f"{counted(self.n_searched, 'text')} that only these rows had: found "
                f"{counted(self.n_found, 'time')} in the project and its model."
            ),
        ]
        if self.files:
            columns = [
                Cells("file", [path for path, _ in self.files]),
                Cells("hash", [told[:16] for _, told in self.files]),
            ]
            title = "Model files that still hold some of these rows: delete them"
            found = [*found, Table(columns, key="files", title=title)]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {
            **vars(self),
            "ids": list(self.ids),
            "files": [list(each) for each in self.files],
        }


def own_texts(
    forgotten: Sequence[Row], others: Iterable[Row], known: Iterable[str], model: bytes
) -> set[bytes]:
    """Texts that nothing but the forgotten rows has, long enough not to occur by chance.

    The model that never saw the rows may have them by chance: 16630 may be a place in its file.
    """
    texts = {text.encode() for row in forgotten for text in texts_of(row)}
    found = {text for text in texts if len(text) >= FEWEST_BYTES}
    kept = {text for row in others for text in texts_of(row)}.union(known)
    told = "\0".join(kept).encode()
    return {text for text in found if text not in told and text not in model}


def texts_of(row: Row) -> set[str]:
    """Cells, label and name of a row."""
    return {text for text in (*row.cells, row.label, row.name) if text}


def count_in_file(path: Path, texts: Iterable[bytes]) -> int:
    """How often texts occur among the bytes of a file."""
    contents = path.read_bytes()
    return sum(contents.count(text) for text in texts)
