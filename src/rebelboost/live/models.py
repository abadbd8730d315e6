"""The models of a project: the latest exact one, and what it says with the labels that are newer."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rebelboost.base.arrays import Values
from rebelboost.base.names import ClassNames
from rebelboost.estimators.base import encode_table
from rebelboost.exceptions import ProjectError
from rebelboost.live.current import CurrentModel, Neighbourhood, Newer, neighbourhood_of
from rebelboost.live.exact import ExactFit, Task, fit_exactly
from rebelboost.live.first import FEWEST, FirstRows
from rebelboost.live.reading import frame_of
from rebelboost.live.store import FORGET, Row, Store
from rebelboost.tables.columns import ColumnOptions


class Models:
    """Fits to the rows of a store, and answers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._exact: ExactFit | None = None
        self._near: tuple[str, Neighbourhood] | None = None

    def task(self) -> Task:
        """What the project learns, and how."""
        store = self._store
        told = store.fact("options")
        return Task(
            store.fact("target"),
            store.fact("source"),
            tuple(store.fact("columns")),
            ColumnOptions(**told),
            store.fact("settings"),
            [(true, decided, cost) for true, decided, cost in store.fact("costs")],
            store.fact("half_life"),
            store.fact("threshold", 0.0),
        )

    def training_rows(self) -> tuple[Task, list[Row], int]:
        """Of what an exact fit is a function: task and labelled rows; and the number of the last change."""
        store = self._store
        with store.reading():
            since = store.fact("since", 0)
            rows = store.rows("label IS NOT NULL AND labelled > ?", (since,))
            return self.task(), rows, store.last_change()

    # ---- exact fits

    def fit(self) -> ExactFit:
        """Fit from scratch to all labelled rows, unless the latest fit has seen them."""
        task, rows, number = self.training_rows()
        present = self.latest()
        if present is not None and present.number == number:
            return present
        found = fit_exactly(task, rows, number)
        self.keep(found)
        self._prepare(found, task, rows)  # now, since a person waits for the next answer
        return found

    def _prepare(self, exact: ExactFit, task: Task, rows: Sequence[Row]) -> None:
        values = self._encoded(exact, task, rows)
        self._near = exact.hash, neighbourhood_of(exact, values, [row.label for row in rows])

    def fit_if_enough(self) -> ExactFit | None:
        """An exact fit to all labels; None where they are too few."""
        _, rows, _ = self.training_rows()
        if len(rows) < FEWEST:
            return None
        with suppress(ProjectError):  # such as a single class
            return self.fit()
        return None

    def keep(self, found: ExactFit) -> None:
        """Keep a fit in the project, unless rows that it has seen were forgotten meanwhile."""
        with self._store.changing():
            forgotten = self._store.one("SELECT max(number) FROM changes WHERE kind = ?", (FORGET,))
            if forgotten[0] is not None and forgotten[0] > found.number:
                return  # it has seen rows that were forgotten meanwhile
            latest = self._store.one("SELECT max(number) FROM fits WHERE contents IS NOT NULL")
            if latest[0] is None or latest[0] <= found.number:
                self._store.add_fit(found.stored())
        self._exact = found

    def latest(self) -> ExactFit | None:
        """The latest exact fit, also if another process has made it."""
        found = self._store.one(
            "SELECT number, hash FROM fits WHERE contents IS NOT NULL ORDER BY number DESC LIMIT 1"
        )
        if found is None:
            self._exact = None
        elif self._exact is None or (self._exact.number, self._exact.hash) != tuple(found):
            stored = self._store.latest_fit()
            self._exact = None if stored is None else ExactFit.of_stored(stored)
        return self._exact

    def forget(self) -> None:
        """Forget what is in memory: rows were erased."""
        self._exact, self._near = None, None

    # ---- answers

    def current(self) -> CurrentModel:
        """The exact model, with the labels that are newer than it."""
        with self._store.reading():
            task, exact = self.task(), self.latest()
            number = 0 if exact is None else exact.number
            since = max(number, self._store.fact("since", 0))
            rows = self._store.rows("label IS NOT NULL AND labelled > ?", (since,))
        if exact is None:
            return self._first_model(task, rows)
        basis = self.neighbourhood(exact, task) if rows else None
        return CurrentModel(task, exact, self._newer(exact, task, rows), basis)

    def _first_model(self, task: Task, rows: Sequence[Row]) -> CurrentModel:
        """The answer before there is an exact model: the nearest labelled rows."""
        if not rows:
            raise ProjectError(
                f"no row has a label yet: give some a value of {task.target!r} with `label`"
            )
        ids = np.array([row.id for row in rows])
        labels = as_labels([row.label for row in rows], task, [])
        newer = Newer(ids, np.zeros((0, 0)), labels)
        return CurrentModel(task, None, newer, FirstRows(frame_of(rows, task.columns)))

    def _newer(self, exact: ExactFit, task: Task, rows: Sequence[Row]) -> Newer:
        classes = [] if task.predicts_numbers else exact.estimator.classes_.tolist()
        values = self._encoded(exact, task, rows) if rows else np.zeros((0, 0))
        labels = as_labels([row.label for row in rows], task, classes)
        return Newer(np.array([row.id for row in rows]), values, labels)

    def _encoded(self, exact: ExactFit, task: Task, rows: Sequence[Row]) -> Values:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said when the rows were added
            return encode_table(exact.estimator, frame_of(rows, task.columns))

    def neighbourhood(self, exact: ExactFit, task: Task) -> Neighbourhood:
        """The rows of an exact fit, in a space where near rows are alike."""
        if self._near is None or self._near[0] != exact.hash:
            stored = self._store.rows_by_id(exact.rows.tolist())
            self._prepare(exact, task, [row for row in stored if row.label is not None])
        assert self._near is not None
        return self._near[1]


def as_labels(texts: Sequence[str | None], task: Task, classes: Sequence[Any]) -> list[Any]:
    """Labels as numbers, or as the classes of a model; new ones are integers if all classes are."""
    if task.predicts_numbers:
        return [None if text is None else float(text) for text in texts]
    names = ClassNames(classes)
    whole = len(classes) > 0 and all(isinstance(each, int) for each in classes)
    found: list[Any] = []
    for text in texts:
        code = None if text is None else names.find(text)
        if text is None:
            found.append(None)
        elif code is not None:
            found.append(names.classes[code])
        else:
            found.append(int(text) if whole and text.removeprefix("-").isdecimal() else text)
    return found
