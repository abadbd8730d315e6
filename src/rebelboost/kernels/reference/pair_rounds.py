"""Several rounds of boosting with similarities in one call."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import COMPARISONS, Regions
from rebelboost.base.kernel_arrays import (
    CONSTANT,
    LEVELS,
    Boosted,
    HeldPoints,
    PairPlan,
    PairQueue,
    PairSpace,
    PairTable,
    PairTerm,
    Proposed,
    RoundLog,
)
from rebelboost.kernels.reference.pairs import propose_pair
from rebelboost.kernels.reference.rounds import add_term, sum_exceeds
from rebelboost.kernels.reference.similarity import compare_points


def boost_pairs(
    space: PairSpace,
    others: HeldPoints,
    plan: PairPlan,
    training: Boosted,
    held: Boosted,
    queue: PairQueue,
    memory: PairTerm,
    terms: PairTable,
    log: RoundLog,
    n_threads: int,
) -> int:
    """In each round propose a pair, and add it to the training samples and to the held-out ones, if any.

    Ends early before a term that adds nothing, or when the weights have fallen to `plan.least_total`.
    `memory` is overwritten in every round. Returns the number of rounds.
    """
    exponent = 0
    for t, key in enumerate(plan.keys.tolist()):
        term = propose_pair(
            training.weights,
            training.totals,
            space,
            plan.samples,
            plan.options,
            key,
            queue,
            memory,
            n_threads,
        )
        outputs = memory.outputs
        outputs *= plan.shrinkage
        if not outputs.any():
            return t
        terms.kinds[t], terms.anchors[t], terms.rivals[t], terms.apart[t], log.edges[t] = term
        terms.outputs[t] = outputs
        by_level = LEVELS[:, np.newaxis] * outputs[0] + outputs[1]
        exponent += add_term(training, memory.regions, by_level, log, t, 0)
        if len(held.scores) > 0:
            levels = _levels(others, term, len(held.scores))
            add_term(held, levels, by_level, log, t, 1)
        if not sum_exceeds(training, exponent, plan.least_total):
            return t + 1
    return len(plan.keys)


def _levels(others: HeldPoints, term: Proposed, n_samples: int) -> Regions:
    """(M,) the level of each held-out sample's response."""
    kind, anchor, rival, apart, _ = term
    levels = np.full(n_samples, CONSTANT, dtype=np.uint16)
    if kind < len(COMPARISONS):
        chosen = [anchor] if rival < 0 else [anchor, rival]
        compare_points(others.blocks, others.points[chosen], kind, apart, levels, 1)
    return levels
