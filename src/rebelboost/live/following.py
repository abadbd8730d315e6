"""Follow a stream: predict, learn the label, keep a limited number of rows, and notice when the stream changes.

Each row is predicted before its label is learned, so the mistakes are those of new rows. Labels count at once
(`current`), and an exact fit follows when they have become a tenth of what the last one has seen.

A change is noticed by a bet that mistakes are no more frequent than they were on left-out rows (`changes`).
After an alarm, fits begin with the rows from the most probable beginning of the change on, as soon as these
alone make fewer mistakes.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rebelboost.base.findings import Column, Described, Document, Sentence, Table
from rebelboost.base.names import printed
from rebelboost.base.text import counted, percent
from rebelboost.exceptions import ProjectError
from rebelboost.live.changes import Watch
from rebelboost.live.exact import ExactFit, fit_exactly
from rebelboost.live.reading import Cells, arranged
from rebelboost.live.sources import Limits, batches
from rebelboost.live.store import Store
from rebelboost.live.thinning import thinned, worth_of

if TYPE_CHECKING:
    from rebelboost.live.project import Project

FIT_AFTER = 0.1
"""An exact fit follows when so many labels have come, as a share of what the last one has seen."""
FEWEST_NEW = 2
FEWEST_AFTER = 10
"""Rows after a change that a fit may begin with."""
MOST_RECENT = 5000
"""Results that are remembered, among which a change may have begun."""


@dataclass
class Followed(Described):
    """What happened on a stream so far."""

    n_rows: int = 0
    n_labelled: int = 0
    n_judged: int = 0
    """Rows with a label that were predicted before it was known."""
    n_wrong: int = 0
    n_fits: int = 0
    n_removed: int = 0
    """Rows that were deleted, because they are old or stand for others."""
    seconds: float = 0.0
    errors: list[tuple[int, int]] = field(default_factory=list)
    """Labels so far and mistakes so far, after each batch."""
    changes: list[tuple[int, float, float]] = field(default_factory=list)
    """Label at which a change was noticed, the share of mistakes before, and since it began."""
    notes: list[str] = field(default_factory=list)

    def document(self) -> Document:
        """The results as a document, which `rebelboost.base.findings` renders."""
        found: Document = [
            Sentence(
                f"{counted(self.n_rows, 'row')}, {self.n_labelled:,} with a label; "
                f"{counted(self.n_fits, 'exact fit')} in {self.seconds:.1f} s; "
                f"{counted(self.n_removed, 'row')} removed."
            )
        ]
        if self.n_judged:
            share = percent(self.n_wrong / self.n_judged)
            found = [
                *found,
                Sentence(
                    f"{share} of {self.n_judged:,} were predicted wrongly before their label was known."
                ),
            ]
        if self.changes:
            columns = [
                Column("label", [at for at, *_ in self.changes], "{:,}".format, kind="number"),
                Column(
                    "before",
                    [was for _, was, _ in self.changes],
                    percent,
                    "mistakes before",
                    "number",
                ),
                Column(
                    "since",
                    [now for *_, now in self.changes],
                    percent,
                    "since the change",
                    "number",
                ),
            ]
            found = [
                *found,
                Table(columns, key="changes", title="The stream changed", noun="change"),
            ]
        return [*found, *(Sentence(note, "note") for note in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary that can be written as JSON."""
        return {
            **vars(self),
            "errors": [list(each) for each in self.errors],
            "changes": [list(each) for each in self.changes],
        }


# ---- following


def follow(
    project: "Project",
    store: Store,
    source: Any,
    limits: Limits,
    on_batch: Callable[[Followed], object] | None,
) -> Followed:
    """Follow a source to its end."""
    found, began = Followed(), time.monotonic()
    follower = _Follower(project, store, limits, found)
    for batch in batches(source, store, limits, lambda: found.n_rows):
        follower.take(batch.cells, batch.done)
        found.seconds = round(time.monotonic() - began, 3)
        if on_batch is not None:
            on_batch(found)
    follower.fit_if(due=follower.n_new > 0)
    found.seconds = round(time.monotonic() - began, 3)
    return found


class _Follower:
    """What a stream needs to remember between batches."""

    def __init__(self, project: "Project", store: Store, limits: Limits, found: Followed) -> None:
        self.project, self.store, self.limits, self.found = project, store, limits, found
        self.watch: Watch | None = None
        self.recent: list[tuple[int, bool]] = []
        """Number of the change that gave each label, and whether it had been predicted wrongly."""
        self.suspected: int | None = None
        """Number of the change after which the stream may be another one."""
        self.n_new = 0
        self.n_seen = 0
        """Labels that the last exact fit has seen, or that were thinned out before it."""

    def take(self, cells: Cells, done: Callable[[], None]) -> None:
        """Predict rows, and learn the labels of those that have one."""
        found, task = self.found, self.project
        found.n_rows += len(cells.rows)
        place = cells.names.index(task.target) if task.target in cells.names else None
        labels = [None if place is None else row[place] for row in cells.rows]
        known = [i for i, label in enumerate(labels) if label is not None]
        if known:
            judged = Cells(cells.names, [cells.rows[i] for i in known])
            wrong, chances = self._judged(judged, [labels[i] for i in known])
            with self.store.changing():
                added = task.add(judged)
                for number, chance in zip(added.ids, chances, strict=True):
                    self.store.execute(
                        "UPDATE rows SET worth = ? WHERE id = ?", (worth_of(chance), number)
                    )
                done()
            found.notes += [note for note in added.notes if note not in found.notes]
            found.n_labelled += len(known)
            self.n_new += len(known)
            self._watch(added.ids, wrong)
            self._limit()
        else:
            arranged(cells, task.columns, task.target, "")  # an error, if they are of another table
            with self.store.changing():
                done()
        found.errors.append((found.n_labelled, found.n_wrong))
        base = self.n_seen if self.suspected is None else self.n_since
        self.fit_if(due=self.n_new >= max(FEWEST_NEW, FIT_AFTER * base))

    def _judged(self, cells: Cells, labels: Sequence[str | None]) -> tuple[list[bool], list[float]]:
        """Whether rows were predicted wrongly, and the probability of their labels."""
        try:
            model = self.project.model
        except ProjectError:  # no label yet
            return [], [0.5] * len(labels)
        if model.predicts_numbers:
            return [], [0.5] * len(labels)
        posterior = model.predict_proba(cells)
        classes = [printed(each) for each in model.classes_.tolist()]
        decided = model.decided(posterior)
        chances = [
            float(posterior[i, classes.index(printed_label)]) if printed_label in classes else 0.0
            for i, label in enumerate(labels)
            for printed_label in [_plain(label, classes)]
        ]
        wrong = [
            classes[d] != _plain(label, classes)
            for d, label in zip(decided.tolist(), labels, strict=True)
        ]
        self.found.n_judged += len(wrong)
        self.found.n_wrong += sum(wrong)
        return wrong, chances

    def _watch(self, ids: Sequence[int], wrong: Sequence[bool]) -> None:
        if not wrong:
            return
        numbers = {row.id: row.labelled or 0 for row in self.store.rows_by_id(ids)}
        for each, is_wrong in zip(ids, wrong, strict=True):
            self.recent.append((numbers[each], is_wrong))
            began = None if self.watch is None else self.watch.add(wrong=is_wrong)
            if began is None:
                continue
            assert self.watch is not None
            since = self.recent[-began:]
            rate = sum(bad for _, bad in since) / len(since)
            self.found.changes.append((self.found.n_labelled, self.watch.expected, rate))
            self.suspected = since[0][0] - 1
            self.watch = None  # until the next exact fit says what is to be expected
        del self.recent[:-MOST_RECENT]

    def _limit(self) -> None:
        """Delete rows that are old, or that others stand for."""
        limits, store = self.limits, self.store
        with store.changing():
            removed: list[int] = []
            if limits.forget_after is not None:
                removed = [
                    number
                    for (number,) in store.all(
                        "SELECT id FROM rows WHERE label IS NOT NULL ORDER BY labelled DESC LIMIT -1 OFFSET ?",
                        (limits.forget_after,),
                    )
                ]
                store.delete_rows(removed)
            n = store.one("SELECT count(*) FROM rows WHERE label IS NOT NULL")[0]
            if n > limits.max_rows:
                rows = store.rows("label IS NOT NULL")
                kept = thinned(
                    rows, limits.max_rows, store.fact("threshold", 0.0), limits.half_life
                )
                store.delete_rows(kept.removed)
                store.set_fact("threshold", kept.threshold)
                removed += kept.removed
            self.found.n_removed += len(removed)

    def fit_if(self, *, due: bool) -> None:
        """Fit exactly if it is due; after a change, to the rows since then, if this is better."""
        if not due:
            return
        with suppress(ProjectError):
            self._begin_anew()
            fit = self.project.models.fit_if_enough()
            if fit is None:
                return
            self.found.n_fits += 1
            self.n_seen = (
                max(self.n_seen, fit.n_rows) + self.n_new if self._is_limited() else fit.n_rows
            )
            self.n_new = 0
            self.watch = _watch_of(fit) or self.watch

    @property
    def n_since(self) -> int:
        """Labels since the change that is suspected."""
        return sum(number > (self.suspected or 0) for number, _ in self.recent)

    def _is_limited(self) -> bool:
        return self.found.n_removed > 0

    def _begin_anew(self) -> None:
        """Leave out the rows before a change that was noticed, if those after it do better alone."""
        if self.suspected is None:
            return
        task, rows, number = self.project.models.training_rows()
        after = [row for row in rows if (row.labelled or 0) > self.suspected]
        if len(after) < FEWEST_AFTER:
            return
        with suppress(ProjectError):
            alone = fit_exactly(task, after, number)
            told = alone.told["left_out"]
            results = [bad for change, bad in self.recent if change > self.suspected]
            if told and results and 1 - told["accuracy"] < sum(results) / len(results):
                with self.store.changing():
                    self.store.set_fact("since", self.suspected)
                self.suspected = None
                return
        if len(after) > 10 * FEWEST_AFTER:  # it was another kind of change
            self.suspected = None


def _watch_of(fit: ExactFit) -> Watch | None:
    told = fit.told["left_out"]
    if not told or "accuracy" not in told:
        return None
    return Watch(1 - told["accuracy"], int(told["n"]))


def _plain(label: str | None, classes: Sequence[str]) -> str:
    """A label as the classes are printed: 3.0 is 3."""
    text = label or ""
    return text if text in classes else text.removesuffix(".0")
