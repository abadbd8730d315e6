"""Colours and axes shared by all plots. matplotlib is imported only when a plot is drawn."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#dd8452",
    "#666666",
)
"""Colours that are distinguishable for most people (P. Tol's "bright", with an orange added)."""

FOR, AGAINST = "#2f6690", "#c2571a"
"""What supports a decision, and what speaks against it: the same colours as on cards and in reports."""


def axes_for(ax: "Axes | None") -> "Axes":
    """The given axes, or new axes on a figure of pyplot, which notebooks show below the cell."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def class_colour(k: int) -> str:
    """The colour of class k. Colours repeat after the last one."""
    return PALETTE[k % len(PALETTE)]
