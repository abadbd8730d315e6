"""Fits on parts of the data, averaged; rounds and temperature by what each part left out.

Boosting until the loss is gone decides well where classes are separable, but its scores say little
of probabilities. Here k fits leave out one of k folds each. The scores of every sample by the fit that
never saw it tell after how many rounds, and at which temperature, the decoded posterior has the least
log-loss. The model is the mean of the k fits, cut to those rounds: still a sum of terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rebelboost.callbacks import Callback, EarlyStopping, History
from rebelboost.costs import uniform
from rebelboost.decision import Decoder, fit_temperature, least_risk
from rebelboost.model import Ensemble, Term
from rebelboost.packing import Queries
from rebelboost.problem import Problem, class_costs, folds
from rebelboost.settings import Settings
from rebelboost.shapes import Bytes, Floats, Scores, Values
from rebelboost.training import train

N_STAGES = 16
"""Numbers of rounds that are compared, evenly spaced by ratio."""
LEAST_HOPE = 50
"""A fit ends when its left-out loss has not fallen for a fifth of the rounds, and for so many."""


@dataclass(frozen=True)
class CrossFit:
    """The averaged ensemble, and how it did on what its parts had left out."""

    ensemble: Ensemble
    decoder: Decoder
    history: History
    """Rounds of all parts, also those that were cut."""
    rounds: int
    """Of each part."""
    log_loss: float
    """Mean, of the decoded posterior of every sample by the fit that left it out."""
    cost: float
    """Mean, of the least-risk decisions on them."""

    def __repr__(self) -> str:
        return (
            f"CrossFit({self.rounds} rounds, temperature {self.decoder.temperature:g}, "
            f"left-out log-loss {self.log_loss:.4g}, left-out cost {self.cost:.4g})"
        )


def choose_cross_fit(
    problems: Sequence[Problem],
    settings: Sequence[Settings],
    categorical: Bytes,
    n_folds: int,
    *,
    deciding: Problem,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Cross-fit every way: of settings the one with the least log-loss, of problems with the least cost."""
    by_problem = []
    for problem in problems:
        tried = [
            cross_fit(problem, each, categorical, n_folds, deciding=deciding, callbacks=callbacks)
            for each in settings
        ]
        by_problem.append(min(tried, key=lambda fit: fit.log_loss))
    return min(by_problem, key=lambda fit: fit.cost)


def cross_fit(
    problem: Problem,
    settings: Settings,
    categorical: Bytes,
    n_folds: int,
    *,
    deciding: Problem,
    callbacks: Sequence[Callback] = (),
) -> CrossFit:
    """Fit `n_folds` times. Decisions are judged by the costs of `deciding`, the same samples."""
    stages = _stages(settings.rounds)
    left_out = np.zeros((len(stages), len(problem.labels), problem.costs.shape[1]))
    scored = np.zeros(len(problem.labels), dtype=bool)
    history = History()
    parts: list[Ensemble] = []
    for part, out in enumerate(folds(problem, n_folds, settings.seed)):
        hopeless = EarlyStopping(max(LEAST_HOPE, settings.rounds // 5))
        fit = train(
            problem.rows(~out),
            replace(settings, part=part),
            categorical,
            callbacks=[history, *callbacks, hopeless],
            held=problem.rows(out),
        )
        parts.append(fit)
        scored |= out
        left_out[:, out] = _scores_at(fit, problem.X[out], stages, settings.n_threads)
    if not parts:  # every class has one sample, which no part can do without
        parts.append(train(problem, settings, categorical, callbacks=[history, *callbacks]))
        scored[:] = True
    judged, deciding = problem.rows(scored), deciding.rows(scored)
    stage, decoder, log_loss = _best(
        left_out[:, scored], judged, class_costs(problem), settings.loss
    )
    scores = left_out[stage, scored]
    decided = least_risk(scores, decoder.posterior(scores), class_costs(deciding))
    _, cost = deciding.judge().judge(decided)
    ensemble = average([part.truncate(stages[stage]) for part in parts])
    return CrossFit(ensemble, decoder, history, stages[stage], log_loss, cost)


def average(ensembles: Sequence[Ensemble]) -> Ensemble:
    """One ensemble whose scores are the mean of theirs; rounds of all of them in turn."""
    share = 1 / len(ensembles)
    longest = max(map(len, ensembles))
    terms = [
        Term(ensemble.terms[t].hypothesis, share * ensemble.terms[t].outputs)
        for t in range(longest)
        for ensemble in ensembles
        if t < len(ensemble)
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


def _best(
    left_out: Floats, problem: Problem, costs: Floats, loss: str
) -> tuple[int, Decoder, float]:
    """Find the stage with the least log-loss at its best temperature."""
    temperatures, losses = np.transpose(
        [
            fit_temperature(scores, problem.labels, costs, problem.weight, loss)
            for scores in left_out
        ]
    )
    stage = int(np.argmin(losses))
    decoder = Decoder(costs, float(temperatures[stage]), loss=loss)
    return stage, decoder, float(losses[stage])


def neutral(problem: Problem) -> Problem:
    """The same samples, with all mistakes costing the same."""
    return replace(problem, costs=uniform(problem.costs.shape[1]), by_sample=False)
