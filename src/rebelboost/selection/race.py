"""learner="auto": compare trees and similarities on held-out samples, and average the best.

Trees of two depths, trees with small steps, and similarities at three scales are fitted without one fold
of the samples. Those that predict it much worse than the best are dropped. The others are fitted without
the remaining folds and averaged (`rebelboost.selection.average`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rebelboost.base.arrays import Ints
from rebelboost.base.findings import Described, Document
from rebelboost.base.hashing import hash_rows
from rebelboost.base.text import percent
from rebelboost.data.folds import Part, folds
from rebelboost.learners.base import traits_of
from rebelboost.selection.calibration import HeldOutScorer
from rebelboost.selection.candidates import FREQUENCIES, Entry
from rebelboost.selection.cards import selection_document
from rebelboost.selection.cross_fit import Parts, cross_fit, share_of_time
from rebelboost.selection.fit_pool import FitPool
from rebelboost.selection.result import CrossFit, Standing

MOST_SAMPLES = 20_000
"""Maximum number of samples for the full comparison.

With more, the candidates are compared on half this number of rows, with one held-out fifth. The best ones
(`MOST_REFITTED`) are then fitted on all rows.
"""
MOST_REFITTED = 3
"""Maximum number of candidates that are then fitted on all rows, and averaged."""
MOST_COMPARED = 100_000
"""With more samples, only trees are compared, since similarities would take too long, and one is fitted."""
FOR_COMPARISON = 0.4
"""Share of a time budget for the comparison, if the best candidate is then fitted on all rows."""
ONE_OF = 10
"""On large tables, one of this many folds is held out to choose the number of rounds."""
MOST_FOR_ALL_FOLDS = 5000
"""With more samples, one or two folds are left out by default (`Task.parts_of_many`); the fits without them are
averaged with one to all samples."""
LEFT_OUT_ALONE = 0.4
"""Share of the samples that each fit of a single candidate leaves out.

Each sample is then judged by the mean of several fits, as the model is the mean of all; figures of single fits
are those of a worse model. Several candidates are averaged for every sample anyway.
"""
MOST_FOR_ALL_SCALES = 5000
"""With more samples, the scale of similarities is chosen on some rows beforehand: only one takes part."""
ROWS_FOR_SCALES, ROUNDS_FOR_SCALES = 2000, 200
"""Number of these rows, and of rounds at most."""
FOR_SCALES = 0.1
"""Share of a time budget for this choice."""
FEWEST_IN_TIME = 3
"""Number of folds that a time budget has to suffice for, when candidates are chosen."""
MOST_REPEATS = 8
"""How often the samples are divided into folds at most, if a time budget allows it.

With 20, four of ten data sets had about 0.1 points less error than with 3, but memory and files grow.
"""


@dataclass(frozen=True, repr=False)
class Selection(Described):
    """The candidates, their results on held-out samples, and the composition of the model."""

    standings: tuple[Standing, ...]
    """Results of all candidates."""
    cost: float
    """Mean cost of the model's decisions on held-out samples; their error if costs are uniform."""
    percent: bool
    """Whether costs are uniform, so that errors are shown in %."""
    measure: str = "cost"
    """What `cost` is called; in a regression the name of a mean error."""

    def __repr__(self) -> str:
        return f"Selection({len(self.standings)} candidates; {self.shown(self.cost)})"

    def document(self) -> Document:
        """The candidates as a document, which `rebelboost.base.findings` renders."""
        return selection_document(self)

    @property
    def of_classes(self) -> bool:
        """Whether the model decides for classes, so that there are costs and log-losses."""
        return self.measure == "cost"

    def is_comparable(self, standing: Standing) -> bool:
        """Whether a candidate was fitted on as many folds as the best: figures on fewer mislead."""
        return standing.n_parts == max(each.n_parts for each in self.standings)

    def is_of_fewer_rows(self, standing: Standing) -> bool:
        """Whether the result is of a preliminary comparison on some of the rows."""
        return standing.share == 0 and standing.n_parts == 0

    def shown(self, cost: float) -> str:
        """A cost or an error with its name."""
        return f"{percent(cost)} error" if self.percent else f"{self.measure} {cost:.4g}"

    def table(self) -> dict[str, list[Any]]:
        """Columns by name, with a row for each candidate."""
        return {
            self.measure.lower() if name == "cost" else name: [
                getattr(s, name) for s in self.standings
            ]
            for name in Standing._fields
        }


def select(
    judging: HeldOutScorer,
    running: Sequence[Entry],
    n_folds: int,
    *,
    n_parts: int | None = None,
    crew: FitPool | None = None,
    deadline: float = math.inf,
) -> CrossFit:
    """Compare the candidates on `n_folds` folds, or on the first `n_parts` of them, and average the best.

    With more than `MOST_SAMPLES` samples, compare them on some rows and fit the best ones on all rows.
    The deadline is on the clock of `time.monotonic`.
    """
    samples, seed = judging.samples, running[0].settings.seed
    if len(samples.labels) > MOST_COMPARED:
        trees = [c for c in running if not traits_of(c.settings.learner).has_scales]
        running = trees or running  # a learner that the user has named takes part all the same
    running, dropped = _with_one_scale(judging, running, n_folds, crew, deadline)
    if len(samples.labels) > MOST_SAMPLES and len(running) > 1:
        found = _on_some_rows(judging, running, n_folds, crew, deadline)
    else:
        alone = len(running) == 1 and n_parts != 1
        together = max(1, int(LEFT_OUT_ALONE * n_folds)) if alone else 1
        parts = folds(samples, n_folds, seed, together)
        if samples.times is not None:  # parts see the past only: the model is fitted to all samples
            chosen = Parts(parts, refit=True, deadline=deadline)
        elif math.isinf(deadline):
            chosen = Parts(parts[:n_parts], also_all=n_parts is not None and n_parts < n_folds)
        else:
            n_first = max(n_parts or n_folds, FEWEST_IN_TIME)
            repeats = [partial(folds, samples, n_folds, seed + i) for i in range(1, MOST_REPEATS)]
            rest = partial(list[Part], parts[n_first:])
            chosen = Parts(parts[:n_first], deadline=deadline, repeats=[rest, *repeats])
        found = cross_fit(judging, running, chosen, crew)
    return replace(found, standings=(*found.standings, *dropped))


def _with_one_scale(
    judging: HeldOutScorer,
    running: Sequence[Entry],
    n_folds: int,
    crew: FitPool | None,
    deadline: float,
) -> tuple[Sequence[Entry], tuple[Standing, ...]]:
    """Of similarities, keep the best scale by some rows, if there are many; also returns what is dropped."""
    seed = running[0].settings.seed
    alike = [each for each in running if traits_of(each.settings.learner).has_scales]
    many = len(judging.samples.labels) > MOST_FOR_ALL_SCALES
    if not many or len(alike) < 2 or judging.samples.times is not None:
        return running, ()
    part = judging.take(_drawn(judging, ROWS_FOR_SCALES, seed + 2))
    short = [
        each._replace(
            settings=replace(each.settings, rounds=min(each.settings.rounds, ROUNDS_FOR_SCALES))
        )
        for each in alike
    ]
    left_out = folds(part.samples, n_folds, seed)[:1]
    end = share_of_time(deadline, FOR_SCALES)
    standings = cross_fit(part, short, Parts(left_out, deadline=end), crew).standings
    best = max(standings, key=lambda standing: standing.share).name
    dropped = tuple(map(_on_fewer_rows, standings))
    return [each for each in running if each not in alike or each.name == best], dropped


def _on_some_rows(
    judging: HeldOutScorer,
    running: Sequence[Entry],
    n_folds: int,
    crew: FitPool | None,
    deadline: float,
) -> CrossFit:
    """Compare the candidates on some rows, and fit the best ones on all rows."""
    seed = running[0].settings.seed
    part = judging.take(_drawn(judging, MOST_SAMPLES // 2, seed + 1))
    left_out = folds(part.samples, n_folds, seed)[:1]
    end = share_of_time(deadline, FOR_COMPARISON)
    race = cross_fit(part, running, Parts(left_out, deadline=end), crew)
    # So few rows may hold hardly any of a rare class: what features say is judged on all rows.
    tried = [standing for standing in race.standings if standing.name != FREQUENCIES]
    best = min(tried, key=lambda standing: standing.log_loss).name
    most = MOST_REFITTED if len(judging.samples.labels) <= MOST_COMPARED else 1
    heavy = [each for each in tried if each.share > 0 and each.name != best]
    others = sorted(heavy, key=lambda standing: -standing.share)[: most - 1]
    kept = {FREQUENCIES, best, *(standing.name for standing in others)}
    found = cross_fit(
        judging,
        [candidate for candidate in running if candidate.name in kept],
        Parts(folds(judging.samples, ONE_OF, seed)[:1], refit=True, deadline=deadline),
        crew,
    )
    compared = map(_on_fewer_rows, race.standings)
    return replace(found, standings=(*found.standings, *compared))


def _on_fewer_rows(standing: Standing) -> Standing:
    """Mark the result of a comparison on some of the rows; see `Selection.is_of_fewer_rows`."""
    return standing._replace(share=0.0, n_parts=0)


def _drawn(judging: HeldOutScorer, n_rows: int, seed: int) -> Ints:
    """So many rows, at random by their values."""
    return np.argsort(hash_rows(judging.samples.X, seed), kind="stable")[:n_rows]


def n_parts_of(n_samples: int, n_folds: int, of_many: int = 1) -> int:
    """How many of the folds are left out by default: so many of many samples."""
    return min(of_many, n_folds) if n_samples > MOST_FOR_ALL_FOLDS else n_folds
