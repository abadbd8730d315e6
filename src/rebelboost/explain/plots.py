"""Plots of explanations: contributions to a decision, a model's summary, and margins."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rebelboost.base.drawing import axes_for, class_colour
from rebelboost.base.names import printed
from rebelboost.explain.parts import parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rebelboost.explain.explanation import Explanation
    from rebelboost.explain.summary import ModelSummary

LONGEST = 64
"""Maximum length of a label; longer ones are truncated."""


def plot_explanation(why: "Explanation", ax: "Axes | None" = None) -> "Axes":
    """Bars to the right count for the decision, bars to the left for the next best class."""
    ax = axes_for(ax)
    shown = parts_of(why).listed()[::-1]
    sizes = [part.size for part in shown]
    decided, rival = why.verdict.decided or 0, why.verdict.rival
    towards, away = class_colour(decided), class_colour(1 if rival is None else rival)
    _bars(ax, sizes, [part.what for part in shown], [towards if s >= 0 else away for s in sizes])
    if why.classes is not None and rival is not None:
        names = why.class_names
        ax.set_xlabel(f"for {names[rival]}  ←      →  for {names[decided]}")
    ax.set_title(why.verdict.headline.split("\n")[0], fontsize="medium", wrap=True)
    return ax


def plot_summary(summary: "ModelSummary") -> "Figure":
    """One panel each for the most used features, training rows and rules, if there are any."""
    from matplotlib.figure import Figure

    panels: list[tuple[str, list[float], list[str]]] = []
    top = summary.top
    if summary.features:
        used = summary.features[:top][::-1]
        panels.append(
            (
                "feature importance, %",
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
    figure = Figure(figsize=(9, 0.8 + 0.27 * sum(heights)), layout="constrained")
    if panels:
        for ax, (title, sizes, labels) in zip(
            np.atleast_1d(figure.subplots(len(panels), 1, height_ratios=heights)),
            panels,
            strict=True,
        ):
            _bars(ax, sizes, labels, [class_colour(0)] * len(sizes))
            ax.set_xlabel(title)
    figure.suptitle(summary.heading, fontsize="medium")
    return figure


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
