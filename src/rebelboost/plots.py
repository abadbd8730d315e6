"""Plots of decision regions, of scores along a path, of influential samples and of the training.

Each function draws on one matplotlib Axes, a new one by default, and returns it. Install matplotlib
with the extra ``rebelboost[plots]``.
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
"""Share of the class's colour in the colour of a region; the rest is white."""


def plot_regions(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ax: "Axes | None" = None,
    *,
    resolution: int = 300,
    margin: float = 0.05,
) -> "Axes":
    """Plot the decision regions of a classifier of two features, and samples; mistakes are crosses.

    Parameters
    ----------
    classifier : fitted classifier
        Classifier of two features.
    X : array of shape (N, 2)
        Samples.
    y : array of shape (N,)
        True classes. Each class has a colour; its region has a lighter shade of it.
    ax : Axes, optional
        Axes to draw on.
    resolution : int
        Number of grid points along each side.
    margin : float
        Margin around the samples, as a share of their range.
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
    """Plot the score of each class along a path from point to point [REBEL, Fig. 8].

    The background has a light shade of the colour of the predicted class.

    Parameters
    ----------
    classifier : fitted classifier
        Classifier with a ``decision_function``.
    points : array of shape (m, d)
        Corners of the path, at least two, for example training samples.
    ax : Axes, optional
        Axes to draw on.
    resolution : int
        Number of evenly spaced points along the path.
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
    """Mark the most influential training samples: rings around anchors, and lines to their rivals.

    Parameters
    ----------
    classifier : fitted classifier
        Classifier of two features with ``learner=Similarity(...)``.
    X : array of shape (N, 2)
        Samples that it was fitted to.
    ax : Axes, optional
        Axes to draw on, for example those of `plot_regions`.
    most : int
        Maximum number of terms to show; those with the largest outputs are shown.
    """
    points, ax = _planar(X), axes_for(ax)
    pairs = [t for t in classifier.ensemble_ if len(t.example_rows) == 2]
    if not pairs:
        raise ValueError("the classifier has no pairs of training samples: fit with Similarity()")
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
    """Plot loss, its bound and training error by round and, if test samples are given, test error.

    Parameters
    ----------
    classifier : fitted classifier
    X, y : table of shape (N, d), labels of shape (N,), optional
        Test samples.
    ax : Axes, optional
        Axes to draw on.
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
    ax.plot(rounds, bounds / log10, color=class_colour(0), linestyle=":", label="bound of the loss")
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
    """Return (n, d) evenly spaced points of the path through the given points."""
    corners = np.asarray(points, dtype=np.float64)
    if corners.ndim != 2 or len(corners) < 2:
        raise ValueError(f"a path needs two points or more, but points have shape {corners.shape}")
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    if not lengths.all():
        corner = int(np.argmin(lengths))
        raise ValueError(f"points {corner} and {corner + 1} of the path are the same: remove one")
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    steps = np.linspace(0, at[-1], n_samples)
    return np.stack([np.interp(steps, at, column) for column in corners.T], axis=1)


# ---- helpers


def _planar(X: ArrayLike) -> Floats:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"this plot needs two features, but X has shape {points.shape}")
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
    """Scores of shape (n, K); for two classes, ``decision_function`` is the second's lead."""
    scores = np.asarray(classifier.decision_function(samples), dtype=np.float64)
    return scores if scores.ndim == 2 else np.stack([-scores / 2, scores / 2], axis=1)


def _stretches(way: Floats, codes: Ints) -> list[tuple[float, float, int]]:
    """Begin, end and class code of each part of the path with a constant decision."""
    last = np.flatnonzero(np.diff(codes))
    edges = [way[0], *((way[last] + way[last + 1]) / 2), way[-1]]
    decided = codes[[0, *(last + 1)]].tolist()
    return list(zip(edges[:-1], edges[1:], decided, strict=True))
