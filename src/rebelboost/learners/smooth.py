"""Smooth similarities: a function of distances to training samples, solved at once."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Distances, Floats, Indices, Outputs
from rebelboost.base.kernel_arrays import DescentOptions, Features
from rebelboost.learners.base import Traits
from rebelboost.learners.options import Parameters, check_choice, check_number

WIDTHS = (0.25, 1.0, 4.0, 16.0)
"""Widths τ, as multiples of the median squared distance. The widest functions are nearly quadratic."""
PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""Penalties, divided by the number of points, on functions with features of variance 1 in total."""
STAGES = tuple((width, penalty) for width in WIDTHS for penalty in PENALTIES)
"""Settings that are compared, by index: all penalties of the first width, and so on."""
LEAST_LEFT = 1e-6
"""Examples with less of their kernel unexplained by the others are left out."""
FADED = 0.3
"""Features that explain less than this share of the penalty are left out: it would suppress them."""
PRECISION = 3e-5
"""Decrease of the mean loss, times two, at which the solver stops."""
MOST_STEPS = 40
"""Maximum number of slopes. More change held-out results little."""


class Basis(NamedTuple):
    """Features of one width: Φ(x) = k(x)·U⁻¹ − centre, for the kernels to the chosen examples."""

    tau: float
    n_examples: int
    chosen: Indices
    """(r,) examples, in the order in which they were chosen."""
    factor: Floats
    """(R, R) U, upper triangular; R is r, padded to a multiple of 8."""
    centre: Floats
    """(R,)."""
    features: Features
    """(N, R) of the training points. Single precision halves the time of the solver."""
    gram: Floats
    """(R, R) mean products of the features."""
    whitening: Floats
    """(R, R) Cholesky's factor of `gram`, plus the largest penalty."""

    def outputs(self, solved: Outputs) -> tuple[Outputs, ByClass]:
        """(E, K) a and (K,) b of Σ f·a + b, from the (K, 1 + R) constants and coefficients.

        Examples that were not chosen have outputs of 0: explanations name them, as samples that are near.
        """
        outputs = np.ascontiguousarray(solved[:, 1:].T)
        moved = _in_order(outputs * self.centre[:, np.newaxis])
        kernels.active.solve_upper(self.factor, outputs)
        a = np.zeros((self.n_examples, len(solved)))
        a[self.chosen] = outputs[: len(self.chosen)]
        return a, solved[:, 0] - moved + _in_order(outputs)

    def scores(self, solved: Outputs, points: Indices) -> Floats:
        """(M, K) scores of some training points."""
        found = np.empty((len(points), len(solved)))
        kernels.active.feature_scores(self.features, points, solved, found)
        return found

    def ridge(self, penalty: float) -> float:
        """The penalty on features as they are."""
        return penalty * _variance(self.gram) / len(self.features)

    def n_features(self, penalty: float) -> int:
        """Number of features that a penalty does not suppress, padded to a multiple of 8."""
        explained = np.diag(self.factor)[: len(self.chosen)] ** 2
        return _padded(int((explained > FADED * self.ridge(penalty)).sum()))


def typical(distances: Distances) -> float:
    """The median of the squared distances above 0; 1 if there is none."""
    present = distances[distances > 0]
    return float(np.median(present)) if len(present) else 1.0


def make_basis(tau: float, distances: Distances, among: Distances) -> Basis:
    """Features from squared distances: (E, N) of examples to points, and (E, E) among the examples."""
    size = _padded(len(among))
    chosen, all_of_factor = np.empty(len(among), dtype=np.int32), np.empty((size, size))
    among = np.ascontiguousarray(among)
    n = kernels.active.choose_examples(among, tau, LEAST_LEFT, chosen, all_of_factor)
    chosen, size = chosen[:n].copy(), _padded(n)
    factor = np.ascontiguousarray(all_of_factor[:size, :size])
    n_points = distances.shape[1]
    centre, features = np.empty(size), np.empty((n_points, size), dtype=np.float32)
    kernels.active.place_features(distances, tau, chosen, factor, centre, features)
    gram = np.empty((size, size))
    kernels.active.weighted_gram(features, np.full(n_points, 1 / n_points), gram)
    whitening = np.empty((size, size))
    kernels.active.ridge_factor(gram, PENALTIES[0] * _variance(gram) / n_points, whitening)
    return Basis(tau, len(among), chosen, factor, centre, features, gram, whitening)


def _variance(gram: Floats) -> float:
    """The variance of all features; 1 if there are none."""
    return math.fsum(np.diag(gram)) or 1.0


def _padded(n: int) -> int:
    return -(-n // 8) * 8


def _in_order(values: Floats) -> Floats:
    """Sums over the first axis, one after the other."""
    total: Floats = np.add.accumulate(values, axis=0)[-1]
    return total


def class_path(basis: Basis, mass: Outputs, penalties: tuple[float, ...]) -> Iterator[Outputs]:
    """Yield (K, 1 + R) coefficients for each penalty, largest first; `mass` as in `logistic_path`."""
    options = [(basis.ridge(penalty), basis.n_features(penalty)) for penalty in penalties]
    return logistic_path(basis.features, basis.whitening, mass, options)


def logistic_path(
    features: Features, whitening: Floats, mass: Outputs, ridges: Sequence[tuple[float, int]]
) -> Iterator[Outputs]:
    """Yield (K, 1 + R) constants and coefficients for each ridge; each starts from the one before.

    Beside each ridge is the number of features that it uses. `mass` (N, K) is the weight of each class at
    each point. Class k is separated from the others by logistic regression: P(k)/(1 − P(k)) = e^{2H_k}, the
    relation of scores and posterior for uniform costs.
    """
    n_classes = mass.shape[1]
    share = np.ascontiguousarray(mass.T) / math.fsum(mass.ravel())
    own = share[:1] if n_classes == 2 else share  # the scores of two classes are opposite
    both = np.stack([own, _in_order(share) - own])
    solved = np.zeros((len(own), 1 + features.shape[1]))
    for ridge, n_features in ridges:
        options = DescentOptions(ridge, PRECISION, MOST_STEPS, n_features)
        kernels.active.solve_logistic(features, both, whitening, options, solved)
        yield np.concatenate([solved, -solved]) if n_classes == 2 else solved.copy()


def regression_path(
    basis: Basis, target: BySample, weight: BySample, penalties: tuple[float, ...]
) -> Iterator[Outputs]:
    """Yield (1, 1 + R) coefficients for each penalty, by least squares. Points have a target and a weight."""
    share = weight / math.fsum(weight)
    middle = math.fsum(share * target)
    size = basis.features.shape[1]
    sums, gram = np.empty((2, size)), np.empty((size, size))
    both = np.column_stack([share, share * (target - middle)])
    kernels.active.feature_sums(basis.features, both, sums)
    kernels.active.weighted_gram(basis.features, share, gram)
    mean = sums[0]
    gram -= np.multiply.outer(mean, mean)
    for penalty in penalties:
        n = basis.n_features(penalty)
        slopes, factor = sums[1:, :n].T.copy(), np.empty((n, n))
        kernels.active.ridge_factor(gram, basis.ridge(penalty), factor)
        kernels.active.solve_lower(factor, slopes)
        kernels.active.solve_upper(factor, slopes)
        solved = np.zeros((1, 1 + size))
        solved[0, 0] = middle - _in_order(mean[:n] * slopes[:, 0])
        solved[0, 1 : 1 + n] = slopes[:, 0]
        yield solved


# ---- options


@dataclass(frozen=True, repr=False)
class SmoothSimilarity(Parameters):
    """A smooth function of the features, solved at once instead of boosted.

    The scores are Σ_i f_i(x)·a_i + b with the one-point similarities f_i(x) = (τ − r_i)/(τ + r_i) to some
    training samples, where r_i is a squared distance [LOCAL, Sec. 5]. All outputs are found together, by
    logistic regression of each class against the others (least squares for numbers) with a penalty on the
    roughness of the function. The width τ and the penalty are chosen on held-out samples, so a classifier
    with this learner is always cross-fitted.

    Where classes are separated by sums, differences or products of features, this needs far fewer samples
    than trees and than boosted similarities, which approach such boundaries step by step.

    Parameters
    ----------
    scale : {"standard", "none"}, default="standard"
        Scaling of the features before distances are measured: a variance of 1 for every feature, or none.
    examples : int, default=400
        Maximum number of training samples that a sample is compared with.
    categorical : "from_dtype" or list, default="from_dtype"
        Categorical features; see `Tree`.
    """

    scale: Literal["standard", "none"] = "standard"
    examples: int = 400
    categorical: Any = "from_dtype"

    rounds = 1
    shrinkage = 1.0
    traits: ClassVar[Traits] = Traits(compares_rows=True, is_solved_at_once=True)

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, ("standard", "none"))
        check_number("examples", self.examples, 2, 100_000)

    def prepare(self, rows: Any, n_threads: int = 1) -> NoReturn:
        """Raise an error: there are no rounds, and a single fit could not choose its width."""
        del rows, n_threads
        raise ValueError(
            "SmoothSimilarity chooses its width and penalty on held-out samples and has no rounds: leave "
            "cross_fit='auto' or set it to 5, without early_stopping, warm_start and validation"
        )
