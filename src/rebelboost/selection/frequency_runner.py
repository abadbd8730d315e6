"""The candidate that ignores all features: the class frequencies, where nothing can be learned from them."""

from collections.abc import Sequence

import numpy as np

from rebelboost.base.arrays import ByClass
from rebelboost.boosting.callbacks import Callback
from rebelboost.data.folds import Mask, Part
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.trees import Trees
from rebelboost.selection.candidates import Entry
from rebelboost.selection.runner import Attempt, Runner
from rebelboost.selection.scoring import ClassScorer, HeldOutScorer


class FrequencyRunner(Runner):
    """Gives every sample the same scores, by the class frequencies of the samples that a part keeps."""

    fits: list[ByClass]
    stages = (1,)

    def __init__(self, entry: Entry, judging: HeldOutScorer) -> None:
        super().__init__(entry, judging)
        assert isinstance(judging, ClassScorer)
        self._frequencies = judging.frequencies

    def fit_without(
        self,
        part: Part,
        number: int,
        bar: float,
        callbacks: Sequence[Callback],
        n_threads: int,
    ) -> Attempt:
        """Count the classes of the samples that the part keeps."""
        del number, bar, callbacks, n_threads
        scores = self._frequencies(part.kept)
        n_out = int(np.count_nonzero(part.out))
        return Attempt(part, scores, np.tile(scores, (1, n_out, 1)))

    @property
    def rounds(self) -> int:
        """One: there is nothing to boost."""
        return 1

    def fit_all(self, callbacks: Sequence[Callback], n_threads: int) -> None:
        """Count the classes of all samples."""
        del callbacks, n_threads
        everything: Mask = np.ones(len(self.judging.samples.labels), dtype=bool)
        self.fits.append(self._frequencies(everything))

    def summands(self) -> list[Ensemble]:
        """One constant term, the mean of the fits."""
        scores: ByClass = np.mean(self.fits, axis=0)
        return [Ensemble.of([Trees.constant(scores)], len(scores))]
