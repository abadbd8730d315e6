"""The average of the candidates that did best on held-out samples, and its results.

Each candidate enters with its temperature and a weight that falls with its held-out log-loss. The result is
still a sum of terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Scores
from rebelboost.boosting.rounds import History
from rebelboost.kernels.elementary import portable_exp
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.selection.runner import Runner, Standing
from rebelboost.selection.staged import Staged, staged_scores

LEAST_SHARE = 0.03
"""Minimum weight in the average. Candidates below it are not fitted on further folds, nor averaged."""


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
    """Mean log-loss on held-out samples; see `HeldOutScorer.best_factor`."""
    cost: float
    """Mean cost of the decisions on held-out samples, by expected cost; in a regression the root mean
    squared error."""
    left_out: Scores
    """(M, K) scores of held-out samples, averaged over the candidates with their weights."""
    rows: Ints
    """(M,) rows of those samples in the user's table."""
    staged: Staged | None = field(default=None, repr=False)
    """Scores of held-out samples after parts of the terms; None in a regression."""
    merged_parts: tuple[Ensemble, ...] = field(default=(), repr=False)
    """For each part, the terms of fits without it that the average has merged into one; not stored in files."""
    part_rows: tuple[Ints, ...] = field(default=(), repr=False)
    """For each part, its rows in the user's table; not stored in files."""

    def __repr__(self) -> str:
        members = ", ".join(
            f"{each.share:.0%} with {each.rounds} rounds" for each in self.standings if each.share
        )
        return (
            f"CrossFit({members}, temperature {self.temperature:g}, "
            f"held-out log-loss {self.log_loss:.4g}, held-out cost {self.cost:.4g})"
        )


def share_out(runners: Sequence[Runner], least: float) -> list[Runner]:
    """Set the candidates' weights ∝ e^{−2√N·(log-loss − lowest log-loss)}; return those above 0.

    1/√N is the order of the standard error of a mean log-loss: smaller differences mean little. On 44
    data sets, half or 3/2 of the exponent had a higher error; docs/learners.md has other variants.
    """
    log_losses = np.array([runner.found.log_loss for runner in runners])
    shares = portable_exp(-steepness(runners[0]) * (log_losses - log_losses.min()))
    shares[shares < least * shares.sum()] = 0.0
    for runner, share in zip(runners, (shares / shares.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


def steepness(runner: Runner) -> float:
    """2√N, for N held-out samples."""
    return 2 * math.sqrt(runner.judged.n_effective)


def blend(
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
    if members[0].n_parts:
        temperature, offset, log_loss = judged.calibrated(scores)
    else:  # nothing was left out: the scores are all 0, and those of the model are not known
        temperature, log_loss = judged.best_factor(scores)
        offset = np.zeros(judged.n_outputs)
    scores = scores + offset
    ensemble, places = _sum(members, factors, offset, history)
    judged_rows = members[0].judging.samples.rows_of_table
    return CrossFit(
        ensemble,
        temperature,
        history,
        tuple(each.standing() for each in runners if each.n_parts or each in members),
        runs,
        log_loss,
        judged.cost(scores, temperature),
        scores,
        judged.samples.rows_of_table,
        staged_scores(members, factors, places, offset, len(ensemble)),
        _merged_parts(members, factors),
        tuple(judged_rows[np.flatnonzero(out)] for out in members[0].judges),
    )


def _merged_parts(members: Sequence[Runner], factors: Sequence[float]) -> tuple[Ensemble, ...]:
    """For each part, the sum of what the candidates' fits without it have in no other form."""
    own = [(each.merged_fits(), factor) for each, factor in zip(members, factors, strict=True)]
    own = [(fits, factor) for fits, factor in own if fits]
    parts = zip(*(fits for fits, _ in own), strict=True)
    return tuple(weighted_sum(list(part), [factor for _, factor in own])[0] for part in parts)


def _sum(
    members: Sequence[Runner], factors: Sequence[float], offset: ByClass, history: History
) -> tuple[Ensemble, list[list[Ints]]]:
    """Sum the candidates' fits and the offset, and renumber the terms of the history accordingly.

    Also returns the place of each term in the sum, for each fit with rounds of each candidate.
    """
    summands = [member.summands() for member in members]
    shares = [factor / len(own) for factor, own in zip(factors, summands, strict=True) for _ in own]
    ensemble, now = weighted_sum([each for own in summands for each in own], shares)
    left = iter(now)
    of_fits = [[next(left) for _ in own] for own in summands]
    places = [own if member.runs else [] for member, own in zip(members, of_fits, strict=True)]
    history.renumber_terms(
        {
            run: own.tolist()
            for member, of_parts in zip(members, places, strict=True)
            for run, own in zip(member.runs, of_parts, strict=True)
        }
    )
    if offset.any():
        ensemble = ensemble.plus(offset)
    return ensemble.on_grid(), places
