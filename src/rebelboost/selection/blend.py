"""Cross-fit: fit candidates without each fold in turn, choose rounds and temperatures, and average.

Boosting until the loss vanishes decides well where classes are separable, but its scores say little about
probabilities. Here k fits leave out one of k folds each, and each sample is scored by the fit that did not
see it. These held-out scores determine the number of rounds and the temperature at which the posterior has
the lowest log-loss. A candidate's model is the mean of its k fits, truncated to that number of rounds.

Several candidates, with different learners or settings, are compared. Those that are far behind after a
fold are dropped; on the first fold, as soon as their learning curve shows it. The others are averaged, each
with its temperature and a weight that falls with its held-out log-loss and is then corrected by greedy
votes. The result is still a sum of terms.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Scores
from rebelboost.boosting.callbacks import Callback, Deadline
from rebelboost.boosting.rounds import CUT, History
from rebelboost.data.folds import Part, n_distinct
from rebelboost.data.samples import AnySamples
from rebelboost.learners.smooth import SmoothSimilarity
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.selection.candidates import Entry
from rebelboost.selection.judging import Judging
from rebelboost.selection.runner import BoostedRunner, Runner, Standing
from rebelboost.selection.smooth_runner import SmoothRunner
from rebelboost.selection.staged import Staged, staged_scores

LEAST_SHARE = 0.01
"""Minimum weight in the average. Candidates below it are not fitted on further folds, nor averaged."""
PRIOR_VOTES, VOTES = 10, 10
"""Number of votes that the weights by log-loss count for, and by which held-out samples correct them."""
LEAST_MEMBER = 0.1
"""Minimum weight in the average after the votes."""
LEAST_TO_GO_ON = 0.05
"""The same after the first fold. On later folds it would be too strict: a candidate that ended with 11 % was
below it for a while (`diabetes`).
"""
FOR_FIRST_FOLD = 0.5
"""Share of a time budget in which all candidates are fitted on the first fold."""
FOR_FOLDS = 0.4
"""Share of a time budget for the folds, if the model is then fitted again on all samples."""


class Parts(NamedTuple):
    """Samples that each fit leaves out."""

    left_out: Sequence[Part]
    refit: bool = False
    """Whether the model is fitted again on all samples, with the chosen rounds, instead of averaging."""
    deadline: float = math.inf
    """Time on the clock of `time.monotonic` at which training ends."""

    @property
    def deadline_of_folds(self) -> float:
        """When the fits to the folds end."""
        return share_of_time(self.deadline, FOR_FOLDS) if self.refit else self.deadline


@dataclass(frozen=True)
class CrossFit:
    """The averaged ensemble, and its results on held-out samples."""

    ensemble: Ensemble
    """Terms of the average."""
    temperature: float
    """Factor of its scores with the lowest log-loss on held-out samples."""
    history: History
    """Rounds of all fits, including those whose terms were dropped."""
    standings: tuple[Standing, ...]
    """Results of all candidates."""
    runs: tuple[int, ...]
    """Index of the candidate of each fit in the history."""
    log_loss: float
    """Mean log-loss on held-out samples; see `Judging.best_factor`."""
    cost: float
    """Mean cost of the decisions on held-out samples, by expected cost; in a regression the root mean
    squared error."""
    left_out: Scores
    """(M, K) scores of held-out samples, averaged over the candidates with their weights."""
    rows: Ints
    """(M,) rows of those samples in the user's table."""
    staged: Staged | None = field(default=None, repr=False)
    """Scores of held-out samples after parts of the terms; None in a regression."""

    def __repr__(self) -> str:
        members = ", ".join(
            f"{each.share:.0%} with {each.rounds} rounds" for each in self.standings if each.share
        )
        return (
            f"CrossFit({members}, temperature {self.temperature:g}, "
            f"held-out log-loss {self.log_loss:.4g}, held-out cost {self.cost:.4g})"
        )


def cross_fit(
    judging: Judging,
    entries: Sequence[Entry],
    parts: Parts,
    *,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Fit each candidate without each of the parts, and average the best."""
    history, runs = History(), list[int]()
    runners = [runner_of(entry, judging) for entry in entries]

    def fit(runner: Runner, part: Part, bar: float, deadline: float) -> None:
        runner.fit(part, history, [*callbacks, Deadline(deadline)], bar)
        note_run(runner)

    def note_run(runner: Runner) -> None:
        """Note which candidate the last fit was of, if it is in the history: not all have rounds."""
        if history.n_fits > len(runs):
            runs.append(runners.index(runner))

    racing = _race(runners, parts, fit)
    for runner in racing:
        if runner.n_parts != 1:  # with one part, the stage is chosen already
            runner.choose_stage()
    racing = vote(share_out(racing, LEAST_SHARE))
    if parts.refit or not parts.left_out:
        for runner in racing:
            runner.fit_all(history, [*callbacks, Deadline(parts.deadline)])
            note_run(runner)
    return _blend(racing, runners, history, tuple(runs))


def runner_of(entry: Entry, judging: Judging) -> Runner:
    """The candidate's runner: boosted, or solved at once."""
    if isinstance(entry.settings.learner, SmoothSimilarity):
        return SmoothRunner(entry, judging)
    return BoostedRunner(entry, judging)


def _race(
    runners: Sequence[Runner],
    parts: Parts,
    fit: Callable[[Runner, Part, float, float], None],
) -> list[Runner]:
    """Fit all candidates on the first part, then the remaining ones on each further part; return those left.

    With a deadline, each candidate has the same share of the time for the first part. A further part is
    started only if it will probably end in time, and not used if it does not.
    """
    if not parts.left_out:  # no sample can be left out: each is the only one of its class
        return list(runners[:1])
    first, *others = parts.left_out
    deadline = parts.deadline_of_folds
    of_first = share_of_time(deadline, FOR_FIRST_FOLD) if others else deadline
    bar = math.inf
    for i, runner in enumerate(runners):
        if i > 0 and time.monotonic() > of_first:
            break
        fit(runner, first, bar, share_of_time(of_first, 1 / (len(runners) - i)))
        bar = min(bar, _bar(runner))
    racing = [runner for runner in runners if runner.n_parts and not runner.given_up]
    least = LEAST_TO_GO_ON
    for i, part in enumerate(others):
        racing, least = share_out(racing, least), LEAST_SHARE
        if i == 0 and deadline < math.inf:
            racing = _affordable(racing, (deadline - time.monotonic()) / len(others))
        if time.monotonic() + sum(runner.seconds for runner in racing) > deadline:
            break
        for runner in racing:
            fit(runner, part, math.inf, deadline)
        if time.monotonic() > deadline:
            for runner in racing:
                runner.drop_last_part()
            break
    return racing


def _affordable(runners: Sequence[Runner], seconds: float) -> list[Runner]:
    """Keep the candidates with the largest weights that are fitted on a part in so many seconds.

    The best one is always kept, and all are if the time does not suffice even for it.
    """
    best = sorted(runners, key=lambda runner: -runner.share)
    if best[0].seconds > seconds:
        return list(runners)
    spent = np.cumsum([runner.seconds for runner in best])
    chosen = best[: int((spent <= seconds).sum())]
    for runner in runners:
        if runner not in chosen:
            runner.share = 0.0
    return [runner for runner in runners if runner in chosen]


def share_of_time(deadline: float, share: float) -> float:
    """The time, on the clock of `time.monotonic`, when a share of what is left until a deadline is over."""
    now = time.monotonic()
    return now + share * max(0.0, deadline - now)


def share_out(runners: Sequence[Runner], least: float) -> list[Runner]:
    """Set the candidates' weights ∝ e^{−2√N·(log-loss − lowest log-loss)}; return those above 0.

    1/√N is the order of the standard error of a mean log-loss: smaller differences mean little. On 44
    data sets, half or 3/2 of the exponent had a higher error; docs/learners.md has other variants.
    """
    log_losses = np.array([runner.found.log_loss for runner in runners])
    shares = np.exp(-_steepness(runners[0]) * (log_losses - log_losses.min()))
    shares[shares < least * shares.sum()] = 0.0
    for runner, share in zip(runners, (shares / shares.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


def vote(runners: Sequence[Runner]) -> list[Runner]:
    """Let the held-out samples correct the weights: `VOTES` times, the candidate that helps most gets a vote.

    Each vote goes to the candidate whose addition lowers the log-loss of the average most, so candidates that
    err on other samples than the best gain weight [Caruana et al. 2004]. The weights so far count as some
    votes too: on few samples votes alone choose by chance. Those who are left with less than `LEAST_MEMBER`
    are not averaged: the model is then half as large, at about the same error (docs/learners.md).
    """
    if len(runners) == 1 or not runners[0].n_parts:
        return list(runners)
    judged = runners[0].judged
    scores = [runner.found.factor * runner.left_out for runner in runners]
    votes = PRIOR_VOTES * np.array([runner.share for runner in runners])
    total: Scores = np.sum([n * each for n, each in zip(votes, scores, strict=True)], axis=0)
    for _ in range(VOTES):
        count = votes.sum() + 1
        losses = [judged.log_loss((total + each) / count) for each in scores]
        best = int(np.argmin(losses))
        votes[best] += 1
        total = total + scores[best]
    votes[votes < min(LEAST_MEMBER * votes.sum(), votes.max())] = 0.0
    for runner, share in zip(runners, (votes / votes.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


def _steepness(runner: Runner) -> float:
    """2√N, for N distinct held-out samples."""
    return 2 * math.sqrt(n_distinct(runner.judged.samples))


def _bar(runner: Runner) -> float:
    """Log-loss above which another candidate is dropped, given this candidate's log-loss."""
    return runner.found.log_loss - math.log(LEAST_TO_GO_ON) / _steepness(runner)


def _blend(
    members: Sequence[Runner],
    runners: Sequence[Runner],
    history: History,
    runs: tuple[int, ...],
) -> CrossFit:
    """Average the candidates with their weights, and evaluate the average."""
    judged = members[0].judged
    factors = [each.share * each.found.factor for each in members]
    scores: Scores = np.sum(
        [factor * each.left_out for factor, each in zip(factors, members, strict=True)], axis=0
    )
    temperature, log_loss = judged.best_factor(scores)
    ensemble, places = _sum(members, factors, history)
    return CrossFit(
        ensemble,
        temperature,
        history,
        tuple(each.standing() for each in runners if each.n_parts or each in members),
        runs,
        log_loss,
        judged.cost(scores, temperature),
        *_by_row(scores, judged.samples),
        staged_scores(members, factors, places, len(ensemble)),
    )


def _by_row(scores: Scores, judged: AnySamples) -> tuple[Scores, Ints]:
    """One row of scores for each left-out sample: the mean, where several parts left some of it out."""
    rows, place = np.unique(judged.rows_of_table, return_inverse=True)
    if len(rows) == len(scores):
        return scores, judged.rows_of_table
    weight = np.ones(len(scores)) if judged.weight is None else judged.weight
    total = np.bincount(place, weight)
    means = [np.bincount(place, weight * column) / total for column in scores.T]
    return np.stack(means, axis=1), rows


def _sum(
    members: Sequence[Runner], factors: Sequence[float], history: History
) -> tuple[Ensemble, list[list[Ints]]]:
    """Sum the candidates' ensembles, and renumber the terms of the history accordingly.

    Also returns the place of each term in the sum, for each fit of each candidate.
    """
    means = [member.ensemble() for member in members]
    ensemble, now = weighted_sum([mean for mean, _ in means], factors)
    places = [
        [np.append(of_member, CUT)[own] for own in of_parts]
        for (_, of_parts), of_member in zip(means, now, strict=True)
    ]
    history.renumber_terms(
        {
            run: own.tolist()
            for member, of_parts in zip(members, places, strict=True)
            for run, own in zip(member.runs, of_parts, strict=True)
        }
    )
    return ensemble, places
