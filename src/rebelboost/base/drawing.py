"""What plots share: colours, and axes to draw into. matplotlib is imported when one is drawn."""

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
"""Colours that most eyes can tell apart (P. Tol's "bright", an orange added)."""


def axes_for(ax: "Axes | None") -> "Axes":
    """The given axes, or new ones on a figure of their own that pyplot does not keep."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()


def class_colour(k: int) -> str:
    """The colour of class k; after the last colour the first comes again."""
    return PALETTE[k % len(PALETTE)]
