"""Options of localized similarities, which compare a sample with training samples [LOCAL, Sec. 5]."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from rebelboost.data.point_set import place_samples
from rebelboost.data.spaces import SCALES
from rebelboost.learners.base import Traits, merged_rows
from rebelboost.learners.exact_search import PreparedExactSimilarity
from rebelboost.learners.options import Parameters, check_choice, check_number
from rebelboost.learners.similarity_search import PreparedSimilarity, SimilarityPoints
from rebelboost.rows.base import Rows, given_samples

Metric = str | Callable[..., float]


@dataclass(frozen=True, repr=False)
class Similarity(Parameters):
    """Localized similarities: weak learners that compare a sample with two training samples.

    The response is near +1 close to one of them, the anchor, and near −1 close to the other, the rival
    [LOCAL, Sec. 5].

    Parameters
    ----------
    scale : {"auto", "none", "standard", "whitened"}, default="auto"
        Scaling of the features before distances are measured. "none" uses the values as they are;
        "standard" gives every feature a variance of 1; "whitened" also removes correlations within
        classes. "auto" takes the simplest one whose held-out cost is within one standard error of the
        lowest.
    metric : str or callable, default="sqeuclidean"
        "sqeuclidean" measures squared Euclidean distances after scaling. With "precomputed", `X` holds
        squared distances: (N, N) in `fit`, and from each sample to all training samples in `predict`.
        A function of two samples, or the name of a SciPy metric, must return squared distances; it is
        applied to unscaled values.
    search : {"drawn", "best", "exact"}, default="drawn"
        "drawn" draws anchors at random, in proportion to their weight. "best" takes the anchor with the
        best isolating learner in every round, as in the papers. "exact" is the papers' search to the
        letter [LOCAL, Sec. 5.2]: distances and responses in double precision, all samples, all rivals,
        a constant that competes as a term of its own, and the candidate with the lowest loss. It is
        slower, and `anchors`, `rivals`, `subset` and `offset` do not apply.
    anchors : int or "auto", default="auto"
        Number of anchors drawn at a time. "auto" is 1 with at most `subset` samples, else 8.
    rivals : int, default=8
        Number of rivals compared for each anchor.
    subset : int, default=2048
        Number of samples on which candidates are compared, drawn by weight if there are more. Outputs
        are always solved on all samples.
    response : {"real", "sign"}, default="real"
        "real" responses are between −1 and 1. "sign" responses are −1 or 1.
    modes : {"both", "one", "isolating"}, default="both"
        "both" compares with an anchor and a rival, "one" with an anchor only, at the one of several
        radii τ that has the lowest loss. "isolating" too, at the radius that isolates the anchor: the
        papers' one-point similarities.
    offset : bool, default=True
        Solve a constant together with every response: f·a + b. The papers have no offset; there, the
        constant competes as a term of its own.
    categorical : "from_dtype" or list, default="from_dtype"
        Categorical features; see `Tree`.
    """

    scale: Literal["auto", "none", "standard", "whitened"] = "auto"
    metric: Metric = "sqeuclidean"
    search: Literal["drawn", "best", "exact"] = "drawn"
    anchors: int | Literal["auto"] = "auto"
    rivals: int = 8
    subset: int = 2048
    response: Literal["real", "sign"] = "real"
    modes: Literal["both", "one", "isolating"] = "both"
    offset: bool = True
    categorical: Any = "from_dtype"

    rounds = 6000
    shrinkage = 1.0
    traits: ClassVar[Traits] = Traits(compares_rows=True, has_scales=True)

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, ("auto", *SCALES))
        check_choice("search", self.search, ("drawn", "best", "exact"))
        check_choice("response", self.response, ("real", "sign"))
        check_choice("modes", self.modes, ("both", "one", "isolating"))
        if self.anchors != "auto":
            check_number("anchors", self.anchors, 1, 1000)
        check_number("rivals", self.rivals, 1, 1000)
        check_number("subset", self.subset, 2, 2**31)
        if not (callable(self.metric) or isinstance(self.metric, str)):
            raise TypeError(
                f"metric is {self.metric!r}: give 'sqeuclidean', 'precomputed', the name of a SciPy "
                "metric, or a function of two samples"
            )
        if self.search == "exact":
            self._check_exact()

    def _check_exact(self) -> None:
        """Raise an error for options that the exact search does not have."""
        if not self.is_scaled:
            raise ValueError(
                f"search='exact' measures squared Euclidean distances, not metric={self.metric!r}: "
                "use search='best'"
            )
        for name in ("anchors", "rivals", "subset"):
            given = getattr(self, name)
            if given != type(self).__dataclass_fields__[name].default:
                raise ValueError(
                    f"{name}={given!r} does not apply to search='exact', which compares one anchor with "
                    "all its rivals on all samples: remove it, or use search='best'"
                )

    def n_anchors(self, n_samples: int) -> int:
        """Number of anchors drawn at a time, given the number of samples."""
        if self.anchors != "auto":
            return self.anchors
        return 1 if n_samples <= self.subset else 8

    @property
    def takes_missing(self) -> bool:
        """Whether missing values are allowed: other metrics would have to define distances to them."""
        return self.is_scaled

    @property
    def is_scaled(self) -> bool:
        """Whether features are scaled before distances are measured."""
        return self.metric == "sqeuclidean"

    def prepare(self, rows: Rows, n_threads: int = 1) -> SimilarityPoints:
        """Map the samples to points, and merge samples that coincide."""
        exact = self.search == "exact"
        samples = given_samples(rows)
        placed = place_samples(samples, self.metric, self.scale, n_threads, exact=exact)
        points = merged_rows(rows, placed.samples, placed.place, n_threads)
        if exact:
            return PreparedExactSimilarity(points, placed, self)
        return PreparedSimilarity(points, placed, self)
