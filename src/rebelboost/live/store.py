"""The file of a project: a SQLite database of rows, labels, their changes, and the latest model.

Every change is one transaction on the disk before the call returns: after a crash at any moment, the file
opens, and holds all changes that were confirmed. A second process that writes at the same time waits, and is
refused after `PATIENCE` seconds. What is deleted is overwritten (`secure_delete`).
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.base.text import counted
from rebelboost.exceptions import ProjectError

VERSION = 1
"""Version of the tables below. A newer version opens files of all older ones."""
MARK = 0x52454245
"""Says that a SQLite file is a project."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
AT_ONCE = 500
"""Rows that a statement names at a time."""

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE rows (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE,
    cells TEXT NOT NULL,
    label TEXT,
    labelled INTEGER,
    worth REAL NOT NULL DEFAULT 1.0
);
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    kind TEXT NOT NULL,
    row INTEGER,
    before TEXT,
    after TEXT
);
CREATE INDEX changes_of_row ON changes (row);
CREATE INDEX rows_by_label ON rows (labelled);
CREATE TABLE fits (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    hash TEXT NOT NULL,
    n_rows INTEGER NOT NULL,
    seconds REAL NOT NULL,
    told TEXT NOT NULL,
    contents BLOB,
    rows BLOB
);
CREATE TABLE files (path TEXT PRIMARY KEY, at TEXT NOT NULL, hash TEXT NOT NULL, number INTEGER NOT NULL);
"""
"""`rows.labelled` and `fits.number` are numbers of changes: a fit has seen those up to its number."""

ADD, LABEL, CORRECT, FORGET, SET = "add", "label", "correct", "forget", "set"
"""Kinds of changes."""


class Change(NamedTuple):
    """A change of a label, or of the project."""

    number: int
    at: str
    """Time in UTC, as in ISO 8601."""
    who: str
    kind: str
    """"label", "correct", "add", "forget" or "set"."""
    row: int | None
    before: str | None
    after: str | None


class Row(NamedTuple):
    """A row of the project."""

    id: int
    name: str | None
    """Its identifier, if the project has a column of them."""
    cells: tuple[str | None, ...]
    """Cells, in the order of the columns of the project; columns that came later may be missing."""
    label: str | None
    labelled: int | None
    """Number of the change that gave the label."""
    worth: float


class StoredFit(NamedTuple):
    """The latest exact fit."""

    number: int
    at: str
    hash: str
    n_rows: int
    seconds: float
    told: Mapping[str, Any]
    contents: bytes
    rows: bytes


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Store:
    """An open project file. Threads of a process may share it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._lock = threading.RLock()
        self._depth = 0

    # ---- open and close

    @classmethod
    def create(cls, path: Path, facts: Mapping[str, Any]) -> "Store":
        """Create a file."""
        if path.exists():
            raise ProjectError(f"{path} exists: open it, or choose another file")
        if not path.parent.is_dir():
            raise ProjectError(f"there is no folder {path.parent}: create it first")
        # Under another name until it is whole: a crash leaves no half of a project.
        beside = path.with_name(f".{path.name}.new")
        beside.unlink(missing_ok=True)
        store = cls(beside, _connected(beside))
        with store.changing():
            for statement in TABLES.split(";\n"):
                if statement.strip():
                    store.execute(statement)
            store.execute(f"PRAGMA application_id = {MARK}")
            store.execute(f"PRAGMA user_version = {VERSION}")
            for name, value in facts.items():
                store.set_fact(name, value)
        store.close()
        beside.replace(path)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open a file, and check that it is a project."""
        if not path.is_file():
            raise ProjectError(f"there is no file {path}: `Project.create` makes a project")
        try:
            store = cls(path, _connected(path))
        except sqlite3.DatabaseError as error:
            raise ProjectError(f"{path} is not a project: {error}") from None
        mark = store.one("PRAGMA application_id")[0]
        version = store.one("PRAGMA user_version")[0]
        if mark != MARK:
            store.close()
            raise ProjectError(f"{path} is a SQLite file, but not a project of rebelboost")
        if version > VERSION:
            store.close()
            raise ProjectError(
                f"{path} has version {version}, but this rebelboost reads projects up to version {VERSION}: "
                "install a newer rebelboost"
            )
        return store

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    # ---- statements

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A transaction: all of its changes are made, or none."""
        with self._lock, _refused(self.path):
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Several queries on one state of the file."""
        with self._lock, _refused(self.path):
            if self._depth:
                yield
                return
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Execute a statement."""
        with self._lock, _refused(self.path):
            return self._connection.execute(statement, values)

    def all(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self._lock:
            return self.execute(query, values).fetchall()

    def one(self, query: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a query; None if there is none."""
        with self._lock:
            return self.execute(query, values).fetchone()

    # ---- facts

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact of the project, such as its target."""
        found = self.one("SELECT value FROM facts WHERE name = ?", (name,))
        return default if found is None else json.loads(found[0])

    def set_fact(self, name: str, value: Any) -> None:
        """Set a fact."""
        self.execute(
            "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, json.dumps(value, ensure_ascii=False)),
        )

    # ---- rows and labels

    def add_row(self, name: str | None, cells: Sequence[str | None]) -> int:
        """Append a row without a label; return its number."""
        told = json.dumps(list(cells), ensure_ascii=False, separators=(",", ":"))
        found = self.execute("INSERT INTO rows (name, cells) VALUES (?, ?)", (name, told))
        assert found.lastrowid is not None
        return found.lastrowid

    def note(
        self,
        kind: str,
        who: str,
        row: int | None = None,
        change: tuple[str | None, str | None] = (None, None),
    ) -> int:
        """Record a change, from something to something; return its number."""
        found = self.execute(
            "INSERT INTO changes (at, who, kind, row, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (now(), who, kind, row, *change),
        )
        assert found.lastrowid is not None
        return found.lastrowid

    def set_label(self, row: int, label: str | None, who: str, kind: str) -> None:
        """Give a row a label, or take it away."""
        before = self.one("SELECT label FROM rows WHERE id = ?", (row,))[0]
        number = self.note(kind, who, row, (before, label))
        self.execute(
            "UPDATE rows SET label = ?, labelled = ? WHERE id = ?",
            (label, None if label is None else number, row),
        )

    def rows(self, condition: str = "1", values: Sequence[Any] = ()) -> list[Row]:
        """Rows, by number."""
        found = self.all(
            f"SELECT id, name, cells, label, labelled, worth FROM rows WHERE {condition} ORDER BY id",
            values,
        )
        return [_row(each) for each in found]

    def rows_by_id(self, ids: Sequence[int]) -> list[Row]:
        """Rows with these numbers, by number."""
        found = []
        for some in _parts(sorted(set(ids))):
            found += self.rows(f"id IN ({','.join('?' * len(some))})", some)
        return found

    def delete_rows(self, ids: Iterable[int]) -> None:
        """Delete rows and all that is known of them."""
        for some in _parts(sorted(set(ids))):
            marks = ",".join("?" * len(some))
            self.execute(f"DELETE FROM changes WHERE row IN ({marks})", some)
            self.execute(f"DELETE FROM rows WHERE id IN ({marks})", some)

    def last_change(self) -> int:
        """Number of the last change that a fit may depend on: rows without a label change nothing."""
        found = self.one("SELECT max(number) FROM changes WHERE kind != ?", (ADD,))[0]
        return 0 if found is None else int(found)

    def changes(self, row: int | None = None) -> list[Change]:
        """Changes of a row, or all; the oldest first."""
        where, values = ("", ()) if row is None else ("WHERE row = ?", (row,))
        found = self.all(
            f"SELECT number, at, who, kind, row, before, after FROM changes {where} ORDER BY number",
            values,
        )
        return [Change(*each) for each in found]

    # ---- fits

    def latest_fit(self) -> StoredFit | None:
        """The latest exact fit; None if there is none."""
        found = self.one(
            "SELECT number, at, hash, n_rows, seconds, told, contents, rows FROM fits "
            "WHERE contents IS NOT NULL ORDER BY number DESC LIMIT 1"
        )
        if found is None:
            return None
        number, at, hashed, n_rows, seconds, told, contents, rows = found
        return StoredFit(number, at, hashed, n_rows, seconds, json.loads(told), contents, rows)

    def add_fit(self, fit: StoredFit) -> None:
        """Keep a fit instead of the one before, of which only the figures stay."""
        self.execute("UPDATE fits SET contents = NULL, rows = NULL")
        told = json.dumps(fit.told, ensure_ascii=False)
        self.execute(
            "INSERT OR REPLACE INTO fits VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*fit[:5], told, fit.contents, fit.rows),
        )


def _row(found: Sequence[Any]) -> Row:
    number, name, cells, *others = found
    label, labelled, worth = others
    return Row(number, name, tuple(json.loads(cells)), label, labelled, worth)


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for first in range(0, len(ids), AT_ONCE):
        yield ids[first : first + AT_ONCE]


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Say what SQLite's errors mean."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            waited = counted(round(PATIENCE), "second")
            raise ProjectError(
                f"{path} was busy for {waited}: another process is changing it. Nothing was changed; try again"
            ) from None
        raise ProjectError(f"{path} cannot be used: {error}") from error
    except sqlite3.DatabaseError as error:
        raise ProjectError(f"{path} is not a project, or is damaged: {error}") from error
