"""learner="auto": trees and similarities run against each other on what their fits leave out.

No expertise is needed, because nothing is guessed: trees of two depths, a slower kind of them, and
similarities in each unit of distance are all fitted without a fifth of the samples. Who decides that
fifth far worse than the best is dropped; the others go on and are blended (`rebelboost.selection.blend`).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rebelboost.base.hashing import hash_rows
from rebelboost.base.text import percent, whole_percent
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.folds import folds
from rebelboost.data.samples import Samples
from rebelboost.learners.similarity import Similarity
from rebelboost.selection.blend import CrossFit, Parts, cross_fit
from rebelboost.selection.candidates import Entry
from rebelboost.selection.runner import Standing

MOST_SAMPLES = 20_000
"""With more, the race is run on half as many, and who wins it is fitted on all."""
MOST_COMPARED = 100_000
"""With more, only trees run: comparisons with training samples would take too long."""
ONE_OF = 10
"""Of so many parts of a large table, one is left out to find the rounds."""


@dataclass(frozen=True)
class Selection:
    """What was tried, how it did on left-out samples, and what the model is made of."""

    standings: tuple[Standing, ...]
    cost: float
    """Mean cost of the blend's decisions on left-out samples; their error where costs are uniform."""
    percent: bool
    """Costs are uniform: show errors in %."""

    def __str__(self) -> str:
        chosen = sorted((s for s in self.standings if s.share > 0), key=lambda s: -s.share)
        others = sorted((s for s in self.standings if s.share == 0), key=lambda s: s.cost)
        if len(chosen) == 1:
            text = f"{chosen[0].name}: {self._show(chosen[0].cost)}"
        else:
            parts = [
                f"{whole_percent(s.share)} {s.name} ({self._show(s.cost)} alone)" for s in chosen
            ]
            text = f"{' + '.join(parts)}: {self._show(self.cost)} together"
        if others:
            text += f"; not {', '.join(f'{s.name} ({self._told(s)})' for s in others)}"
        return text

    def _told(self, dropped: Standing) -> str:
        """Its figure, which is of fewer samples than the others' where it was not fitted to the end."""
        n_parts = dropped.n_parts
        if n_parts == max(standing.n_parts for standing in self.standings):
            return self._show(dropped.cost)
        return f"{self._show(dropped.cost)} of the first {'part' if n_parts == 1 else f'{n_parts} parts'}"

    def _show(self, cost: float) -> str:
        return f"{percent(cost)} wrong" if self.percent else f"cost {cost:.4g}"

    def table(self) -> dict[str, list[Any]]:
        """Columns: a row for each candidate."""
        return {name: [getattr(s, name) for s in self.standings] for name in Standing._fields}


def select(
    samples: Samples,
    running: Sequence[Entry],
    n_folds: int,
    *,
    deciding: Samples,
    callbacks: Sequence[Callback] = (),
    time_budget: float | None = None,
) -> CrossFit:
    """Let the candidates run on `n_folds` parts; on large tables, the best of a race on some rows."""
    deadline = math.inf if time_budget is None else time.monotonic() + time_budget
    seed = running[0].settings.seed
    in_time = (
        samples.times is not None
    )  # parts see the past only: the model is fitted to all samples
    if len(samples) <= MOST_SAMPLES or len(running) == 1:
        return cross_fit(
            samples,
            running,
            Parts(folds(samples, n_folds, seed), refit=in_time, deadline=deadline),
            deciding=deciding,
            callbacks=callbacks,
        )
    if len(samples) > MOST_COMPARED:
        running = [c for c in running if not isinstance(c.settings.learner, Similarity)]
    some = np.argsort(hash_rows(samples.X, seed + 1), kind="stable")[: MOST_SAMPLES // 2]
    race = cross_fit(
        samples.take(some),
        running,
        Parts(folds(samples.take(some), n_folds, seed)[:1]),
        deciding=deciding.take(some),
        callbacks=callbacks,
    )
    winner = max(race.standings, key=lambda standing: standing.share).name
    found = cross_fit(
        samples,
        [candidate for candidate in running if candidate.name == winner],
        Parts(folds(samples, ONE_OF, seed)[:1], refit=True),
        deciding=deciding,
        callbacks=callbacks,
    )
    beaten = (s._replace(share=0.0) for s in race.standings if s.name != winner)
    return replace(found, standings=(*found.standings, *beaten))
