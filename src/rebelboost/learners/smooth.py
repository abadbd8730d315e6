"""Options of smooth similarities: one function of the similarity to many training samples, solved at once."""

from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from rebelboost.learners.options import Parameters, check_choice, check_number


@dataclass(frozen=True)
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
