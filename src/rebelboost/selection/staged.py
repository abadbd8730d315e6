"""Scores of held-out samples after parts of the terms: what a cascade is calibrated on without other data.

Each sample was left out by one of the fits. After the same rounds of that fit alone, its scores are as new as
those of an unseen sample after the same rounds of the average. A single fit changes its mind a little more
often than the average of several does, so thresholds that are chosen from it err on the safe side.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Ints
from rebelboost.base.grid import rounded
from rebelboost.base.hashing import hash_rows
from rebelboost.selection.runner import Runner
from rebelboost.selection.scoring import ClassScorer

MOST_ROWS = 5000
MOST_VALUES = 1 << 21
"""Maximum number of samples, and of scores, that are kept; they take 2 bytes each in a large file."""
BITS = 12
"""Of the largest score. More would make files larger, and cascades no better."""


class Staged(NamedTuple):
    """Scores of held-out samples after each of S stages of the terms."""

    stage_of_term: Ints
    """(T,) the stage at which each term of the ensemble is added."""
    scores: NDArray[np.float32]
    """(S, M, K) the last stage has all terms."""
    rows: Ints
    """(M,) rows of the samples in the user's table."""
    costs: NDArray[np.float32] | None = None
    """(M, K, K) costs that decisions on them follow, where they differ from sample to sample."""


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
