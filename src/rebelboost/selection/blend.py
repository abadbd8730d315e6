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
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Ints, Scores
from rebelboost.boosting.callbacks import Callback
from rebelboost.boosting.fit import one_linear_algebra_thread
from rebelboost.boosting.rounds import History
from rebelboost.costs.decision import decision_cost
from rebelboost.costs.matrix import class_costs, uniform
from rebelboost.costs.posterior import Decoder, fit_temperature
from rebelboost.data.folds import n_distinct
from rebelboost.data.samples import Problem
from rebelboost.model.ensemble import Ensemble
from rebelboost.selection.candidates import Candidate
from rebelboost.selection.runner import Entrant, Standing, weighted_sum

LEAST_SHARE = 0.01
"""A member with a smaller share of the blend is left out of it, and not fitted again."""
LEAST_TO_GO_ON = 0.05
"""After the first part. Later this would be too much: one of 11 % in the end was below (diabetes)."""


class Parts(NamedTuple):
    """Which samples the fits leave out."""

    left_out: Sequence[NDArray[np.bool_]]
    """(N,) masks."""
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
    problem: Problem,
    candidates: Sequence[Candidate],
    categorical: Bytes,
    parts: Parts,
    *,
    deciding: Problem,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Fit each candidate once without each of the parts, and blend.

    Decisions are judged by the costs of `deciding`, the same samples.
    """
    history, runs = History(), list[int]()
    entrants = [Entrant(candidate, problem) for candidate in candidates]

    def fit(entrant: Entrant, out: NDArray[np.bool_], bar: float) -> None:
        runs.append(entrants.index(entrant))
        entrant.fit(out, categorical, [history, *callbacks], bar)

    racing = _race(entrants, parts, fit)
    if len(parts.left_out) != 1:  # else the choice by the first part stands
        for entrant in racing:
            entrant.choose_stage()
    racing = _share_out(racing, LEAST_SHARE)
    if parts.refit or not parts.left_out:
        for entrant in racing:
            entrant.fit_all(categorical, [history, *callbacks])
            runs.append(entrants.index(entrant))
    return _blend(racing, entrants, deciding, history, tuple(runs))


def _race(
    entrants: Sequence[Entrant],
    parts: Parts,
    fit: Callable[[Entrant, NDArray[np.bool_], float], None],
) -> list[Entrant]:
    """Fit all on the first part, and on each of the others who is not far behind; return who is left."""
    if not parts.left_out:  # no part can do without the only sample of its class
        return list(entrants[:1])
    first, *others = parts.left_out
    bar = math.inf
    for entrant in entrants:
        fit(entrant, first, bar)
        bar = min(bar, _bar(entrant))
    racing = [entrant for entrant in entrants if not entrant.given_up]
    least = LEAST_TO_GO_ON
    for out in others:
        racing, least = _share_out(racing, least), LEAST_SHARE
        if time.monotonic() > parts.deadline:
            break
        for entrant in racing:
            fit(entrant, out, math.inf)
    return racing


def _share_out(entrants: Sequence[Entrant], least: float) -> list[Entrant]:
    """Give shares of the blend, ∝ e^{−2√N·(log-loss above the least)}; return who has one.

    1/√N is the order of a mean log-loss's standard error: what lies within it says little. Over 44
    sets the blend erred less than its best member (by left-out log-loss), than equal shares, and
    than shares of half and of 3/2 the exponent.
    """
    log_losses = np.array([entrant.found.log_loss for entrant in entrants])
    shares = np.exp(-_steepness(entrants[0]) * (log_losses - log_losses.min()))
    shares[shares < least * shares.sum()] = 0.0
    for entrant, share in zip(entrants, (shares / shares.sum()).tolist(), strict=True):
        entrant.share = share
    return [entrant for entrant in entrants if entrant.share > 0]


def _steepness(entrant: Entrant) -> float:
    return 2 * math.sqrt(n_distinct(entrant.judged))


def _bar(entrant: Entrant) -> float:
    """The log-loss above which no other candidate goes on, given this one's."""
    return entrant.found.log_loss - math.log(LEAST_TO_GO_ON) / _steepness(entrant)


def _blend(
    members: Sequence[Entrant],
    entrants: Sequence[Entrant],
    deciding: Problem,
    history: History,
    runs: tuple[int, ...],
) -> CrossFit:
    """Add up the members, with their shares, and judge the sum."""
    first = members[0]
    judged, costs, loss = first.judged, class_costs(first.problem), first.settings.loss
    factors = [each.share * each.found.temperature for each in members]
    scores: Scores = np.sum(
        [factor * each.left_out for factor, each in zip(factors, members, strict=True)], axis=0
    )
    with one_linear_algebra_thread():
        temperature, log_loss = fit_temperature(scores, judged.labels, costs, judged.weight, loss)
        decoder = Decoder(costs, temperature, loss=loss)
        cost = decision_cost(scores, decoder, deciding.take(first.judges))
        standings = tuple(each.standing(deciding) for each in entrants if each.parts)
    return CrossFit(
        weighted_sum([each.ensemble() for each in members], factors),
        decoder,
        history,
        standings,
        runs,
        log_loss,
        cost,
        scores,
        judged.rows_of_table,
    )


def neutral(problem: Problem) -> Problem:
    """The same samples, with all mistakes costing the same."""
    return replace(problem, costs=uniform(problem.costs.shape[1]), by_sample=False)
