"""Reasons for the person concerned, as methods of the classifier."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rebelboost.base.names import ClassNames, listed, shown
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.positive import positive_class
from rebelboost.model.fitted import FittedClassifier

if TYPE_CHECKING:
    from rebelboost.explain.nearest import Search
    from rebelboost.explain.personal import Code, DecisionChange, PersonalReasons

MOST_TOGETHER = 3
"""Number of columns that changes may combine, at most: more would take long."""
HEADER = ["column", "code", "sentence"]


class PersonalMixin:
    """Reasons against the decision that a person wants, and changes that would lead to it."""

    model_: FittedClassifier
    metadata_: dict[str, Any]

    def reasons(
        self,
        X: Any,
        k: int = 4,
        *,
        wanted: Any = None,
        codes: Any = None,
        fixed: Sequence[str] = (),
        columns: int = 2,
    ) -> "list[PersonalReasons]":
        """The principal reasons against the decision that each person wants, and what would change it.

        Reasons are exact contributions to the scores, as in `explain`. The changes are those of
        `smallest_changes`.

        Parameters
        ----------
        X : table of shape (N, d)
            Rows.
        k : int, default=4
            Number of reasons, at most.
        wanted : object, default=None
            The class that people want to be decided. By default, the next best class of each row; with
            two classes, the one that is not called positive.
        codes : dict or path, default=None
            Codes and sentences by which reasons are to be called: ``{"income": ("R1", "Income")}``, or a
            CSV file with the columns column, code and sentence, or the dict as a JSON file.
        fixed : list of str, default=()
            Columns that cannot change, such as age.
        columns : int, default=2
            Number of columns that change together, at most 3; 0: no changes are searched for.

        Returns
        -------
        list of PersonalReasons
            Print them, or read their attributes.
        """
        from rebelboost.explain.personal import decision_changes, personal_reasons, searched_words

        if k < 1:
            raise ValueError(f"k is {k}: give 1 or more")
        model, named = self.model_, self._codes(codes)
        search = self._search(fixed, columns) if columns else None
        values = encode_table(self, X)
        found = []
        for x, why in zip(values, self.explain(X), strict=True):  # type: ignore[attr-defined]
            goal = self._wanted(wanted, why.verdict)
            each = personal_reasons(model, why, goal, k, named)
            if search is not None and not each.is_made:
                wording = why.builder.wording
                changes = decision_changes(search, x, [goal], wording)
                each = replaced(each, changes, searched_words(search, wording))
            found.append(each)
        return found

    def smallest_changes(
        self, X: Any, *, wanted: Any = None, fixed: Sequence[str] = (), columns: int = 2
    ) -> "list[tuple[DecisionChange, ...]]":
        """For each row, the smallest changes of its values that lead to another decision.

        Of models of trees, they are found exactly: no change of so many columns is smaller. The size of
        a change is the sum of the changes of its columns, each divided by the column's spread (the
        interquartile range of the training rows); another category counts 1, as does a value in place of
        a missing one. Columns that hold costs change alone only. Of models with similarities, single
        columns are changed in steps, and smaller changes may exist: ``learner="auto_trees"`` trains a model
        of trees.

        Parameters
        ----------
        X : table of shape (N, d)
            Rows.
        wanted : object, default=None
            The decision that changes are to lead to; by default, any other than the present one.
        fixed : list of str, default=()
            Columns that cannot change, such as age.
        columns : int, default=2
            Number of columns that change together, at most 3.

        Returns
        -------
        list of tuples of DecisionChange
            For each row, the smallest change of one column; of two, if it is smaller; and so on. None if
            no change leads to another decision.
        """
        from rebelboost.explain.explain import wording_of
        from rebelboost.explain.personal import decision_changes

        model, search = self.model_, self._search(fixed, columns)
        wording, values = wording_of(model, self.metadata_), encode_table(self, X)
        scores, n_classes = model.scores(values), len(model.classes)
        codes = [
            int(search.decide(x[np.newaxis], s[np.newaxis])[0])
            for x, s in zip(values, scores, strict=True)
        ]
        goal = None if wanted is None else self._wanted(wanted, None)
        found = []
        for x, code in zip(values, codes, strict=True):
            goals = [k for k in range(n_classes) if k != code] if goal is None else [goal]
            found.append(() if code in goals else decision_changes(search, x, goals, wording))
        return found

    def _search(self, fixed: Sequence[str], columns: int) -> "Search":
        from rebelboost.explain.nearest import Search

        model = self.model_
        if not 1 <= columns <= MOST_TOGETHER:
            raise ValueError(f"columns is {columns}: give 1 to {MOST_TOGETHER}")
        spreads = model.provenance.spreads
        if spreads is None:
            raise ValueError(
                "this model does not know the spreads of its columns, in which changes are measured: train it "
                "again, on rows that fit into memory"
            )
        names = list(model.shown_names)
        unknown = [name for name in fixed if name not in names]
        if unknown:
            raise ValueError(f"fixed names {unknown[0]!r}: the columns are {listed(names)}")
        free = tuple(f for f, name in enumerate(names) if name not in set(fixed))
        return Search(model, spreads, free, columns)

    def _wanted(self, given: Any, verdict: Any) -> int:
        """Code of the wanted class."""
        classes = ClassNames(self.model_.classes)
        if given is not None:
            code = classes.find(given)
            if code is None:
                raise ValueError(f"wanted is {shown(given)}: choose from {listed(classes.classes)}")
            return code
        positive = positive_class(self)
        if positive is not None:
            return 1 - positive
        if verdict.rival is None:
            raise ValueError("this model has a single class, which it always decides for")
        return int(verdict.rival)

    def _codes(self, given: Any) -> "dict[str, Code]":
        """The codes and sentences of columns."""
        if given is None:
            return {}
        found = code_table(given)
        names = set(self.model_.shown_names)
        unknown = [column for column in found if column not in names]
        if unknown:
            raise ValueError(
                f"reason codes name the column {unknown[0]!r}: the columns are {listed(sorted(names))}"
            )
        return found


def replaced(
    each: "PersonalReasons", changes: "tuple[DecisionChange, ...]", searched: str
) -> "PersonalReasons":
    """The reasons, with the changes that were found."""
    from dataclasses import replace

    return replace(each, changes=changes, searched=searched)


def code_table(given: Any) -> "dict[str, Code]":
    """Codes and sentences by column, from a dict, or a CSV or JSON file."""
    from rebelboost.explain.personal import Code

    table = given if isinstance(given, Mapping) else _read(Path(os.fspath(given)))
    found = {}
    for column, said in table.items():
        if isinstance(said, str):
            found[str(column)] = Code("", said)
        elif (
            isinstance(said, list | tuple)
            and len(said) == 2
            and all(isinstance(s, str) for s in said)
        ):
            found[str(column)] = Code(*said)
        else:
            raise ValueError(
                f"the reason code of {column!r} is {said!r}: give a code and a sentence, or a sentence"
            )
    return found


def _read(path: Path) -> Mapping[Any, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the reason codes in {path}: {error}") from None
    if path.suffix.lower() == ".json":
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path} is no JSON: {error}") from None
        if not isinstance(found, dict):
            raise ValueError(f'{path} must hold an object such as {{"income": ["R1", "Income"]}}')
        return found
    rows = list(csv.reader(text.splitlines()))
    header = [cell.strip().lower() for cell in rows[0]] if rows else []
    if header != HEADER:
        raise ValueError(
            f"{path} must begin with the line {','.join(HEADER)}, not {','.join(header)!r}"
        )
    wrong = next((i for i, row in enumerate(rows) if row and len(row) != len(HEADER)), None)
    if wrong is not None:
        raise ValueError(
            f"line {wrong + 1} of {path} has {len(rows[wrong])} cells: give {len(HEADER)}"
        )
    return {row[0].strip(): (row[1].strip(), row[2].strip()) for row in rows[1:] if row}
