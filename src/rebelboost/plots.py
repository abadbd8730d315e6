"""Pictures: regions of the plane, scores along a path, how training went.

Each function draws into one Axes, a new one if none is given, and returns it. The extra
``rebelboost[plots]`` brings matplotlib.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.drawing import PALETTE, axes_for, class_colour
from rebelboost.base.names import printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap

__all__ = ["PALETTE", "plot_examples", "plot_path", "plot_regions", "plot_training", "walk"]

TINT = 0.35
"""How much of its class's colour a region has; the rest is white."""


def plot_regions(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ax: "Axes | None" = None,
    *,
    resolution: int = 300,
    margin: float = 0.05,
) -> "Axes":
    """Show what a classifier decides all over the plane, with samples: wrong ones are crosses.

    Parameters
    ----------
    classifier : fitted classifier of two features
    X : array of shape (N, 2)
    y : array of shape (N,)
        True classes. Each has a colour; what the classifier decides has its tint.
    ax : Axes, optional
    resolution : int
        Decisions along each side.
    margin : float
        Space around the samples, as a share of their range.
    """
    points, labels = _planar(X), np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"X has {len(points)} samples, but y has {len(labels)} labels")
    ax = axes_for(ax)
    classes = np.asarray(classifier.classes_)
    low, high = points.min(axis=0), points.max(axis=0)
    space = margin * np.where(high > low, high - low, 1.0)
    sides = np.linspace(low - space, high + space, resolution)
    _show_decisions(ax, classifier, sides)
    right = classifier.predict(points) == labels
    for k, label in enumerate(classes):
        of_class = labels == label
        (x, up), (x_wrong, up_wrong) = points[of_class & right].T, points[of_class & ~right].T
        ax.scatter(x, up, s=9, linewidths=0, color=class_colour(k), label=printed(label))
        ax.scatter(x_wrong, up_wrong, s=20, marker="x", linewidths=1.1, color=class_colour(k))
    ax.set(xlim=sides[[0, -1], 0], ylim=sides[[0, -1], 1])
    return ax


def plot_path(
    classifier: Any,
    points: ArrayLike,
    ax: "Axes | None" = None,
    *,
    resolution: int = 400,
) -> "Axes":
    """Show the score of each class on the way from point to point [REBEL, Fig. 8].

    The background has the tint of what is decided.

    Parameters
    ----------
    classifier : fitted classifier with scores, ``decision_function``
    points : array of shape (m, d)
        The corners of the path, two or more, for example training samples.
    ax : Axes, optional
    resolution : int
        Samples along the path, evenly spaced.
    """
    path = walk(points, resolution)
    ax = axes_for(ax)
    classes = np.asarray(classifier.classes_)
    way = np.linspace(0, 100, resolution)
    for begin, end, code in _stretches(way, np.searchsorted(classes, classifier.predict(path))):
        ax.axvspan(begin, end, color=_tint(code), lw=0, zorder=0)
    for k, score in enumerate(_scores(classifier, path).T):
        ax.plot(way, score, color=class_colour(k), lw=1.6, label=printed(classes[k]))
    ax.set(xlim=(0, 100), xticks=range(0, 101, 20), xlabel="along the path, %", ylabel="score")
    return ax


def plot_examples(
    classifier: Any, X: ArrayLike, ax: "Axes | None" = None, *, most: int = 50
) -> "Axes":
    """Mark the training samples that similarities compare with most: rings, and lines to their rivals.

    Parameters
    ----------
    classifier : fitted on two features, with learner=Similarity(...)
    X : array of shape (N, 2)
        The samples that it was fitted to.
    ax : Axes, optional
        Such as `plot_regions` has drawn into.
    most : int
        Terms to show: those with the largest outputs.
    """
    points, ax = _planar(X), axes_for(ax)
    pairs = [t for t in classifier.ensemble_ if len(t.example_rows) == 2]
    if not pairs:
        raise ValueError("the classifier compares with no pairs of examples: fit with Similarity()")
    strength = [float(np.abs(term.slopes).max()) for term in pairs]
    for i in np.argsort(strength)[::-1][:most]:
        anchor, rival = (points[row] for row in pairs[i].example_rows)
        ax.plot(*np.stack([anchor, rival]).T, color="#222222", linewidth=0.6, alpha=0.6)
        x, up = anchor
        ax.scatter(x, up, s=36, facecolors="none", edgecolors="#222222", linewidths=0.9)
    return ax


def plot_training(
    classifier: Any, X: Any = None, y: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Show the loss of every round beside its bound, and the error on training and other samples.

    Parameters
    ----------
    classifier : fitted classifier
    X, y : samples that it was not fitted to, optional
        Their error is shown too.
    ax : Axes, optional
    """
    ax = axes_for(ax)
    history = list(classifier.history_)
    rounds = np.arange(1, len(history) + 1)
    log10 = np.log(10)
    losses = np.array([record.log_loss for record in history])
    start = losses[0] - np.log(history[0].loss_ratio)
    with np.errstate(divide="ignore"):
        bounds = start + np.cumsum(np.log([record.bound for record in history]))
    ax.plot(rounds, losses / log10, color=class_colour(0), label="log₁₀ of the loss")
    ax.plot(rounds, bounds / log10, color=class_colour(0), linestyle=":", label="its bound")
    errors = ax.twinx()
    errors.plot(
        rounds, [100 * r.error for r in history], color=class_colour(1), label="training error"
    )
    if X is not None and y is not None:
        wrong = [np.mean(each != np.asarray(y)) for each in classifier.staged_predict(X)]
        errors.plot(rounds, 100 * np.array(wrong), color=class_colour(2), label="test error")
    ax.set(xscale="log", xlabel="round", ylabel="log₁₀ of the loss")
    errors.set(ylabel="error, %", ylim=(0, None))
    lines = [*ax.get_lines(), *errors.get_lines()]
    errors.legend(lines, [str(line.get_label()) for line in lines], loc="lower left", frameon=False)
    return ax


def walk(points: ArrayLike, n_samples: int) -> Floats:
    """(n, d) points of a path through the given ones, evenly spaced."""
    corners = np.asarray(points, dtype=np.float64)
    if corners.ndim != 2 or len(corners) < 2:
        raise ValueError(f"a path needs two points or more, but points have shape {corners.shape}")
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    if not lengths.all():
        corner = int(np.argmin(lengths))
        raise ValueError(f"points {corner} and {corner + 1} of the path are the same: drop one")
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    steps = np.linspace(0, at[-1], n_samples)
    return np.stack([np.interp(steps, at, column) for column in corners.T], axis=1)


# ---- parts of them


def _planar(X: ArrayLike) -> Floats:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"regions are drawn for two features, but X has shape {points.shape}")
    return points


def _tint(k: int) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - TINT * (1 - part) for part in to_rgb(class_colour(k)))
    return red, green, blue


def _tints(n_classes: int) -> "ListedColormap":
    from matplotlib.colors import ListedColormap

    return ListedColormap([_tint(k) for k in range(n_classes)])


def _show_decisions(ax: "Axes", classifier: Any, sides: Floats) -> None:
    classes = np.asarray(classifier.classes_)
    grid = np.stack(np.meshgrid(*sides.T), axis=-1)
    decided = classifier.predict(grid.reshape(-1, 2))
    codes = np.searchsorted(classes, decided).reshape(grid.shape[:2])
    mesh = ax.pcolormesh(*sides.T, codes, shading="nearest", cmap=_tints(len(classes)))
    mesh.set(clim=(-0.5, len(classes) - 0.5), rasterized=True)


def _scores(classifier: Any, samples: Any) -> Floats:
    """(n, K); with two classes, scikit-learn's single column is the lead of the second."""
    scores = np.asarray(classifier.decision_function(samples), dtype=np.float64)
    return scores if scores.ndim == 2 else np.stack([-scores / 2, scores / 2], axis=1)


def _stretches(way: Floats, codes: Ints) -> list[tuple[float, float, int]]:
    """Begin, end and code of each part of the way where the decision stays the same."""
    last = np.flatnonzero(np.diff(codes))
    edges = [way[0], *((way[last] + way[last + 1]) / 2), way[-1]]
    decided = codes[[0, *(last + 1)]].tolist()
    return list(zip(edges[:-1], edges[1:], decided, strict=True))
