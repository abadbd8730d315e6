"""A project: rows, labels, costs and models of one task, in one file."""

import getpass
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from rebelboost.base.names import shown, shown_cell
from rebelboost.base.text import counted
from rebelboost.exceptions import ProjectError, TableError
from rebelboost.live import asking, forgetting
from rebelboost.live.asking import Question, Questions
from rebelboost.live.current import CurrentModel
from rebelboost.live.exact import ExactFit, Task, check_settings, fit_exactly, listed_costs
from rebelboost.live.first import question_places
from rebelboost.live.following import Followed, follow
from rebelboost.live.forgetting import Receipt
from rebelboost.live.models import Models, as_labels
from rebelboost.live.reading import arranged, cell_text, cells_of, frame_of, table_of
from rebelboost.live.sources import Limits
from rebelboost.live.status import Status
from rebelboost.live.store import ADD, CORRECT, FORGET, LABEL, SET, Change, Row, Store, now
from rebelboost.tables.columns import CLASSES, NUMBERS, ColumnOptions
from rebelboost.tables.target import find_target, read_target, suggestion

Id = int | str
Ids = Id | Sequence[Id]

NAMED = ("keep", "ignore", "categorical", "text")
"""Options that name columns."""
PLAIN = ("group", "time", "decimal")


class Added(NamedTuple):
    """Rows that were added."""

    ids: list[int]
    """Their numbers."""
    n_labelled: int
    notes: list[str]
    """What was noted, such as columns that are new."""


class Project:
    """Rows, labels with their history, costs and models of one task, in one file.

    Use `Project.create` or `Project.open`. All changes are on the disk when a call returns.
    """

    def __init__(self, store: Store, who: str | None = None) -> None:
        self._store, self.who = store, who or _user()
        self.models = Models(store)
        self._beside: threading.Thread | None = None
        self._failure: str = ""

    # ---- create, open, close

    @classmethod
    def create(  # noqa: PLR0913  (the options of `rebel project new`)
        cls,
        path: str | PathLike[str],
        table: Any,
        target: str,
        *,
        costs: Mapping[tuple[Any, Any], float] | None = None,
        identifier: str = "",
        task: str = "",
        options: ColumnOptions | None = None,
        settings: Mapping[str, Any] | None = None,
        who: str | None = None,
    ) -> Self:
        """Create a project from a table. Rows without a value of the target are rows without a label.

        Parameters
        ----------
        path : str or path-like
            File to create; by convention, its name ends in ``.rebel``.
        table : path, data frame, sequence of dicts, or None
            The first rows; None: there are none yet.
        target : str
            Column with the labels.
        costs : dict, default=None
            ``{(true, decided): cost}``; all other mistakes cost 1, also those of classes to come.
        identifier : str, default=""
            Column whose values name the rows. It is not used as a feature.
        task : {"", "classes", "numbers"}, default=""
            What the target consists of; by default, this is detected from the labels of `table`.
        options : ColumnOptions, default=None
            How columns are used, as in `rebel train`.
        settings : dict, default=None
            Parameters of `RebelClassifier` or `RebelRegressor`.
        who : str, default=None
            Who makes changes; by default, the user of this computer.

        Returns
        -------
        Project
        """
        path = Path(path)
        read = None if table is None else cells_of(table)
        if read is not None and target not in read.names:
            # A pool without labels has no column for them, but a name may be misspelt.
            close = suggestion(target, read.names)
            if close.startswith("did"):
                raise ProjectError(f"the table has no column {target!r}: {close}")
        options = (options or ColumnOptions())._replace(task=_task_of(read, target, task))
        if options.cut_at is not None:
            raise ProjectError("a project cannot cut numbers into classes: label rows with classes")
        check_settings(settings or {}, numbers=options.task == NUMBERS)
        priced = [] if costs is None else listed_costs(costs)
        if priced and options.task == NUMBERS:
            raise ProjectError("costs are for classes, but the target consists of numbers")
        facts = {
            "target": target,
            "source": str(getattr(table, "name", path.stem))
            if not isinstance(table, str | PathLike)
            else Path(table).name,
            "identifier": identifier,
            "columns": [],
            "options": {name: list(getattr(options, name)) for name in NAMED}
            | {name: getattr(options, name) for name in (*PLAIN, "task")},
            "settings": dict(settings or {}),
            "costs": [list(each) for each in priced],
        }
        project = cls(Store.create(path, facts), who)
        try:
            if read is not None:
                project.add(table if not isinstance(table, str | PathLike) else read)
        except BaseException:
            project.close()
            path.unlink(missing_ok=True)
            raise
        return project

    @classmethod
    def open(cls, path: str | PathLike[str], *, who: str | None = None) -> Self:
        """Open a project.

        Parameters
        ----------
        path : str or path-like
            The file.
        who : str, default=None
            Who makes changes; by default, the user of this computer.
        """
        return cls(Store.open(Path(path)), who)

    def close(self) -> None:
        """Wait for a fit that runs beside, and close the file."""
        self.wait()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Project({str(self._store.path)!r})"

    @property
    def path(self) -> Path:
        """The file."""
        return self._store.path

    @property
    def target(self) -> str:
        """Column with the labels."""
        found: str = self._store.fact("target")
        return found

    @property
    def columns(self) -> list[str]:
        """All columns but the target and the identifiers."""
        found: list[str] = self._store.fact("columns")
        return found

    # ---- rows and labels

    def add(self, rows: Any) -> Added:
        """Add rows. Those with a value of the target have a label at once.

        Parameters
        ----------
        rows : path, data frame, dict or sequence of dicts
            Columns that the project has not seen are kept, and left out until the next exact fit.

        Returns
        -------
        Added
            The numbers of the rows, and notes.
        """
        cells = cells_of(rows)
        store = self._store
        with store.changing():
            columns, target = self.columns, self.target
            given = arranged(cells, columns, target, store.fact("identifier"))
            self._check_labels(given.labels)
            if len(given.columns) > len(columns):
                store.set_fact("columns", list(given.columns))
            store.note(ADD, self.who, None, (None, str(len(given.rows))))
            ids = []
            for name, row, label in zip(given.names, given.rows, given.labels, strict=True):
                self._check_name(name)
                ids.append(store.add_row(name, row))
                if label is not None:
                    store.set_label(ids[-1], label, self.who, LABEL)
        return Added(ids, sum(label is not None for label in given.labels), given.notes)

    def label(self, ids: Ids, labels: Any) -> None:
        """Give rows their labels; a class that nobody has seen before is a class at once.

        Parameters
        ----------
        ids : int, str or sequence
            Numbers of rows, or their names if the project has a column of identifiers.
        labels : object or sequence
            One label for each row. None takes the label away.
        """
        self._set(ids, labels, LABEL)

    def correct(self, ids: Ids, labels: Any) -> None:
        """Replace labels that were wrong. What they were before stays in the history."""
        self._set(ids, labels, CORRECT)

    def _set(self, ids: Ids, labels: Any, kind: str) -> None:
        single = isinstance(ids, int | str | np.integer)
        given = [labels] if single else list(labels)
        texts = [cell_text(label) for label in given]
        self._check_labels(texts)
        with self._store.changing():
            rows = self._found(ids)
            if len(rows) != len(texts):
                raise ProjectError(
                    f"{counted(len(rows), 'row')} and {counted(len(texts), 'label')}: give one label for "
                    "each row"
                )
            for row, text in zip(rows, texts, strict=True):
                if kind == CORRECT and row.label is None:
                    raise ProjectError(f"row {row.name or row.id} has no label yet: use `label`")
                if kind == LABEL and row.label not in (None, text) and text is not None:
                    raise ProjectError(
                        f"row {row.name or row.id} has the label {shown(row.label)} already: use `correct`"
                    )
                if row.label != text:
                    self._store.set_label(row.id, text, self.who, kind)

    def history(self, id: Id | None = None) -> list[Change]:  # noqa: A002
        """Changes of a row, or all: who, when, from what, to what; the oldest first."""
        return self._store.changes(None if id is None else self._found(id)[0].id)

    def table(self, *, labelled: bool = True) -> pl.DataFrame:
        """The rows as a table of text: those with a label, or all."""
        rows = self._store.rows("label IS NOT NULL" if labelled else "1")
        task = self.models.task()
        frame = frame_of(rows, task.columns)
        labels = pl.Series(task.target, [row.label for row in rows], dtype=pl.String)
        return frame.with_columns(labels)

    def rows(self, ids: Ids | None = None) -> list[Row]:
        """Rows by number or name, or all."""
        return self._store.rows() if ids is None else self._found(ids)

    def set_costs(self, costs: Mapping[tuple[Any, Any], float] | None) -> None:
        """Set the costs of mistakes, ``{(true, decided): cost}``; all others cost 1."""
        self._set_fact("costs", [list(each) for each in listed_costs(costs or {})])

    def set_settings(self, **settings: Any) -> None:
        """Set parameters of the estimator, in place of those before."""
        check_settings(settings, numbers=self.models.task().predicts_numbers)
        self._set_fact("settings", settings)

    def _set_fact(self, name: str, value: Any) -> None:
        with self._store.changing():
            self._store.note(SET, self.who, None, (None, name))
            self._store.set_fact(name, value)

    def _check_labels(self, labels: Iterable[str | None]) -> None:
        if not self.models.task().predicts_numbers:
            return
        for label in labels:
            try:
                known = label is None or np.isfinite(float(label))
            except ValueError:
                known = False
            if not known:
                raise ProjectError(
                    f"{shown_cell(label)} is no number, but {self.target!r} consists of numbers"
                )

    def _check_name(self, name: str | None) -> None:
        if name is not None and self._store.one("SELECT 1 FROM rows WHERE name = ?", (name,)):
            raise ProjectError(
                f"row {name!r} is in the project already: correct its label, or forget it first"
            )

    def _found(self, ids: Ids) -> list[Row]:
        """Rows by number or name, in the order given."""
        several = [ids] if isinstance(ids, int | str | np.integer) else list(ids)
        numbers = [self._number(each) for each in several]
        rows = {row.id: row for row in self._store.rows_by_id(numbers)}
        for number, each in zip(numbers, several, strict=True):
            if number not in rows:
                raise ProjectError(f"there is no row {each!r} in the project: `status` counts them")
        return [rows[number] for number in numbers]

    def _number(self, given: Id) -> int:
        if isinstance(given, str):
            found = self._store.one("SELECT id FROM rows WHERE name = ?", (given,))
            if found is not None:
                return int(found[0])
            if not given.isdecimal() or self._store.fact("identifier"):
                raise ProjectError(f"there is no row {given!r} in the project")
        return int(given)

    # ---- models

    def fit(self, *, wait: bool = True) -> ExactFit | None:
        """Fit a model from scratch to all labelled rows, and keep it in the project.

        Parameters
        ----------
        wait : bool, default=True
            Whether to wait for it. Otherwise, it runs beside, and replaces the model when it is ready.

        Returns
        -------
        ExactFit or None
            The fit and its hash; None without waiting.
        """
        if not wait:
            if self._beside is None or not self._beside.is_alive():
                self._beside = threading.Thread(target=self._fit_beside, name="rebelboost-fit")
                self._beside.start()
            return None
        return self.models.fit()

    def _fit_beside(self) -> None:
        try:
            while True:
                number = self.models.training_rows()[2]
                self.fit()
                if self._store.last_change() == number:
                    break
            self._failure = ""
        except (ProjectError, ValueError) as error:
            self._failure = str(error)

    def wait(self) -> None:
        """Wait for a fit that runs beside."""
        if self._beside is not None:
            self._beside.join()
            self._beside = None

    def verify(self) -> bool:
        """Fit once more from scratch, and say whether the hash is the same."""
        task, rows, number = self.models.training_rows()
        present = self.models.latest()
        if present is None or present.number != number:
            raise ProjectError("the model is behind the labels: call `fit` first")
        return fit_exactly(task, rows, number).hash == present.hash

    @property
    def model(self) -> CurrentModel:
        """What the project knows now.

        It is the exact model if this has seen all labels, and otherwise a provisional one, which knows them at
        once; `provisional_` says so.
        """
        return self.models.current()

    def save(self, path: str | PathLike[str], *, rows: str = "values", names: bool = True) -> str:
        """Write the exact model to a file that `rebelboost.load` reads; return its hash in the project.

        The project remembers the file: `forget` says whether it holds the rows.

        Parameters
        ----------
        path : str or path-like
            File to write.
        rows : {"values", "ids", "none"}, default="values"
            What the file keeps of training rows, as in `RebelClassifier.save`.
        names : bool, default=True
            Whether rows are named by their identifiers.
        """
        fit = self.fit()
        assert fit is not None
        model = fit.estimator
        stored = {row.id: row.name for row in self._store.rows_by_id(fit.rows.tolist())}
        if hasattr(model, "example_classes_"):
            told = {i: fit.rows[i].item() for i in model.example_classes_}
            model = model.with_row_labels(
                {i: (stored[number] if names else None) or number for i, number in told.items()}
            )
        model.save(path, rows=rows)
        with self._store.changing():
            self._store.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                (str(Path(path).resolve()), now(), fit.hash, fit.number),
            )
        return fit.hash

    # ---- forget

    def forget(self, ids: Ids) -> Receipt:
        """Erase rows: from the project, and from its model, which is fitted anew without them.

        Parameters
        ----------
        ids : int, str or sequence
            Numbers or names of rows.

        Returns
        -------
        Receipt
            Hashes before and after, and the saved model files that still hold the rows.
        """
        self.wait()
        store = self._store
        with store.changing():
            rows = self._found(ids)
            latest = self.models.latest()
            held = self._files_with(rows)
            numbers = [row.id for row in rows]
            labelled = [row for row in rows if row.label is not None]
            store.delete_rows(numbers)
            told = f"{len(rows)}"
            store.note(FORGET, self.who, None, (None, told))
            # Models hold values of rows.
            figures = "json_object('left_out', json(json_extract(told, '$.left_out')))"
            store.execute(f"UPDATE fits SET contents = NULL, rows = NULL, told = {figures}")
        self.models.forget()
        after: ExactFit | None = None
        with suppress(ProjectError):  # too few rows are left
            after = self.fit()
        store.execute("VACUUM")
        task = self.models.task()
        known = [
            task.target,
            task.source,
            *task.columns,
            *(name for c in task.costs for name in c[:2]),
        ]
        known += [told for (told,) in store.all("SELECT told FROM fits")]
        model = b"" if after is None else after.contents
        texts = forgetting.own_texts(rows, store.rows(), known, model)
        found = forgetting.count_in_file(store.path, texts)
        receipt = Receipt(
            now(),
            self.who,
            tuple(numbers),
            len(labelled),
            None if latest is None else latest.hash,
            None if after is None else after.hash,
            tuple(held),
            len(texts),
            found,
        )
        with store.changing():
            receipts = store.fact("receipts", [])
            store.set_fact("receipts", [*receipts, receipt.to_dict()])
        return receipt

    @property
    def receipts(self) -> list[dict[str, Any]]:
        """Receipts of all that was forgotten, as JSON data."""
        found: list[dict[str, Any]] = self._store.fact("receipts", [])
        return found

    def _files_with(self, rows: Sequence[Row]) -> list[tuple[str, str]]:
        """Saved model files that were fitted to some of these rows."""
        files = self._store.all("SELECT path, hash, number FROM files ORDER BY path")
        first = {
            row.id: self._store.one(
                "SELECT min(number) FROM changes WHERE row = ? AND after IS NOT NULL", (row.id,)
            )[0]
            for row in rows
        }
        earliest = min((number for number in first.values() if number is not None), default=None)
        if earliest is None:
            return []
        return [(path, told) for path, told, number in files if number >= earliest]

    # ---- ask

    def ask(self, pool: Any = None, n: int = 5) -> Questions:
        """Choose rows whose labels are worth most.

        Parameters
        ----------
        pool : path, data frame or sequence of dicts, default=None
            Rows without a label; by default, those of the project. Others are numbered from 1.
        n : int, default=5
            Number of questions.

        Returns
        -------
        Questions
            The rows, the most valuable first, with reasons; and labels worth a second look.
        """
        if n < 1:
            raise ProjectError(f"n is {n}: ask for one row at least")
        task = self.models.task()
        if task.predicts_numbers:
            raise ProjectError(
                "questions are chosen for classes, but the target consists of numbers"
            )
        rows = self._pool(pool, task)
        if not rows:
            return Questions((), 0)
        exact = self.models.fit_if_enough()
        if exact is None:
            return self._first_questions(rows, task, n)
        asked = asking.questions_of(rows, self.model, self.models.neighbourhood(exact, task), n)
        return Questions(tuple(asked), len(rows), self._suspect(exact, n))

    def _pool(self, pool: Any, task: Task) -> list[Row]:
        if pool is None:
            return self._store.rows("label IS NULL")
        given = arranged(cells_of(pool), task.columns, task.target, "")
        return [
            Row(i, None, row, None, None, 1.0)
            for i, (row, label) in enumerate(zip(given.rows, given.labels, strict=True), 1)
            if label is None
        ]

    def _first_questions(self, rows: Sequence[Row], task: Task, n: int) -> Questions:
        """Rows that are far from one another, before there is a model."""
        known = self._store.rows("label IS NOT NULL")
        places = question_places(frame_of([*known, *rows], task.columns), len(known), n)
        reason = "unlike the rows before; there is no model yet"
        asked = [Question(rows[i].id, rows[i].name, 0.0, {}, reason) for i in places]
        return Questions(tuple(asked), len(rows))

    def _suspect(self, exact: ExactFit, n: int) -> tuple[tuple[str, Any, Any, float], ...]:
        """Labels that fits which did not see the row find improbable, the most expensive first."""
        from rebelboost.evaluation.doubt import doubts_of
        from rebelboost.evaluation.evaluate import left_out
        from rebelboost.evaluation.result import Evaluation

        rows = self._store.rows_by_id(exact.rows.tolist())
        if len(rows) != exact.n_rows or any(row.label is None for row in rows):
            return ()
        labels = np.array(
            as_labels(
                [row.label for row in rows], self.models.task(), exact.estimator.classes_.tolist()
            )
        )
        found = left_out(exact.estimator, labels)
        if not isinstance(found, Evaluation):
            return ()
        doubts = doubts_of(found)
        return tuple(
            (
                rows[row].name or str(rows[row].id),
                doubts.classes[label],
                doubts.classes[suggested],
                round(float(cost), 6),
            )
            for row, label, suggested, cost in zip(
                doubts.rows[:n],
                doubts.label[:n],
                doubts.suggested[:n],
                doubts.doubt[:n],
                strict=True,
            )
        )

    # ---- follow, status

    def follow(
        self,
        source: Any,
        *,
        half_life: float | None = None,
        forget_after: int | None = None,
        max_rows: int = 10_000,
        patience: float = 0.0,
        at_once: int | None = None,
        on_batch: Callable[[Followed], object] | None = None,
    ) -> Followed:
        """Follow a stream: predict each row, then learn from its label if it has one.

        Parameters
        ----------
        source : iterable of dicts, or path
            Rows; or a CSV file that grows, or a folder into which files are put. Where it was left off last
            time is kept in the project.
        half_life : float, default=None
            Number of labels after which a row counts half in a fit.
        forget_after : int, default=None
            Number of labels after which a row is deleted.
        max_rows : int, default=10000
            Maximum number of labelled rows that are kept. Rows that teach more are kept more often, and each
            counts for those that it stands for.
        patience : float, default=0.0
            Seconds to wait for more rows of a file or a folder before it ends.
        at_once : int, default=None
            Rows that are predicted before their labels are learned; by default few at first, later up to 1,000.
        on_batch : callable, default=None
            Called after each batch with the results so far.

        Returns
        -------
        Followed
            Rows, mistakes, fits, and when the stream changed.
        """
        if half_life is not None and not half_life > 0:
            raise ProjectError(f"half_life is {half_life}: give a number of labels above 0")
        for name, value in (
            ("max_rows", max_rows),
            ("forget_after", forget_after),
            ("at_once", at_once),
        ):
            if value is not None and value < 1:
                raise ProjectError(f"{name} is {value}: give a number of rows above 0")
        if half_life != self._store.fact("half_life"):
            self._set_fact("half_life", half_life)
        limits = Limits(half_life, forget_after, max_rows, patience, at_once)
        return follow(self, self._store, source, limits, on_batch)

    @property
    def status(self) -> Status:
        """Counts of rows and labels, the latest fits, and what is behind."""
        with self._store.reading():
            store, task = self._store, self.models.task()
            counts = store.all(
                "SELECT label, count(*) FROM rows WHERE label IS NOT NULL GROUP BY label ORDER BY label"
            )
            n_rows = int(store.one("SELECT count(*) FROM rows")[0])
            fits = store.all(
                "SELECT at, hash, n_rows, seconds, told FROM fits ORDER BY number DESC LIMIT 10"
            )
            exact = store.one("SELECT max(number) FROM fits WHERE contents IS NOT NULL")[0]
            behind = store.one(
                "SELECT count(*) FROM rows WHERE labelled > ?", (0 if exact is None else exact,)
            )[0]
            return Status.of(store.path, task, dict(counts), n_rows, fits, int(behind))


def _task_of(read: Any, target: str, task: str) -> str:
    """What the target consists of, as the command would find."""
    if task not in ("", CLASSES, NUMBERS):
        raise ProjectError(f"task is {task!r}: give {CLASSES!r} or {NUMBERS!r}")
    if task or read is None:
        return task or CLASSES
    if target not in read.names:
        return CLASSES
    place = read.names.index(target)
    labels = [
        Row(0, None, (), row[place], None, 1.0) for row in read.rows if row[place] is not None
    ]
    if not labels:
        return CLASSES
    table = table_of(labels, (), target, "the table")
    try:
        found = read_target(table, find_target(table, target), ColumnOptions())
    except TableError:  # a single class, or few rows of many
        return CLASSES
    return CLASSES if found.counts else NUMBERS


def _user() -> str:
    with suppress(KeyError, OSError, ImportError):
        return getpass.getuser()
    return "unknown"
