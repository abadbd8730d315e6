"""learner="auto" on spread rows: candidates are compared on a sample, and the best is fitted to all rows.

The sample consists of the rows with the smallest hashes, so that it does not depend on the parts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.distributed.reading import SmallestKeys
from rebelboost.distributed.refusals import is_spreadable
from rebelboost.learners.tree import Tree
from rebelboost.rows.base import Rows
from rebelboost.rows.block import EncodedRows
from rebelboost.selection.candidates import FREQUENCIES
from rebelboost.selection.crew import Crew
from rebelboost.selection.waves import Parts, Winner, winner
from rebelboost.tasks.base import Table, Task

MOST_COMPARED = 10_000
"""Rows of the sample: as many as the ordinary estimator compares candidates on, for large tables."""
N_FOLDS = 5


class Choice(NamedTuple):
    """The candidate that was best on a sample of the rows."""

    winner: Winner
    samples: Samples
    """The sample."""
    most: Settings
    """Settings of the candidate with most rounds."""

    @property
    def settings(self) -> Settings:
        """Settings of the fit to all rows."""
        return replace(self.winner.settings, rounds=self.winner.rounds)


def raced(
    task: Task,
    samples: Samples,
    table: Table,
    settings_of: Callable[[Recipe], Settings],
    *,
    only_trees: bool,
) -> Choice | None:
    """Compare candidates on a sample of the rows, and choose the best; None if there are too few rows."""
    running = [
        each
        for each in task.candidates(settings_of, samples)
        if each.name != FREQUENCIES
        and is_spreadable(each.settings.learner)
        and (isinstance(each.settings.learner, Tree) or not only_trees)
    ]
    most = max((each.settings for each in running), key=lambda each: each.rounds)
    left_out = folds(samples, N_FOLDS, most.seed)[: task.n_parts_of_sample(len(samples))]
    if not left_out:
        return None
    scorer = task.scorer(samples, table, most.n_threads)
    return Choice(winner(scorer, running, Parts(left_out), Crew(most.n_threads)), samples, most)


def sampled(spread: Rows, seed: int) -> EncodedRows:
    """The rows with the smallest hashes, in the order of their hashes."""
    found = [own for own in spread.ask(SmallestKeys(MOST_COMPARED, seed)) if len(own[0])]
    keys = np.concatenate([own for own, _ in found])
    rows = found[0][1]
    for _, own in found[1:]:
        rows = rows.joined(own)
    # Rows with equal hashes are equal but for their weights and costs.
    others = [] if rows.costs is None else list(rows.costs.T)
    others += [] if rows.weight is None else [rows.weight]
    order = np.lexsort((*others, keys))[:MOST_COMPARED]
    return replace(rows.take(order.astype(np.int64)), labels=rows.labels[order].astype(np.int32))
