"""Responses of similarities in double precision [LOCAL, Sec. 5.1], which no kernel rounds."""

import numpy as np

from rebelboost.base.arrays import BySample

PEAK = 4 * (4 / 3) ** 0.75
"""With this factor the largest response of two points is 1. The papers print it without (docs/notation.md)."""
SAME_DISTANCE = 1e-12
"""Distances closer than this share of them are equal."""


def two_points(r_i: BySample, r_j: BySample, apart: float) -> BySample:
    """F = c·‖d‖²·⟨d, x − m⟩ / (4‖d‖⁴ + ‖x − m‖⁴), from squared distances.

    ‖d‖² = r_ij/4, ⟨d, x − m⟩ = (r_j − r_i)/4 and ‖x − m‖² = (r_i + r_j)/2 − ‖d‖².
    """
    quarter = apart / 4
    from_middle = np.maximum((r_i + r_j) / 2 - quarter, 0.0)
    found: BySample = (PEAK * quarter) * ((r_j - r_i) / 4)
    return found / (4 * quarter**2 + from_middle**2)


def one_point(r_i: BySample, r_j: BySample, tau: float) -> BySample:
    """F = (τ − r_i)/(τ + r_i)."""
    del r_j
    found: BySample = (tau - r_i) / (tau + r_i)
    return found


def nearer(r_i: BySample, r_j: BySample, apart: float) -> BySample:
    """The sign of `two_points`: −1 where both are equally far, up to rounding."""
    del apart
    return np.where(r_j - r_i > SAME_DISTANCE * (r_i + r_j), 1.0, -1.0)


def inside(r_i: BySample, r_j: BySample, tau: float) -> BySample:
    """The sign of `one_point`."""
    del r_j
    return np.where(r_i < tau, 1.0, -1.0)


KINDS = {"two_points": two_points, "one_point": one_point, "nearer": nearer, "inside": inside}


def exact_response(kind: str, r_i: BySample, r_j: BySample, apart: float) -> BySample:
    """(N,) f of each sample, given its squared distances from the anchor and the rival.

    `apart` is the squared distance between the two, or τ.
    """
    return KINDS[kind](r_i, r_j, apart)
