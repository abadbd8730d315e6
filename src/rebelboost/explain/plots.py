"""Plots of explanations: contributions to a decision, a model's summary, and margins."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rebelboost.base.names import printed
from rebelboost.explain.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rebelboost.explain.curves import Curve
    from rebelboost.explain.explanation import Explanation
    from rebelboost.explain.summary import ModelSummary

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

LONGEST = 64
"""Maximum length of a label; longer ones are truncated."""


def axes_for(ax: "Axes | None") -> "Axes":
    """The given axes, or new axes on a figure of pyplot, which notebooks show below the cell."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(layout="constrained")[1]


def class_colour(k: int) -> str:
    """The colour of class k. Colours repeat after the last one."""
    return PALETTE[k % len(PALETTE)]


def plot_explanation(why: "Explanation", ax: "Axes | None" = None) -> "Axes":
    """Bars to the right count for the decision, bars to the left for the next best class."""
    ax = axes_for(ax)
    shown = parts_of(why).listed()[::-1]
    sizes = [part.size for part in shown]
    decided, rival = why.verdict.decided or 0, why.verdict.rival
    _bars(ax, sizes, [part.what for part in shown], [FOR if s >= 0 else AGAINST for s in sizes])
    if why.classes is not None and rival is not None:
        names = why.class_names
        ax.set_xlabel(f"for {names[rival]}  ←      →  for {names[decided]}")
    ax.set_title(why.verdict.headline.split("\n")[0], fontsize="medium", wrap=True)
    return ax


def plot_summary(summary: "ModelSummary") -> "list[Axes]":
    """One panel each for the most used features, training rows and rules, if there are any."""
    from matplotlib import pyplot as plt

    panels: list[tuple[str, list[float], list[str]]] = []
    top = summary.top
    if summary.features:
        used = summary.features[:top][::-1]
        panels.append(
            (
                "use of features, %",
                [100 * u.importance for u in used],
                [u.name for u in used],
            )
        )
    if summary.examples:
        rows = summary.examples[:top][::-1]
        panels.append(
            (
                "influence of training rows",
                [r.pull for r in rows],
                [summary.rows.name(r.row) for r in rows],
            )
        )
    if summary.rules:
        rules = summary.rules[:top][::-1]
        panels.append(("weight of rules", [r.weight for r in rules], [r.what for r in rules]))
    heights = [len(labels) + 2 for _, _, labels in panels]
    figure = plt.figure(figsize=(9, 0.8 + 0.27 * sum(heights)), layout="constrained")
    figure.suptitle(summary.heading, fontsize="medium")
    if not panels:
        return []
    axes = list(np.atleast_1d(figure.subplots(len(panels), 1, height_ratios=heights)))
    for ax, (title, sizes, labels) in zip(axes, panels, strict=True):
        _bars(ax, sizes, labels, [class_colour(0)] * len(sizes))
        ax.set_xlabel(title)
    return axes


def plot_curve(
    found: "Curve", ax: "Axes", classes: "Sequence[str]", codes: "Sequence[int]"
) -> None:
    """Draw what a feature adds to the scores of some classes, above the density of its values."""
    below = ax.twinx()
    below.set(zorder=0, yticks=[])
    ax.set_zorder(1)
    ax.patch.set_visible(False)
    n_bars = max(1, int(found.counts.max(initial=0)))
    below.set_ylim(0, 5 * n_bars)
    at = np.arange(len(found.values)) if found.is_category else found.values
    if found.edges is not None:
        below.stairs(found.counts, found.edges, fill=True, color="#c8ccd2")
    else:
        below.bar(at, found.counts, width=0.6 * _gap(at), color="#c8ccd2")
    for k in codes:
        marker = "o" if found.edges is None else None
        ax.plot(
            at,
            found.scores[:, k],
            color=class_colour(k),
            marker=marker,
            linestyle="none" if found.is_category else "-",
            label=classes[k],
        )
    if found.is_category:
        ax.set_xticks(at, [_cut(label) for label in found.labels], rotation=30, ha="right")
    ax.axhline(0, color="#222222", linewidth=0.6, linestyle=":", label="_")
    ax.set(title=found.name, ylabel="added to the score" + ("" if found.exact else ", average"))


def _gap(at: "np.ndarray[Any, Any]") -> float:
    return float(np.diff(at).min()) if len(at) > 1 else 1.0


def plot_margins(margins: Any, ax: "Axes | None" = None, *, label: str | None = None) -> "Axes":
    """Cumulative distribution of the margins [ADA Sec. 3.2]. Mistakes are left of 0."""
    ax = axes_for(ax)
    sorted_margins = np.sort(np.asarray(margins, dtype=np.float64))
    share = 100 * np.arange(1, len(sorted_margins) + 1) / max(1, len(sorted_margins))
    n_before = len(ax.get_lines())
    ax.step(sorted_margins, share, where="post", color=class_colour(n_before), label=label)
    if n_before == 0:
        ax.axvline(0, color="#222222", linewidth=0.8, linestyle=":", label="_")
    ax.set(xlabel="margin", ylabel="samples with at most this margin, %", ylim=(0, 101))
    if label is not None:
        ax.legend(frameon=False)
    return ax


def _bars(
    ax: "Axes", sizes: "Sequence[float]", labels: "Sequence[str]", colours: list[str]
) -> None:
    places = np.arange(len(sizes))
    ax.barh(places, sizes, color=colours, height=0.7)
    ax.set_yticks(places, [_cut(printed(label)) for label in labels], fontsize="small")
    ax.axvline(0, color="#222222", linewidth=0.8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1] + "…"
