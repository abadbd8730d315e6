"""Fits on parts of the data, averaged and blended; rounds and temperature by what each part left out.

Boosting until the loss is gone decides well where classes are separable, but its scores say little
of probabilities. Here k fits leave out one of k folds each. The scores of every sample by the fit that
never saw it tell after how many rounds, and at which temperature, the decoded posterior has the least
log-loss. A member is the mean of the k fits, cut to those rounds.

Several candidates, of other learners or settings, run against each other. Those that are far behind
after a part drop out, in the first one as soon as their learning curve says so; the others are
blended: each with its temperature and a share that falls with its left-out log-loss. The model is
still a sum of terms.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Ints, Scores
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.fit import one_linear_algebra_thread
from rebelboost.boosting.rounds import CUT, History
from rebelboost.costs.judge import decision_cost
from rebelboost.costs.matrix import class_costs, uniform
from rebelboost.costs.posterior import Decoder, fit_temperature
from rebelboost.data.folds import Part, n_distinct
from rebelboost.data.samples import Samples
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.selection.candidates import Entry
from rebelboost.selection.runner import Runner, Standing

LEAST_SHARE = 0.01
"""A member with a smaller share of the blend is left out of it, and not fitted again."""
LEAST_TO_GO_ON = 0.05
"""After the first part. Later this would be too much: one of 11 % in the end was below (diabetes)."""


class Parts(NamedTuple):
    """Which samples the fits leave out."""

    left_out: Sequence[Part]
    refit: bool = False
    """The model is fitted on all samples, with the rounds that were found; else the parts' mean."""
    deadline: float = math.inf
    """A time of `time.monotonic`, after which no part is begun but the first."""


@dataclass(frozen=True)
class CrossFit:
    """The blended ensemble, and how it did on what its parts had left out."""

    ensemble: Ensemble
    decoder: Decoder
    history: History
    """Rounds of all parts, also those that were cut."""
    standings: tuple[Standing, ...]
    """Of all candidates."""
    runs: tuple[int, ...]
    """Which of them each fit in the history was of."""
    log_loss: float
    """Mean, of the decoded posterior of every sample by the fits that left it out."""
    cost: float
    """Mean, of the least-risk decisions on them."""
    left_out: Scores
    """(M, K) the blend's scores of samples by the fits that never saw them."""
    rows: Ints
    """(M,) where those samples are in the table that the user gave."""

    def __repr__(self) -> str:
        members = ", ".join(
            f"{each.share:.0%} of {each.rounds} rounds" for each in self.standings if each.share
        )
        return (
            f"CrossFit({members}, temperature {self.decoder.temperature:g}, "
            f"left-out log-loss {self.log_loss:.4g}, left-out cost {self.cost:.4g})"
        )


def cross_fit(
    samples: Samples,
    entries: Sequence[Entry],
    parts: Parts,
    *,
    deciding: Samples,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Fit each candidate once without each of the parts, and blend.

    Decisions are judged by the costs of `deciding`, the same samples.
    """
    history, runs = History(), list[int]()
    runners = [Runner(entry, samples) for entry in entries]

    def fit(runner: Runner, part: Part, bar: float) -> None:
        runs.append(runners.index(runner))
        runner.fit(part, history, callbacks, bar)

    racing = _race(runners, parts, fit)
    if len(parts.left_out) != 1:  # else the choice by the first part stands
        for runner in racing:
            runner.choose_stage()
    racing = _share_out(racing, LEAST_SHARE)
    if parts.refit or not parts.left_out:
        for runner in racing:
            runner.fit_all(history, callbacks)
            runs.append(runners.index(runner))
    return _blend(racing, runners, deciding, history, tuple(runs))


def _race(
    runners: Sequence[Runner],
    parts: Parts,
    fit: Callable[[Runner, Part, float], None],
) -> list[Runner]:
    """Fit all on the first part, and on each of the others who is not far behind; return who is left."""
    if not parts.left_out:  # no part can do without the only sample of its class
        return list(runners[:1])
    first, *others = parts.left_out
    bar = math.inf
    for runner in runners:
        fit(runner, first, bar)
        bar = min(bar, _bar(runner))
    racing = [runner for runner in runners if not runner.given_up]
    least = LEAST_TO_GO_ON
    for part in others:
        racing, least = _share_out(racing, least), LEAST_SHARE
        if time.monotonic() > parts.deadline:
            break
        for runner in racing:
            fit(runner, part, math.inf)
    return racing


def _share_out(runners: Sequence[Runner], least: float) -> list[Runner]:
    """Give shares of the blend, ∝ e^{−2√N·(log-loss above the least)}; return who has one.

    1/√N is the order of a mean log-loss's standard error: what lies within it says little. Over 44
    sets the blend erred less than its best member (by left-out log-loss), than equal shares, and
    than shares of half and of 3/2 the exponent.
    """
    log_losses = np.array([runner.found.log_loss for runner in runners])
    shares = np.exp(-_steepness(runners[0]) * (log_losses - log_losses.min()))
    shares[shares < least * shares.sum()] = 0.0
    for runner, share in zip(runners, (shares / shares.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


def _steepness(runner: Runner) -> float:
    return 2 * math.sqrt(n_distinct(runner.judged))


def _bar(runner: Runner) -> float:
    """The log-loss above which no other candidate goes on, given this one's."""
    return runner.found.log_loss - math.log(LEAST_TO_GO_ON) / _steepness(runner)


def _blend(
    members: Sequence[Runner],
    runners: Sequence[Runner],
    deciding: Samples,
    history: History,
    runs: tuple[int, ...],
) -> CrossFit:
    """Add up the members, with their shares, and judge the sum."""
    first = members[0]
    judged, costs, loss = first.judged, class_costs(first.samples), first.settings.objective.loss
    factors = [each.share * each.found.temperature for each in members]
    scores: Scores = np.sum(
        [factor * each.left_out for factor, each in zip(factors, members, strict=True)], axis=0
    )
    with one_linear_algebra_thread():
        temperature, log_loss = fit_temperature(scores, judged.labels, costs, judged.weight, loss)
        decoder = Decoder(costs, temperature, loss=loss)
        cost = decision_cost(scores, decoder, first.left_out_of(deciding))
        standings = tuple(each.standing(deciding) for each in runners if each.parts)
    return CrossFit(
        _sum(members, factors, history),
        decoder,
        history,
        standings,
        runs,
        log_loss,
        cost,
        *_by_row(scores, judged),
    )


def _by_row(scores: Scores, judged: Samples) -> tuple[Scores, Ints]:
    """One row of scores for each left-out sample: the mean, where several parts left some of it out."""
    rows, place = np.unique(judged.rows_of_table, return_inverse=True)
    if len(rows) == len(scores):
        return scores, judged.rows_of_table
    weight = np.ones(len(scores)) if judged.weight is None else judged.weight
    total = np.bincount(place, weight)
    means = [np.bincount(place, weight * column) / total for column in scores.T]
    return np.stack(means, axis=1), rows


def _sum(members: Sequence[Runner], factors: Sequence[float], history: History) -> Ensemble:
    """Add up the members' ensembles, and number the terms of the history by their place in the sum."""
    means = [member.ensemble() for member in members]
    ensemble, places = weighted_sum([mean for mean, _ in means], factors)
    history.renumber_terms(
        {
            run: np.append(now, CUT)[own].tolist()
            for member, (_, of_parts), now in zip(members, means, places, strict=True)
            for run, own in zip(member.runs, of_parts, strict=True)
        }
    )
    return ensemble


def neutral(samples: Samples) -> Samples:
    """The same samples, with all mistakes costing the same."""
    return replace(samples, costs=uniform(samples.costs.shape[1]), by_sample=False)
