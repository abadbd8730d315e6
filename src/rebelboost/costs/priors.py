"""Other frequencies of the classes than in training: probabilities p′_k ∝ p_k·π′_k/π_k.

Unknown frequencies are estimated from unlabelled rows by expectation maximisation [Saerens et al. 2002]: their
mean probability, reweighted by the present estimate, is the next one. Its limit is the most likely one.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rebelboost.base.arrays import ByClass, Floats
from rebelboost.base.fixed_point import exact_sum
from rebelboost.base.names import ClassNames, listed
from rebelboost.base.triangular import ordered_sum

MOST_STEPS = 1000
CLOSE = 1e-9
"""Change of a frequency at which the steps end."""


def reweighted(posterior: Floats, ratio: ByClass) -> Floats:
    """(N, K) probabilities whose odds are multiplied by these ratios."""
    changed = posterior * ratio
    return changed / ordered_sum(changed)[:, np.newaxis]


def given_priors(given: Any, classes: Sequence[Any]) -> ByClass:
    """(K,) frequencies, which are checked, and scaled to a sum of 1."""
    if isinstance(given, Mapping):
        names, shares = ClassNames(np.array(classes)), np.full(len(classes), math.nan)
        for name, share in given.items():
            code = names.find(name)
            if code is None:
                raise ValueError(f"priors name {name!r}: the classes are {listed(list(classes))}")
            shares[code] = share
        if np.isnan(shares).any():
            missing = [name for name, share in zip(classes, shares, strict=True) if share != share]  # noqa: PLR0124
            raise ValueError(f"priors lack {listed(missing)}: give a frequency for every class")
    else:
        shares = np.asarray(given, dtype=np.float64)
    if shares.shape != (len(classes),):
        raise ValueError(
            f"priors have shape {shares.shape}: give one for each of {len(classes)} classes"
        )
    if not (np.isfinite(shares) & (shares > 0)).all():
        raise ValueError(f"priors are {shares.tolist()}: give finite numbers above 0")
    return shares / math.fsum(shares)


def estimated_priors(posterior: Floats, trained: ByClass) -> ByClass:
    """(K,) frequencies in the rows with these probabilities, which hold for the frequencies `trained`."""
    shares = trained
    for _ in range(MOST_STEPS):
        ratio = np.divide(shares, trained, out=np.zeros_like(shares), where=trained > 0)
        following = exact_sum(reweighted(posterior, ratio)) / len(posterior)
        moved = float(np.abs(following - shares).max())
        shares = following
        if moved < CLOSE:
            break
    # Not 0, so that no class is ruled out for ever.
    shares = np.maximum(shares, 1 / (10 * len(posterior)))
    return np.round(shares / shares.sum(), 6)
