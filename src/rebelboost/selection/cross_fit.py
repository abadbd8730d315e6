"""Cross-fit: fit candidates without each fold in turn, choose rounds and temperatures, and average.

Boosting until the loss vanishes decides well where classes are separable, but its scores say little about
probabilities. Here k fits leave out one of k folds each, and each sample is scored by the fit that did not
see it. These held-out scores determine the number of rounds and the temperature at which the posterior has
the lowest log-loss. A candidate's model is the mean of its k fits, truncated to that number of rounds.

Several candidates, with different learners or settings, are compared in waves of fits, which run side by side:
two on the first fold, which set a bar; the others on the first fold, stopped as soon as their learning curve
shows that they will not reach it; those that are left on the second fold, and on the remaining folds. After
each wave, candidates that are far behind are dropped. The others are averaged (`rebelboost.selection.average`).
"""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Scores
from rebelboost.boosting.callbacks import Callback, Deadline
from rebelboost.boosting.fit import one_linear_algebra_thread
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Settings
from rebelboost.data.folds import Part
from rebelboost.learners.base import traits_of
from rebelboost.learners.kernel import KernelSimilarity
from rebelboost.learners.logistic import Logistic
from rebelboost.selection.average import (
    LEAST_EVIDENCE,
    LEAST_SHARE,
    blend,
    needed,
    share_out,
    steepness,
    vote,
)
from rebelboost.selection.calibration import HeldOutScorer
from rebelboost.selection.candidates import FREQUENCIES, Entry
from rebelboost.selection.fit_pool import FitPool, Job
from rebelboost.selection.kernel_runner import KernelRunner, LogisticRunner
from rebelboost.selection.result import CrossFit
from rebelboost.selection.runner import FEW, Attempt, BoostedRunner, FrequencyRunner, Runner
from rebelboost.selection.smooth_runner import SmoothRunner

N_FIRST = 2
"""Number of candidates in the first wave, by whose results the others are stopped early."""
LEAST_TO_GO_ON, LEAST_OF_FEW = 0.1, 0.05
"""Minimum weight in the average, by the first fold, of candidates that are fitted on further folds; the second
with few samples.
"""
MANY, MOST_OF_MANY = 5000, 3
"""With more samples, at most so many candidates are fitted on further folds.

On six data sets with 10,000 training samples, fewer candidates had the same error, in nine tenths of the time.
"""
FOR_FIRST_FOLD = 0.5
"""Share of a time budget in which all candidates are fitted on the first fold."""
FOR_FITS = 0.85
"""Share of a time budget in which fits end: averaging thousands of trees takes time too."""
FOR_REPEATS = 0.5
"""Share of the time left for fits in which repeats may be fitted: each makes the average longer, too."""
MOST_BYTES = 2**28
"""No repeat begins when the outputs of all fits take so many bytes; the average is made of copies of them."""
FOR_FOLDS = 0.4
"""Share of a time budget for the folds, if the model is then fitted again on all samples."""
SOLVING = 20
"""Smooth similarities cannot be ended early: they need this many times the time of a fit before a deadline."""
LEAST_DONE = 0.5
"""A fit that was ended by the time budget is used if it has this share of the chosen rounds."""


class Parts(NamedTuple):
    """Samples that each fit leaves out."""

    left_out: Sequence[Part]
    refit: bool = False
    """Whether the model is fitted again on all samples, with the chosen rounds, instead of averaging."""
    deadline: float = math.inf
    """Time on the clock of `time.monotonic` at which training ends."""
    also_all: bool = False
    """Whether a fit to all samples, with the chosen rounds, joins the average."""
    repeats: Sequence[Callable[[], Sequence[Part]]] = ()
    """Other folds of the same samples, for the time that is left before a deadline."""

    @property
    def deadline_of_folds(self) -> float:
        """When the fits to the folds end."""
        return share_of_time(self.deadline, FOR_FOLDS if self.refit else FOR_FITS)


def cross_fit(
    judging: HeldOutScorer, entries: Sequence[Entry], parts: Parts, crew: FitPool | None = None
) -> CrossFit:
    """Fit each candidate without each of the parts, and average the best."""
    # Around all threads: a limit that one of them sets and resets would end that of the others.
    with one_linear_algebra_thread():
        race = _CrossFitter([runner_of(entry, judging) for entry in entries], crew or FitPool())
        racing = race.run(parts)
        race.choose_stages(racing)
        racing = vote(racing) if can_vote(racing) else needed(share_out(racing, LEAST_SHARE))
        if parts.refit or parts.also_all or not parts.left_out:
            for runner in racing if parts.refit else ():
                runner.forget_fits()
            race.fit_all(racing, parts.deadline)
        return blend(racing, race.runners, race.history, tuple(race.runs))


class Winner(NamedTuple):
    """The best of several candidates."""

    settings: Settings
    rounds: int
    """The number of rounds that is best on held-out samples."""
    factor: float
    """The factor of its scores that is best there."""
    offset: ByClass
    """(K,) what is to be added to its scores before."""
    left_out: Scores
    """(M, K) scores of held-out samples, with the offset, times the factor."""
    rows: Ints
    """(M,) rows of those samples in the user's table."""


def winner(
    judging: HeldOutScorer, entries: Sequence[Entry], parts: Parts, crew: FitPool | None = None
) -> Winner:
    """Compare the candidates as `cross_fit` does, without averaging any; at least one part must be left out."""
    with one_linear_algebra_thread():
        race = _CrossFitter([runner_of(entry, judging) for entry in entries], crew or FitPool())
        racing = race.run(parts)
        race.choose_stages(racing)
        best = max(share_out(racing, LEAST_SHARE), key=lambda runner: runner.share)
        factor, offset, _ = best.judged.calibrated(best.left_out)
        left_out = factor * (best.left_out + offset)
        rows = best.judged.samples.rows_of_table
        return Winner(best.settings, best.rounds, factor, offset, left_out, rows)


def runner_of(entry: Entry, judging: HeldOutScorer) -> Runner:
    """The candidate's runner: boosted, solved at once, or constant."""
    if entry.name == FREQUENCIES:
        return FrequencyRunner(entry, judging)
    if isinstance(entry.settings.learner, KernelSimilarity):
        return KernelRunner(entry, judging)
    if isinstance(entry.settings.learner, Logistic):
        return LogisticRunner(entry, judging)
    if traits_of(entry.settings.learner).is_solved_at_once:
        return SmoothRunner(entry, judging)
    return BoostedRunner(entry, judging)


def share_of_time(deadline: float, share: float) -> float:
    """The time, on the clock of `time.monotonic`, when a share of what is left until a deadline is over."""
    now = time.monotonic()
    return now + share * max(0.0, deadline - now)


class _CrossFitter:
    """The candidates, and the rounds of all their fits."""

    def __init__(self, runners: Sequence[Runner], crew: FitPool) -> None:
        self.runners, self.crew = runners, crew
        self.history = History()
        self.runs: list[int] = []
        """Index of the candidate of each fit in the history."""
        self.n_numbered = 0
        """Parts so far."""

    def run(self, parts: Parts) -> list[Runner]:
        """Fit all candidates on the first part, and the remaining ones on further parts; return those left."""
        if not parts.left_out:  # no sample can be left out: each is the only one of its class
            return list(self.runners[:1])
        first, *others = parts.left_out
        deadline = parts.deadline_of_folds
        self.compare(first, share_of_time(deadline, FOR_FIRST_FOLD) if others else deadline)
        racing = [runner for runner in self.runners if runner.n_parts and not runner.given_up]
        if not others:
            return racing
        racing = _best_of_many(_one_scale(_weighed(racing, _least_to_go_on(racing[0]))))
        if math.isinf(deadline):
            for wave in (others[:1], others[1:]):
                racing = self.go_on(racing, wave)
        else:
            self.go_on_in_time(self.affordable(racing, deadline, len(others)), parts, deadline)
        return [runner for runner in racing if runner.share > 0]

    # ---- waves

    def compare(self, part: Part, deadline: float) -> None:
        """Fit all candidates on the first part."""
        bar = math.inf
        for wave in (self.runners[:N_FIRST], self.runners[N_FIRST:]):
            jobs = [(runner, part, 0) for runner in wave]
            left = sum(runner.n_parts == 0 for runner in self.runners)
            end = share_of_time(deadline, len(wave) / max(1, left))
            taken = []
            for runner, attempt in zip(wave, self.attempts(jobs, bar, end), strict=True):
                if attempt is not None:
                    self.note(runner, attempt.history)
                    taken.append((runner, attempt))
            self.side_by_side([partial(runner.add, attempt) for runner, attempt in taken])
            bar = _bar([runner for runner in wave if runner.n_parts])
        self.n_numbered = 1

    def go_on(self, racing: list[Runner], parts: Sequence[Part]) -> list[Runner]:
        """Fit these candidates on further parts; return those that are not far behind then."""
        jobs = [
            (runner, part, self.n_numbered + i) for i, part in enumerate(parts) for runner in racing
        ]
        for (runner, _, _), attempt in zip(jobs, self.attempts(jobs), strict=True):
            assert attempt is not None  # there is no deadline
            self.take(runner, attempt)
        self.n_numbered += len(parts)
        self.side_by_side([runner.judge for runner in racing])
        return _weighed(racing, LEAST_SHARE)

    def go_on_in_time(self, racing: list[Runner], parts: Parts, deadline: float) -> None:
        """Fit these candidates on further parts, and on repeats, until the deadline.

        The last part is used if the fits have got far enough.
        """
        self._go_on_until(racing, parts.left_out[1:], deadline)
        end = share_of_time(deadline, FOR_REPEATS)
        for repeat in parts.repeats:
            if sum(runner.n_bytes for runner in racing) > MOST_BYTES:
                return
            if not self._go_on_until(racing, repeat(), end):
                return

    def _go_on_until(self, racing: list[Runner], parts: Sequence[Part], deadline: float) -> bool:
        """Fit these candidates on further parts, one after the other; return whether there was time for all."""
        for part in parts:
            jobs = [(runner, part, self.n_numbered) for runner in racing]
            needed = sum(runner.seconds for runner in racing) / self.n_side_by_side(len(jobs))
            if time.monotonic() + LEAST_DONE * needed > deadline:
                return False
            attempts = self.attempts(jobs, deadline=deadline)
            if time.monotonic() > deadline and not all(map(_is_far_enough, racing, attempts)):
                return False
            for runner, attempt in zip(racing, attempts, strict=True):
                assert attempt is not None
                self.take(runner, attempt)
            self.n_numbered += 1
        return True

    def fit_all(self, racing: Sequence[Runner], deadline: float) -> None:
        """Fit these candidates to all samples."""

        def fit(runner: Runner) -> Job[History | None]:
            return lambda callbacks, n_threads: runner.fit_all(
                [*callbacks, Deadline(deadline)], n_threads
            )

        histories = self.crew.run([fit(runner) for runner in racing])
        for runner, history in zip(racing, histories, strict=True):
            self.note(runner, history)

    def choose_stages(self, racing: Sequence[Runner]) -> None:
        """Choose the stages on all parts; with one part, they are chosen already."""
        self.side_by_side([runner.choose_stage for runner in racing if runner.n_parts != 1])

    def side_by_side(self, steps: Sequence[Callable[[], None]]) -> None:
        """Do what each candidate does for itself."""
        self.crew.run([partial(_without_arguments, step) for step in steps])

    # ---- fits

    def attempts(
        self,
        jobs: Sequence[tuple[Runner, Part, int]],
        bar: float = math.inf,
        deadline: float = math.inf,
    ) -> list[Attempt | None]:
        """Fit candidates on parts, with equal shares of the time; None where no time was left.

        The first candidate on the first part has to have one round at least: it may be the whole model.
        """
        at_once = self.n_side_by_side(len(jobs))

        def job(place: int) -> Job[Attempt | None]:
            runner, part, number = jobs[place]
            takes_no_time = isinstance(runner, FrequencyRunner)
            is_needed = takes_no_time or (runner is self.runners[0] and number == 0)
            needed = 0.0
            if isinstance(runner, SmoothRunner | KernelRunner) and number == 0:
                needed = SOLVING * max(each.seconds for each in self.runners)

            def fit(callbacks: Sequence[Callback], n_threads: int) -> Attempt | None:
                if time.monotonic() + needed > deadline and not is_needed:
                    return None
                left = sum(not isinstance(each, FrequencyRunner) for each, _, _ in jobs[place:])
                share = min(1.0, at_once / max(1, left))
                end = Deadline(share_of_time(deadline, share))
                return runner.attempt(part, number, bar, [*callbacks, end], n_threads)

            return fit

        fits = [job(place) for place in range(len(jobs))]
        # Before a deadline, the order of the candidates is that of their merits.
        durations = [_duration(runner) for runner, _, _ in jobs] if math.isinf(deadline) else None
        return self.crew.run(fits, durations)

    def take(self, runner: Runner, attempt: Attempt) -> None:
        """Add a fit to its candidate's."""
        self.note(runner, attempt.history)
        runner.add(attempt)

    def note(self, runner: Runner, history: History | None) -> None:
        """Append the rounds of a fit to the history: not all have rounds."""
        if history is None:
            return
        runner.runs.append(self.history.n_fits)
        self.runs.append(self.runners.index(runner))
        self.history.append(history)

    # ---- time

    def n_side_by_side(self, n_jobs: int) -> int:
        """Number of fits that run at the same time."""
        return 1 if self.crew.in_turn else min(self.crew.n_threads, n_jobs)

    def affordable(self, runners: Sequence[Runner], deadline: float, n_parts: int) -> list[Runner]:
        """Keep the candidates with the largest weights that can be fitted on so many parts in time.

        The best one is always kept, and all are if the time does not suffice even for it.
        """
        seconds = (deadline - time.monotonic()) / n_parts * self.n_side_by_side(len(runners))
        best = sorted(runners, key=lambda runner: -runner.share)
        if best[0].seconds > seconds:
            return list(runners)
        spent = np.cumsum([runner.seconds for runner in best])
        chosen = best[: int((spent <= seconds).sum())]
        for runner in runners:
            if runner not in chosen:
                runner.share = 0.0
        return [runner for runner in runners if runner in chosen]


def _without_arguments(step: Callable[[], None], *_: object) -> None:
    """Do a step that has neither callbacks nor threads."""
    step()


def _duration(runner: Runner) -> float:
    """Duration of the last fit; before the first, similarities are expected to take longest."""
    if runner.n_parts:
        return runner.seconds
    return float(traits_of(runner.settings.learner).compares_rows)


def _one_scale(racing: Sequence[Runner]) -> list[Runner]:
    """Keep only the best scale of boosted similarities.

    On 26 data sets, three splits each, the others gained nothing (log-loss 0.4142 with, 0.4140 without them).
    """
    alike = [each for each in racing if traits_of(each.settings.learner).has_scales]
    best = max(alike, key=lambda runner: runner.share, default=None)
    for runner in alike:
        runner.share = runner.share if runner is best else 0.0
    return [runner for runner in racing if runner.share > 0]


def can_vote(racing: Sequence[Runner]) -> bool:
    """Whether held-out samples can tell which candidates make up for each other's mistakes."""
    judged = racing[0].judged
    many = len(racing[0].judging.samples.labels) >= judged.fewest_to_vote
    least = min(runner.found.log_loss for runner in racing)
    return many and judged.evidence(least) >= LEAST_EVIDENCE


def _weighed(racing: Sequence[Runner], least: float) -> list[Runner]:
    """Set the weights of candidates; return those that go on."""
    return vote(racing) if can_vote(racing) else share_out(racing, least)


def _best_of_many(racing: Sequence[Runner]) -> list[Runner]:
    """With many samples, keep only the best candidates."""
    if len(racing[0].judging.samples.labels) > MANY:
        for runner in sorted(racing, key=lambda runner: -runner.share)[MOST_OF_MANY:]:
            runner.share = 0.0
    return [runner for runner in racing if runner.share > 0]


def _is_far_enough(runner: Runner, attempt: Attempt | None) -> bool:
    """Whether a fit that was ended by a deadline is to be used."""
    if attempt is None or attempt.history is None:
        return attempt is not None
    return len(attempt.history) >= LEAST_DONE * runner.rounds


def _bar(runners: Sequence[Runner]) -> float:
    """Log-loss above which another candidate is dropped, given the log-losses of these."""
    if not runners:
        return math.inf
    lowest = min(runner.found.log_loss for runner in runners)
    return lowest - math.log(_least_to_go_on(runners[0])) / steepness(runners[0])


def _least_to_go_on(runner: Runner) -> float:
    return LEAST_OF_FEW if len(runner.judging.samples.labels) < FEW else LEAST_TO_GO_ON
