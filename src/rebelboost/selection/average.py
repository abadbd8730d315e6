"""The average of the best candidates: scores by stage, weights by votes or log-loss, dropped members."""

import math
from collections.abc import Sequence

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Scores
from rebelboost.base.fixed_point import rounded
from rebelboost.base.hashing import hash_rows
from rebelboost.boosting.rounds import History
from rebelboost.kernels.elementary import portable_exp
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.selection.calibration import ClassScorer
from rebelboost.selection.result import CrossFit, Staged
from rebelboost.selection.runner import FEW, Runner

MOST_ROWS = 5000
MOST_VALUES = 1 << 21
"""Maximum number of samples, and of scores, that are kept; they take 2 bytes each in a large file."""
BITS = 12
"""Of the largest score. More would make files larger, and cascades no better."""


def staged_scores(
    members: Sequence[Runner],
    factors: Sequence[float],
    places: Sequence[Sequence[Ints]],
    offset: ByClass,
    n_terms: int,
) -> Staged | None:
    """Add the candidates' held-out scores, stage by stage; None without held-out samples, or without classes.

    `places` are the positions of each candidate's terms in the ensemble, fit by fit. The last stages of the
    candidates coincide, and terms without rounds are added last: they are expensive. The offset, which is the
    last term if there is one, is part of every stage.
    """
    judged = members[0].judged
    if not members[0].n_parts or not isinstance(judged, ClassScorer):
        return None
    by_stage = [member.scores_by_stage for member in members]
    n_stages = max(map(len, by_stage))
    chosen = _chosen(judged, n_stages)
    stage_of_term = np.full(n_terms, n_stages - 1)
    if offset.any():
        stage_of_term[-1] = 0
    scores = np.zeros((n_stages, len(chosen), judged.n_outputs)) + offset
    for member, found, factor, own in zip(members, by_stage, factors, places, strict=True):
        before = n_stages - len(found)
        scores[before:] += factor * found[:, chosen]
        for place in own:
            stage = before + np.searchsorted(
                member.kept_rounds, np.arange(len(place)), side="right"
            )
            stage_of_term[place[place >= 0]] = stage[place >= 0]
    costs = judged.deciding.decided_by
    largest = float(np.abs(scores).max(initial=0.0))
    return Staged(
        stage_of_term,
        rounded(scores, math.ldexp(1.0, math.frexp(largest)[1] - BITS)).astype(np.float32),
        judged.samples.rows_of_table[chosen],
        None if costs is None else costs[chosen].astype(np.float32),
    )


def _chosen(judged: ClassScorer, n_stages: int) -> Ints:
    """Samples that are kept: a random part if there are many."""
    most = max(MOST_VALUES // (n_stages * judged.n_outputs), MOST_ROWS // 10)
    lots = hash_rows(judged.samples.X, 2)
    kept: Ints = np.sort(np.argsort(lots, kind="stable")[: min(most, MOST_ROWS)])
    return kept


# ---- weights, and the sum of the fits


LEAST_SHARE = 0.03
"""Minimum weight in the average. Candidates below it are not fitted on further folds, nor averaged."""


def share_out(runners: Sequence[Runner], least: float) -> list[Runner]:
    """Set the candidates' weights ∝ e^{−2√N·(log-loss − lowest log-loss)}; return those above 0.

    1/√N is the order of the standard error of a mean log-loss: smaller differences mean little. On 44
    data sets, half or 3/2 of the exponent had a higher error; docs/learners.md has other variants.
    """
    log_losses = np.array([runner.found.log_loss for runner in runners])
    shares = portable_exp(-steepness(runners[0]) * (log_losses - log_losses.min()))
    shares[shares < min(1.0, least * shares.sum())] = 0.0  # that of the lowest log-loss is 1
    for runner, share in zip(runners, (shares / shares.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


def steepness(runner: Runner) -> float:
    """2√N, for N held-out samples."""
    return 2 * math.sqrt(runner.judged.n_effective)


PRIOR_VOTES, VOTES = 2, 10
"""Number of votes that weights by log-loss count for, and of those by which held-out samples correct them."""
FLATTER = 0.5
"""Factor of the exponent of these weights."""


def vote(runners: Sequence[Runner]) -> list[Runner]:
    """Set the candidates' weights ∝ votes; return those with one vote at least.

    Each vote is for the candidate that lowers the log-loss of the average most [Caruana et al. 2004]: not
    those that predict best alone, but those that make up for each other's mistakes. It takes many held-out
    samples; benchmarks/larger.py prints what it gains.
    """
    judged = runners[0].judged
    log_losses = np.array([runner.found.log_loss for runner in runners])
    prior = portable_exp(-FLATTER * steepness(runners[0]) * (log_losses - log_losses.min()))
    votes = PRIOR_VOTES * prior / prior.sum()
    scores = [runner.found.factor * runner.left_out for runner in runners]
    total: Scores = np.sum([n * each for n, each in zip(votes, scores, strict=True)], axis=0)
    for n in range(PRIOR_VOTES + 1, PRIOR_VOTES + VOTES + 1):
        best = int(np.argmin([judged.log_loss((total + each) / n) for each in scores]))
        votes[best] += 1
        total = total + scores[best]
    votes[votes < 1] = 0.0
    for runner, share in zip(runners, (votes / votes.sum()).tolist(), strict=True):
        runner.share = share
    return [runner for runner in runners if runner.share > 0]


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


# ---- members that held-out samples do not miss


LEAST_EVIDENCE = 100.0
"""Minimum of what held-out samples must tell (`HeldOutScorer.evidence`) for members to be dropped."""
HARDLY = 0.03
"""Tolerated rise of the log-loss, times √N: a small part of its standard error."""


def needed(members: Sequence[Runner]) -> list[Runner]:
    """Set the weights of members that are not missed to 0; return the others, whose weights sum to 1.

    With few samples, or hardly any mistakes, held-out samples do not tell who will be missed: all stay.
    """
    judged, kept = members[0].judged, list(members)
    factor, log_loss = judged.best_factor(_average(kept))
    n_samples = judged.n_effective
    if n_samples < FEW or judged.evidence(log_loss) < LEAST_EVIDENCE:
        return kept
    most = judged.log_loss(factor * _average(kept)) + HARDLY / math.sqrt(n_samples)
    while len(kept) > 1:
        rests = [[each for each in kept if each is not left] for left in kept]
        log_losses = [judged.log_loss(factor * _average(rest)) for rest in rests]
        best = int(np.argmin(log_losses))
        if log_losses[best] > most:
            break
        kept = rests[best]
    total = sum(each.share for each in kept)
    for each in members:
        each.share = each.share / total if each in kept else 0.0
    return kept


def _average(members: Sequence[Runner]) -> Scores:
    """Held-out scores of some members, averaged with their weights."""
    total = sum(each.share for each in members)
    shares = [each.share / total * each.found.factor for each in members]
    scores: Scores = np.sum(
        [share * each.left_out for share, each in zip(shares, members, strict=True)], axis=0
    )
    return scores
