"""The scores of one sample at a time, with as little to do as possible before the terms are added."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample
from rebelboost.base.kernel_arrays import CodedColumns, CodedTrees, StepArrays
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.terms import Queries, Terms
from rebelboost.model.trees import Trees

if TYPE_CHECKING:
    from rebelboost.data.level_means import LevelMeans


class _Walked(NamedTuple):
    """Trees of which some are added next."""

    columns: CodedColumns
    trees: CodedTrees
    first: int
    last: int


class _Added(NamedTuple):
    """Other terms of which some are added next."""

    terms: Terms
    first: int
    last: int


class SingleScores:
    """Scores of one sample by an ensemble: the same bits as `Ensemble.scores`."""

    __slots__ = ("_constant", "_others", "_steps", "_steps_means", "_walked")

    def __init__(self, ensemble: Ensemble) -> None:
        self._constant = np.zeros(ensemble.n_classes)
        self._steps: StepArrays | None = None
        self._steps_means: tuple[LevelMeans, ...] = ()
        if ensemble.is_exact:
            merged = ensemble.merged
            self._constant = merged.constant + 0.0  # never −0
            if len(merged.steps.features):
                self._steps, self._steps_means = merged.steps, merged.means
            parts = [_Added(terms, 0, len(terms)) for terms in merged.others]
        else:
            parts = [
                _Added(ensemble.groups[group].terms, first, last)
                for group, first, last in ensemble.runs(0, len(ensemble))
            ]
        coded = [_as_walked(part) for part in parts]
        # Only a sum that begins with trees, or is exact, may add all trees first.
        n_first = next((i for i, each in enumerate(coded) if each is None), len(coded))
        if ensemble.is_exact:
            self._walked = tuple(each for each in coded if each is not None)
            self._others = tuple(p for p, each in zip(parts, coded, strict=True) if each is None)
        else:
            self._walked = tuple(each for each in coded[:n_first] if each is not None)
            self._others = tuple(parts[n_first:])

    def __call__(self, x: BySample) -> ByClass:
        """(K,) the scores of a (d,) sample of 64-bit floats."""
        scores = self._constant.copy()
        for part in self._walked:
            kernels.active.score_row(x, *part, scores)
        if self._steps is not None or self._others:
            self._add_others(Queries(x[np.newaxis]), scores[np.newaxis])
        return scores

    def _add_others(self, queries: Queries, scores: ByClass) -> None:
        if self._steps is not None:
            X = queries.beside(self._steps_means)
            kernels.active.add_steps(X, self._steps, scores, 1)
        for terms, first, last in self._others:
            terms.add_scores(queries, scores, first, last, 1)


def _as_walked(part: _Added) -> _Walked | None:
    """Trees in the form that is walked for one sample; None for other terms."""
    terms = part.terms
    if not isinstance(terms, Trees) or terms.level_means or terms.coded is None:
        return None
    return _Walked(*terms.coded, part.first, part.last)
