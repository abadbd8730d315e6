"""Localized similarities [LOCAL, Sec. 5]: weak learners that compare a sample with training samples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rebelboost.data.point_set import place_samples
from rebelboost.data.spaces import SCALES
from rebelboost.learners.options import check_choice, check_number
from rebelboost.learners.similarity_search import PreparedSimilarity

Metric = str | Callable[..., float]


@dataclass(frozen=True)
class Similarity:
    """Similarities to training samples as weak learners.

    Parameters
    ----------
    scale
        In which units distances are measured: "none", "standard" or "whitened", see
        `rebelboost.data.spaces`. "auto": the one with the least error on held-out samples.
    metric
        "sqeuclidean", after scaling. "precomputed": `X` holds squared distances, (N, N) in `fit`
        and from each sample to all training samples in `predict`. Or a function of two samples, or
        the name of one of SciPy's metrics, which give squared distances of values as they are.
    search
        "drawn": several anchors at a time, drawn in proportion to their weight. "best": in every
        round the anchor with the best isolating learner, as in the papers.
    anchors
        How many are drawn at a time. "auto": one where every sample is looked at anyway, which
        suits each round's weights best; 8 where there are more samples than `subset`.
    rivals
        How many an anchor is compared with to find the best.
    subset
        Candidates are compared on so many samples, drawn by weight, where there are more. The
        chosen one is always solved on all.
    response
        "real", or "sign": −1 or 1.
    modes
        "both": two points. "one": one point, the anchor.
    offset
        Solve a constant along with every response: f·a + b. The papers do without, and let the
        constant compete as a term of its own.
    categorical
        Which features are categories; see `Tree`.
    """

    scale: Literal["auto", "none", "standard", "whitened"] = "auto"
    metric: Metric = "sqeuclidean"
    search: Literal["drawn", "best"] = "drawn"
    anchors: int | Literal["auto"] = "auto"
    rivals: int = 8
    subset: int = 2048
    response: Literal["real", "sign"] = "real"
    modes: Literal["both", "one"] = "both"
    offset: bool = True
    categorical: Any = "from_dtype"

    rounds = 4000
    shrinkage = 1.0

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, ("auto", *SCALES))
        check_choice("search", self.search, ("drawn", "best"))
        check_choice("response", self.response, ("real", "sign"))
        check_choice("modes", self.modes, ("both", "one"))
        if self.anchors != "auto":
            check_number("anchors", self.anchors, 1, 1000)
        check_number("rivals", self.rivals, 1, 1000)
        check_number("subset", self.subset, 2, 2**31)
        if not (callable(self.metric) or isinstance(self.metric, str)):
            raise TypeError(
                f"metric is {self.metric!r}: give 'sqeuclidean', 'precomputed', the name of a SciPy "
                "metric, or a function of two samples"
            )

    def n_anchors(self, n_samples: int) -> int:
        """How many anchors are drawn at a time from so many samples."""
        if self.anchors != "auto":
            return self.anchors
        return 1 if n_samples <= self.subset else 8

    @property
    def is_scaled(self) -> bool:
        """Whether values are scaled before distances are measured."""
        return self.metric == "sqeuclidean"

    def prepare(self, samples: Any, n_threads: int = 1) -> PreparedSimilarity:
        """Place the samples in the space of the distances; merge those at one point."""
        placed = place_samples(samples, self.metric, self.scale, n_threads)
        return PreparedSimilarity(placed.samples, self, placed)
