"""Scores of samples that leave a cascade early."""

from typing import NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import Checks, Floats, Ints, Labels, Scores, Values
from rebelboost.base.hashing import distinct
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.cascade.checks import RISK, SIDES, at_temperature, compare_values, final_decisions
from rebelboost.cascade.plan import CascadePlan
from rebelboost.cascade.staged_terms import CompiledTables, StagedTerms
from rebelboost.model.fitted import FittedClassifier
from rebelboost.model.terms import Queries


class Left(NamedTuple):
    """Where samples left, and the scores that they left with."""

    stage: Ints
    """(N,) check; the number of checks if all terms were added."""
    scores: Scores
    decided: Labels
    """(N,) class codes; the number of classes stands for abstaining."""


def run_cascade(
    model: FittedClassifier,
    staged: StagedTerms,
    plan: CascadePlan,
    X: Values,
    costs: Floats,
    n_threads: int = 1,
) -> Left:
    """Decide samples; those that no check decides have the scores of the full model, bit for bit."""
    compiled = staged.compiled if plan.kind != RISK else None
    if compiled is None:
        return _stage_by_stage(model, staged, plan, X, costs, n_threads)
    stage, scores = _leave(staged, compiled, plan, X, n_threads)
    n_checks = len(plan.low)
    rest = np.flatnonzero(stage == n_checks)
    if not staged.same_order and len(rest):
        scores[rest] = model.scores(X[rest], n_threads)
    decided = np.argmax(scores, axis=1).astype(np.int32)
    if plan.kind == SIDES:
        high = np.append(plan.high, np.inf)[stage]
        decided = (scores[:, 1] - scores[:, 0] > high).astype(np.int32)
    if len(rest):
        decided[rest] = final_decisions(model, scores[rest], _of_rows(costs, rest))
    return Left(stage, scores, decided)


def _leave(
    staged: StagedTerms, compiled: CompiledTables, plan: CascadePlan, X: Values, n_threads: int
) -> tuple[Ints, Scores]:
    """Run the kernel; the last stage only if it gives the bits of the full model."""
    stops, low, high = compiled.stops[:-1], plan.low, plan.high
    if staged.same_order:
        stops, low, high = compiled.stops, np.append(low, -np.inf), np.append(high, np.inf)
    scores = np.zeros((len(X), staged.ensemble.n_classes))
    stage = np.empty(len(X), dtype=np.int32)
    beside = Queries(X).beside(compiled.trees.level_means)
    kernels.active.leave_early(
        beside if beside.flags.c_contiguous else beside.copy(order="C"),
        compiled.trees.walked,
        compiled.placed(X),
        LEVELS,
        Checks(stops, low, high),
        scores,
        stage,
        n_threads,
    )
    return np.minimum(stage, len(plan.low)).astype(np.int64), scores


def _stage_by_stage(
    model: FittedClassifier,
    staged: StagedTerms,
    plan: CascadePlan,
    X: Values,
    costs: Floats,
    n_threads: int,
) -> Left:
    """The same for any terms and any costs: the samples that are left go through each stage together."""
    n_checks = len(plan.low)
    stage = np.full(len(X), n_checks)
    scores = np.zeros((len(X), staged.ensemble.n_classes))
    decided = np.zeros(len(X), dtype=np.int32)
    alive, queries = np.arange(len(X)), Queries(X)
    for i in range(n_checks):
        sums = scores[alive]
        for table in staged.tables:
            table.add(i, queries, sums, n_threads)
        scores[alive] = sums
        own = _of_rows(costs, alive)
        found = compare_values(model, plan.kind, sums, own, float(plan.risk_temperatures[i]))
        above = found.values > plan.high[i]
        leaves = above | (found.values < plan.low[i])
        stage[alive[leaves]] = i
        decided[alive[leaves]] = (above if plan.kind == SIDES else found.decided)[leaves]
        alive = alive[~leaves]
        if len(alive) == 0:
            break
        if leaves.any():
            queries = queries.take(np.flatnonzero(~leaves))
    if len(alive):
        scores[alive] = model.scores(X[alive], n_threads)
        decided[alive] = final_decisions(model, scores[alive], _of_rows(costs, alive))
    return Left(stage, scores, decided)


def exit_posterior(model: FittedClassifier, plan: CascadePlan, left: Left) -> Floats:
    """(N, K) probabilities, with the temperature of the check at which each sample left."""
    posterior = np.empty_like(left.scores)
    for stage in distinct(left.stage).tolist():
        rows = left.stage == stage
        early = stage < len(plan.low)
        own = at_temperature(model, float(plan.temperatures[stage])) if early else model
        posterior[rows] = own.posterior(left.scores[rows])
    return posterior


def _of_rows(costs: Floats, rows: Ints) -> Floats:
    return costs if costs.ndim == 2 else costs[rows]
