"""Kernel machines: sums of similarities to all training rows, whose outputs are found by ridge regression."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Distances, Floats, Outputs
from rebelboost.data.spaces import SCALES
from rebelboost.learners.base import Traits
from rebelboost.learners.options import Parameters, check_choice, check_number

MOST_ROWS = 2500
"""Default of the maximum number of training rows: the time grows with its cube."""
WIDTH = 0.5
"""Width τ, as a multiple of the median squared distance."""
RIDGES = (3.0, 0.3, 0.03)
"""Penalties that are compared, for kernels that are 1 at distance 0."""
USUAL = 1
"""The penalty that is used where no sample can be left out."""


@dataclass(frozen=True)
class System:
    """The linear system of a kernel machine; its solutions for several penalties share all but a factor."""

    gram: Floats
    """(R, R) kernels between the points, times the roots of their masses; R is E, padded to a multiple of 8."""
    roots: BySample
    """(E,) roots of the points' masses, whose mean is 1."""
    values: Outputs
    """(E, K) what the kernels have to explain, times the roots."""
    middle: ByClass
    """(K,) the mean of the targets."""

    @classmethod
    def of(cls, tau: float, distances: Distances, mass: Outputs) -> "System":
        """From (E, E) squared distances between points, and (E, K) the weight of each class there.

        The target of class k is its share at a point. With targets of 1 and 0 for the samples themselves,
        the sum of squared errors would differ by a constant.
        """
        n = len(mass)
        weight = in_order(np.ascontiguousarray(mass.T))
        total = math.fsum(weight)
        middle = np.array([math.fsum(column) for column in mass.T]) / total
        roots = np.sqrt(weight * (n / total))
        size = -(-n // 8) * 8
        gram = np.zeros((size, size))
        gram[:n, :n] = roots[:, np.newaxis] * (tau / (tau + distances.astype(np.float64))) * roots
        values = roots[:, np.newaxis] * (mass / weight[:, np.newaxis] - middle)
        return cls(gram, roots, values, middle)

    def solve(self, ridge: float) -> tuple[Outputs, ByClass]:
        """(E, K) a and (K,) b of Σ f·a + b, which minimise Σ mass·(error)² + ridge·(norm of the function)².

        The scores are 0 for classes that are as probable as chance, and 1 in all between two classes.
        """
        factor, values = np.empty_like(self.gram), np.zeros((len(self.gram), len(self.middle)))
        values[: len(self.roots)] = self.values
        kernels.active.ridge_factor(self.gram, ridge, factor)
        kernels.active.solve_lower(factor, values)
        kernels.active.solve_upper(factor, values)
        # Scores are twice the estimate, and kernels are (1 + f)/2.
        a = self.roots[:, np.newaxis] * values[: len(self.roots)]
        return a, 2 * (self.middle - 1 / len(self.middle)) + in_order(a)


def in_order(values: Floats) -> Floats:
    """Sums over the first axis, one after the other."""
    total: Floats = np.add.accumulate(values, axis=0)[-1]
    return total


# ---- options


@dataclass(frozen=True, repr=False)
class KernelSimilarity(Parameters):
    """Similarities to all training rows, with outputs that are found at once.

    The scores are Σ_i f_i(x)·a_i + b with the one-point similarities f_i(x) = (τ − r_i)/(τ + r_i) to the
    training rows, where r_i is a squared distance and τ half its median. The outputs a_i are found by kernel
    ridge regression: a row pulls towards its class, by as much as the others leave unexplained. Reasons are
    exact sums over the training rows. The penalty is chosen on held-out samples, so a classifier with this
    learner is always cross-fitted; the model itself is fitted to all samples.

    Parameters
    ----------
    scale : {"whitened", "standard", "none"}, default="whitened"
        Scaling of the features before distances are measured. "whitened" learns a metric: the covariance of the
        features within the classes becomes about the identity.
    examples : int, default=2500
        Maximum number of training rows that are used. With more, these are drawn at random. The time grows
        with the cube of their number.
    categorical : "from_dtype" or list, default="from_dtype"
        Categorical features; see `Tree`.
    """

    scale: Literal["whitened", "standard", "none"] = "whitened"
    examples: int = MOST_ROWS
    categorical: Any = "from_dtype"

    rounds = 1
    shrinkage = 1.0
    traits: ClassVar[Traits] = Traits(compares_rows=True, is_solved_at_once=True)

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, SCALES)
        check_number("examples", self.examples, 2, 20_000)

    def prepare(self, rows: Any, n_threads: int = 1) -> NoReturn:
        """Raise an error: there are no rounds, and a single fit could not choose its penalty."""
        del rows, n_threads
        raise ValueError(
            "KernelSimilarity chooses its penalty on held-out samples and has no rounds: leave "
            "cross_fit='auto' or set it to 5, without early_stopping, warm_start and validation"
        )
