"""Plots of evaluations: ROC, lift, net benefit, calibration, probabilities by class, savings by price.

Each function draws on matplotlib Axes, new ones by default, and returns them. Blue is the model or the positive
class, orange the alternative or the other class, and grey a reference. Bands are 95 % intervals of each point.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from rebelboost.base.names import printed
from rebelboost.base.text import amount
from rebelboost.evaluation.curves import Band, BinaryCurves
from rebelboost.evaluation.result import Evaluation
from rebelboost.exceptions import EvaluationError
from rebelboost.explain.plots import AGAINST, FOR, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REFERENCE = "#666666"


def plot_roc(evaluation: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Plot the ROC curve of the positive class, with its band and the area under it.

    Parameters
    ----------
    evaluation : Evaluation
        From `rebelboost.evaluation.evaluate` or `left_out`, of two classes.
    ax : Axes, optional
        Axes to draw on.
    """
    curves, ax = _curves(evaluation), axes_for(ax)
    assert evaluation.binary is not None
    area, low, high = evaluation.binary.auc
    ax.plot([0, 1], [0, 1], color=REFERENCE, lw=0.8, label="_")
    _draw(ax, curves.roc, f"AUC {area:.3f} ({low:.3f} to {high:.3f})")
    name = printed(curves.positive)
    ax.set(
        xlabel="false-positive rate", ylabel=f"sensitivity ({name})", xlim=(0, 1), ylim=(0, 1.01)
    )
    ax.legend(loc="lower right", frameon=False)
    return ax


def plot_lift(evaluation: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Plot the lift: how many times as frequent the positive class is among the highest probabilities.

    Parameters
    ----------
    evaluation : Evaluation
        As for `plot_roc`.
    ax : Axes, optional
        Axes to draw on.
    """
    curves, ax = _curves(evaluation), axes_for(ax)
    assert evaluation.binary is not None
    ks, low, high = evaluation.binary.ks
    ax.axhline(1, color=REFERENCE, lw=0.8, label="_")
    _draw(ax, curves.lift, f"KS {ks:.3f} ({low:.3f} to {high:.3f})")
    most = 1.1 * float(curves.lift.value.max())
    ax.set(
        xlabel="share of the samples", ylabel=f"lift ({printed(curves.positive)})", ylim=(0, most)
    )
    ax.set(xlim=(0, 1))
    ax.legend(loc="upper right", frameon=False)
    return ax


def plot_net_benefit(evaluation: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Plot the decision curve: net benefit by threshold, beside calling all samples positive, or none.

    Parameters
    ----------
    evaluation : Evaluation
        As for `plot_roc`.
    ax : Axes, optional
        Axes to draw on.
    """
    curves, ax = _curves(evaluation), axes_for(ax)
    ax.axhline(0, color=REFERENCE, lw=0.8, label="call none")
    ax.plot(
        curves.net_benefit.x, curves.treat_all, color=AGAINST, ls="--", lw=1.2, label="call all"
    )
    _draw(ax, curves.net_benefit, "model")
    top = curves.prevalence
    ax.set(xlabel="threshold", ylabel="net benefit", xlim=(0, 1), ylim=(-0.25 * top, 1.05 * top))
    ax.legend(frameon=False)
    return ax


def plot_calibration(evaluation: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Plot observed shares by stated probability, with intervals, above a histogram of the probabilities.

    Parameters
    ----------
    evaluation : Evaluation
        Of a classifier with probabilities.
    ax : Axes, optional
        Axes to draw on.
    """
    found = evaluation.calibration
    if found is None:
        raise EvaluationError(
            "the evaluation has no probabilities: there is no calibration to plot"
        )
    ax = axes_for(ax)
    below = ax.twinx()
    below.set(zorder=0, yticks=[])
    ax.set_zorder(1)
    ax.patch.set_visible(False)
    counts = np.asarray(found.histogram)
    below.stairs(counts, np.linspace(0, 1, len(counts) + 1), fill=True, color="#c8ccd2")
    below.set_ylim(0, 5 * max(1, int(counts.max(initial=0))))
    ax.plot([0, 1], [0, 1], color=REFERENCE, lw=0.8, label="_")
    stated = [each.confidence for each in found.bins]
    low, value, high = np.array([(e.right.low, e.right.value, e.right.high) for e in found.bins]).T
    ax.vlines(stated, low, high, color=FOR, alpha=0.6)
    ax.plot(stated, value, "o", color=FOR, ms=4, label=_slope(evaluation))
    name = "the most probable class" if found.of_class is None else printed(found.of_class)
    share = "share correct" if found.of_class is None else f"share of {name}"
    ax.set(xlabel=f"stated probability of {name}", ylabel=share, xlim=(0, 1), ylim=(0, 1.01))
    if evaluation.binary is not None:
        ax.legend(loc="upper left", frameon=False)
    return ax


def _slope(evaluation: Evaluation) -> str:
    found = evaluation.binary
    if found is None:
        return "_"
    slope = "" if found.slope is None else f", slope {found.slope.value:.2f}"
    return f"intercept {found.intercept.value:.2f}{slope}"


def plot_probabilities(evaluation: Evaluation, ax: "Axes | None" = None) -> "Axes":
    """Plot the distribution of the positive class's probability among cases of either class.

    Parameters
    ----------
    evaluation : Evaluation
        As for `plot_roc`.
    ax : Axes, optional
        Axes to draw on.
    """
    curves, ax = _curves(evaluation), axes_for(ax)
    edges = np.linspace(0, 1, len(curves.counts[0]) + 1)
    name = printed(curves.positive)
    labelled = ((curves.counts[0], AGAINST, "the other class"), (curves.counts[1], FOR, name))
    for counts, colour, label in labelled:
        shares = 100 * np.asarray(counts) / max(1, sum(counts))
        ax.stairs(shares, edges, fill=True, color=colour, alpha=0.5, label=label)
    ax.set(xlabel=f"stated probability of {name}", ylabel="share of the class, %", xlim=(0, 1))
    ax.legend(frameon=False)
    return ax


def plot_cost_curve(
    evaluation: Evaluation, true: Any = None, decided: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """Plot what decisions save beside the best constant decision, over the range of one price.

    Parameters
    ----------
    evaluation : Evaluation
        Of a classifier whose decisions depend on prices.
    true, decided : class labels, optional
        As for `Evaluation.cost_curve`.
    ax : Axes, optional
        Axes to draw on.
    """
    curve = evaluation.cost_curve(true, decided)
    if curve is None:
        raise EvaluationError("there is no cost curve: the decisions depend on no price")
    ax = axes_for(ax)
    ax.axhline(0, color=REFERENCE, lw=0.8, label="_")
    ax.axvline(1, color=REFERENCE, lw=0.8, ls=":", label=f"present price, {amount(curve.price)}")
    _draw(ax, curve.saving, "_")
    kind = f"{printed(curve.true)} decided as {printed(curve.decided)}"
    ax.set(xscale="log", xlabel=f"price of {kind}, in multiples of the present one")
    ax.set(ylabel="saved per decision", xlim=(curve.saving.x[0], curve.saving.x[-1]))
    value = curve.saving.value
    low, high = min(0.0, float(value.min())), max(0.0, float(value.max()))
    ax.set_ylim(low - 0.5 * (high - low), high + 0.5 * (high - low))
    ax.legend(frameon=False)
    return ax


def _draw(ax: "Axes", band: Band, label: str) -> None:
    ax.fill_between(band.x, band.low, band.high, color=FOR, alpha=0.16, lw=0)
    ax.plot(band.x, band.value, color=FOR, lw=1.6, label=label)


def _curves(evaluation: Evaluation) -> BinaryCurves:
    found = evaluation.curves()
    if found is None:
        raise EvaluationError(
            "these plots need an evaluation of two classes, both of which occur, in this run: evaluations from "
            "a file keep no results by sample"
        )
    return found
