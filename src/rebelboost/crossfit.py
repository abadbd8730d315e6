"""Fits on parts of the data, averaged and blended; rounds and temperature by what each part left out.

Boosting until the loss is gone decides well where classes are separable, but its scores say little
of probabilities. Here k fits leave out one of k folds each. The scores of every sample by the fit that
never saw it tell after how many rounds, and at which temperature, the decoded posterior has the least
log-loss. A member is the mean of the k fits, cut to those rounds.

Several members, of other learners or settings, are blended: each with its temperature and a share
that falls with its left-out log-loss. The model is still a sum of terms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.callbacks import Callback, History, Round
from rebelboost.costs import uniform
from rebelboost.decision import Decoder, fit_temperature, least_risk
from rebelboost.model import Ensemble, Term
from rebelboost.packing import Queries
from rebelboost.problem import Problem, class_costs, folds, n_distinct
from rebelboost.settings import Settings
from rebelboost.shapes import Bytes, Floats, Scores, Values
from rebelboost.training import train

N_STAGES = 16
"""Numbers of rounds that are compared, evenly spaced by ratio."""
LEAST_HOPE = 50
"""A fit ends when it has not got better for a fifth of the rounds, and for so many."""
LOOSE_SHRINKAGE, LOOSE_FEATURES = 0.1, 0.3
"""Of a member whose terms differ more from one another, as a forest's trees do."""
LEAST_SHARE = 0.01
"""A member with a smaller share of the blend is left out of it."""


@dataclass(frozen=True)
class CrossFit:
    """The blended ensemble, and how it did on what its parts had left out."""

    ensemble: Ensemble
    decoder: Decoder
    history: History
    """Rounds of all parts, also those that were cut."""
    rounds: tuple[int, ...]
    """Of each part, for every member."""
    shares: tuple[float, ...]
    """Of the members in the blend."""
    log_loss: float
    """Mean, of the decoded posterior of every sample by the fits that left it out."""
    cost: float
    """Mean, of the least-risk decisions on them."""

    def __repr__(self) -> str:
        members = ", ".join(
            f"{share:.0%} of {rounds} rounds"
            for share, rounds in zip(self.shares, self.rounds, strict=True)
        )
        return (
            f"CrossFit({members}, temperature {self.decoder.temperature:g}, "
            f"left-out log-loss {self.log_loss:.4g}, left-out cost {self.cost:.4g})"
        )


class Member(NamedTuple):
    """Fits with the same settings: their mean, and the scores of what each had left out."""

    ensemble: Ensemble
    rounds: int
    left_out: Scores
    """(N, K)"""
    temperature: float
    log_loss: float


def cross_fit(
    problem: Problem,
    settings: Sequence[Settings],
    categorical: Bytes,
    n_folds: int,
    *,
    deciding: Problem,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Fit `n_folds` times with each of the settings, and blend.

    Decisions are judged by the costs of `deciding`, the same samples.
    """
    history = History()
    left_out = folds(problem, n_folds, settings[0].seed)
    members = [
        _member(problem, each, categorical, left_out, callbacks=[history, *callbacks])
        for each in settings
    ]
    scored = np.any(left_out, axis=0) if left_out else np.ones(len(problem.labels), dtype=bool)
    judged, deciding = problem.rows(scored), deciding.rows(scored)
    shares = _shares([member.log_loss for member in members], n_distinct(judged))
    factors = np.array(shares) * [member.temperature for member in members]
    blended = factors[:, np.newaxis, np.newaxis] * [member.left_out[scored] for member in members]
    scores: Scores = blended.sum(axis=0)
    costs = class_costs(problem)
    loss = settings[0].loss
    temperature, log_loss = fit_temperature(scores, judged.labels, costs, judged.weight, loss)
    decoder = Decoder(costs, temperature, loss=loss)
    decided = least_risk(scores, decoder.posterior(scores), class_costs(deciding))
    _, cost = deciding.judge().judge(decided)
    return CrossFit(
        weighted_sum([member.ensemble for member in members], factors.tolist()),
        decoder,
        history,
        tuple(member.rounds for member in members),
        shares,
        log_loss,
        cost,
    )


class Hopeless:
    """Stops when neither the left-out loss nor the cost of left-out decisions has fallen for long.

    The exponential loss rises early, by a few samples that are wrong beyond doubt, while decisions,
    and the posterior at a lower temperature, still get better.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.least = [math.inf, math.inf]
        self.last = 0

    def on_round(self, record: Round) -> bool:
        """Compare both with their least so far."""
        if record.held is None:
            return False
        now = [record.held.log_loss, record.held.cost]
        if now[0] < self.least[0] or now[1] < self.least[1]:
            self.last = record.index
        self.least = list(map(min, self.least, now))
        return record.index - self.last >= self.patience

    def on_end(self) -> None:
        """Nothing to tidy up."""


def _member(
    problem: Problem,
    settings: Settings,
    categorical: Bytes,
    left_out: Sequence[NDArray[np.bool_]],
    *,
    callbacks: Sequence[Callback],
) -> Member:
    stages = _stages(settings.rounds)
    scores = np.zeros((len(stages), len(problem.labels), problem.costs.shape[1]))
    parts: list[Ensemble] = []
    for part, out in enumerate(left_out):
        hopeless = Hopeless(max(LEAST_HOPE, settings.rounds // 5))
        fit = train(
            problem.rows(~out),
            replace(settings, part=part),
            categorical,
            callbacks=[*callbacks, hopeless],
            held=problem.rows(out),
        )
        parts.append(fit)
        scores[:, out] = _scores_at(fit, problem.X[out], stages, settings.n_threads)
    if not parts:  # every class has one sample, which no part can do without
        parts.append(train(problem, settings, categorical, callbacks=callbacks))
    scored = np.any(left_out, axis=0) if left_out else np.ones(len(problem.labels), dtype=bool)
    stage, temperature, log_loss = _best(scores[:, scored], problem.rows(scored), settings.loss)
    cut = [part.truncate(stages[stage]) for part in parts]
    mean = weighted_sum(cut, [1 / len(cut)] * len(cut))
    return Member(mean, stages[stage], scores[stage], temperature, log_loss)


def _shares(log_losses: Sequence[float], n_samples: int) -> tuple[float, ...]:
    """Share out the blend: ∝ e^{−√N·(log-loss above the least)}.

    1/√N is the order of a mean log-loss's standard error: what lies within it says little. Over 33
    sets the blend cost less than the member with the least log-loss, and than equal shares.
    """
    behind = np.sqrt(n_samples) * (np.array(log_losses) - min(log_losses))
    shares = np.exp(-behind)
    shares[shares < LEAST_SHARE * shares.sum()] = 0.0
    return tuple((shares / shares.sum()).tolist())


def weighted_sum(ensembles: Sequence[Ensemble], factors: Sequence[float]) -> Ensemble:
    """One ensemble whose scores are the sum of theirs times the factors; rounds of all in turn."""
    longest = max(map(len, ensembles))
    terms = [
        Term(ensemble.terms[t].hypothesis, factor * ensemble.terms[t].outputs)
        for t in range(longest)
        for ensemble, factor in zip(ensembles, factors, strict=True)
        if t < len(ensemble) and factor > 0
    ]
    return Ensemble(tuple(terms), ensembles[0].n_classes)


def _stages(rounds: int) -> list[int]:
    return sorted({int(r) for r in np.rint(np.geomspace(min(5, rounds), rounds, N_STAGES))})


def _scores_at(ensemble: Ensemble, X: Values, stages: Sequence[int], n_threads: int) -> Scores:
    """(stages, N, K): scores after so many terms; after all, where there are fewer."""
    queries, scores = Queries(X), np.zeros((len(X), ensemble.n_classes))
    at, done = [], 0
    for stage in stages:
        ensemble.add_scores(queries, scores, done, min(stage, len(ensemble)), n_threads)
        done = min(stage, len(ensemble))
        at.append(scores.copy())
    return np.stack(at)


def _best(left_out: Floats, problem: Problem, loss: str) -> tuple[int, float, float]:
    """Find the stage with the least log-loss at its best temperature; return both, too."""
    known = problem.labels, class_costs(problem), problem.weight, loss
    # Near its least the loss is flat: rough temperatures do to compare stages.
    losses = [fit_temperature(scores, *known, precision=0.1)[1] for scores in left_out]
    stage = int(np.argmin(losses))
    return stage, *fit_temperature(left_out[stage], *known)


def neutral(problem: Problem) -> Problem:
    """The same samples, with all mistakes costing the same."""
    return replace(problem, costs=uniform(problem.costs.shape[1]), by_sample=False)


def loose(settings: Settings) -> Settings:
    """The same learner in smaller steps, each of which sees some of the features only."""
    sampling = replace(settings.sampling, feature_subsample=LOOSE_FEATURES)
    return replace(settings, shrinkage=LOOSE_SHRINKAGE, sampling=sampling)
