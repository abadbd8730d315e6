"""Plots of decision regions, paths, influential samples, training, effects, cascades and evaluations.

Each function draws on matplotlib Axes, new ones by default, and returns them. Install matplotlib
with the extra ``rebelboost[plots]``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.names import listed, printed
from rebelboost.estimators.base import encode_table
from rebelboost.estimators.positive import positive_class
from rebelboost.estimators.validation import threads_of
from rebelboost.evaluation.plots import (
    plot_calibration,
    plot_cost_curve,
    plot_lift,
    plot_net_benefit,
    plot_probabilities,
    plot_roc,
)
from rebelboost.explain.curves import curve, leading_features
from rebelboost.explain.explain import wording_of
from rebelboost.explain.plots import PALETTE, axes_for, class_colour, plot_curve
from rebelboost.theory.guarantee import runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import ListedColormap

    from rebelboost.boosting.rounds import Round

__all__ = [
    "PALETTE",
    "plot_calibration",
    "plot_cascade",
    "plot_cost_curve",
    "plot_examples",
    "plot_lift",
    "plot_net_benefit",
    "plot_path",
    "plot_probabilities",
    "plot_regions",
    "plot_roc",
    "plot_shapes",
    "plot_training",
    "walk",
]

LOG_10 = float(np.log(10))

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
    for i in np.argsort(strength, kind="stable")[::-1][:most]:
        anchor, rival = (points[row] for row in pairs[i].example_rows)
        ax.plot(*np.stack([anchor, rival]).T, color="#222222", linewidth=0.6, alpha=0.6)
        x, up = anchor
        ax.scatter(x, up, s=36, facecolors="none", edgecolors="#222222", linewidths=0.9)
    return ax


def plot_training(
    classifier: Any, X: Any = None, y: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Plot loss and error by round: one line for each fit.

    For a single fit, the upper bound of the loss and the training error are shown and, if test samples are
    given, the test error. For a cross-fit, whose model is an average of fits, the held-out error of each fit
    is shown; fits of the same candidate have the same colour. The test error is then a horizontal line.

    Parameters
    ----------
    classifier : fitted classifier
    X, y : table of shape (N, d), labels of shape (N,), optional
        Test samples.
    ax : Axes, optional
        Axes to draw on.
    """
    fits = runs(list(classifier.history_))
    if ax is None and len(fits) > 1:
        ax, errors = _two_panels()
    else:
        ax = axes_for(ax)
        errors = ax.twinx()
    if len(fits) == 1:
        _one_fit(fits[0], ax, errors)
    else:
        _several_fits(fits, classifier, ax, errors)
    if X is not None and y is not None:
        true = np.asarray(y)
        if len(fits) == 1:
            wrong = [100 * np.mean(each != true) for each in classifier.staged_predict(X)]
            after = np.arange(1, len(wrong) + 1)
            errors.plot(after, wrong, color=class_colour(2), label="test error")
        else:
            wrong_now = 100 * float(np.mean(classifier.predict(X) != true))
            errors.axhline(
                wrong_now, color="#222222", ls="--", lw=1, label="test error of the model"
            )
    ax.set(xscale="log", xlabel="round", ylabel="log₁₀ of the loss")
    errors.set(xscale="log", xlabel="round", ylabel="error, %", ylim=(0, None))
    lines = [line for line in [*ax.get_lines(), *errors.get_lines()] if _has_label(line)]
    names = [str(line.get_label()) for line in lines]
    above = ax if len(fits) > 1 else errors
    above.legend(lines, names, loc="lower left", frameon=False, fontsize="small")
    return ax


def _two_panels() -> "tuple[Axes, Axes]":
    from matplotlib import pyplot as plt

    _, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 6.4), layout="constrained")
    return upper, lower


def _has_label(line: Any) -> bool:
    return not str(line.get_label()).startswith("_")


def _one_fit(history: "list[Round]", ax: "Axes", errors: "Axes") -> None:
    rounds = np.arange(1, len(history) + 1)
    losses = np.array([record.log_loss for record in history])
    start = losses[0] - np.log(history[0].loss_ratio)
    with np.errstate(divide="ignore"):
        bounds = start + np.cumsum(np.log([record.bound for record in history]))
    ax.plot(rounds, losses / LOG_10, color=class_colour(0), label="log₁₀ of the loss")
    ax.plot(rounds, bounds / LOG_10, color=class_colour(0), ls=":", label="bound of the loss")
    wrong = [100 * record.error for record in history]
    errors.plot(rounds, wrong, color=class_colour(1), label="training error")


def _several_fits(fits: "list[list[Round]]", classifier: Any, ax: "Axes", errors: "Axes") -> None:
    """Loss as a solid line and held-out error as a dashed one, for each fit."""
    found = classifier.cross_fit_
    members = [0] * len(fits) if found is None else list(found.runs)
    names = [""] if found is None else [each.name for each in found.standings]
    named: set[int] = set()
    for history, member in zip(fits, members, strict=False):
        rounds = np.arange(1, len(history) + 1)
        colour, name = class_colour(member), names[member % len(names)]
        first = member not in named
        named.add(member)
        losses = [record.log_loss / LOG_10 for record in history]
        ax.plot(rounds, losses, color=colour, lw=0.9, label=f"{name}: loss" if first else "_")
        held = [np.nan if r.held is None else 100 * r.held.error for r in history]
        label = f"{name}: held-out error" if first else "_"
        errors.plot(rounds, held, color=colour, lw=0.9, ls="--", alpha=0.7, label=label)


def plot_shapes(
    model: Any,
    X: Any,
    features: Sequence[Any] | None = None,
    *,
    most: int = 6,
    positive: Any = None,
) -> "list[Axes]":
    """Plot what each feature adds to the scores, above a histogram of its values.

    In an additive model, such as one of stumps, the curves are exact: a feature adds the same to the score
    of every sample. In other models they are averages over the rows of `X` (partial dependence), and the
    label of the axis says so. With two classes, the score is that of the positive class: the one that is
    more expensive to miss or, with equal costs, the rarer one.

    Parameters
    ----------
    model : fitted RebelClassifier or RebelRegressor
    X : table of shape (N, d)
        Rows to average over, such as the training table.
    features : sequence of names or indices, optional
        Features to plot. Default: those with the largest effect.
    most : int
        Maximum number of features, unless they are given.
    positive : class label, optional
        Of two classes, the one whose score is shown.

    Returns
    -------
    list of Axes
        One for each feature.
    """
    from matplotlib import pyplot as plt

    fitted, n_threads = model.model_, threads_of(model.n_jobs)
    values = np.asarray(encode_table(model, X), dtype=np.float64)
    wording = wording_of(fitted, model.metadata_)
    chosen = (
        leading_features(fitted, values, most, n_threads)
        if features is None
        else [_feature(each, wording.names) for each in features]
    )
    if not chosen:
        raise ValueError("there is nothing to plot: no feature changes the scores")
    names = fitted.class_names
    classes = ["prediction"] if names is None else [*map(printed, names)]
    code = None if names is None else positive_class(model, positive)
    codes = range(len(classes)) if code is None else [code]
    n_columns = min(3, len(chosen))
    n_rows = -(-len(chosen) // n_columns)
    size = (4 * n_columns, 2.8 * n_rows)
    _, grid = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
    axes = list(grid.ravel())
    for feature, ax in zip(chosen, axes, strict=False):
        plot_curve(curve(fitted, values, feature, wording, n_threads), ax, classes, list(codes))
    for ax in axes[len(chosen) :]:
        ax.set_visible(False)
    axes[0].legend(frameon=False)
    return axes[: len(chosen)]


def plot_cascade(cascade: Any, X: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Plot the share of samples that a cascade has decided against the number of terms used.

    Parameters
    ----------
    cascade : Cascade
        From `RebelClassifier.cascade`.
    X : table of shape (N, d), optional
        Samples. By default, those that the cascade was calibrated on.
    ax : Axes, optional
        Axes to draw on.
    """
    ax = axes_for(ax)
    n_terms = np.asarray(cascade.n_terms)
    if X is None:
        decided, mean = 100 * cascade.plan_.decided, cascade.mean_terms
    else:
        used = cascade.terms_used(X)
        decided = 100 * np.searchsorted(np.sort(used), n_terms, side="right") / len(used)
        mean = used.mean()
    first = max(1.0, n_terms[0] / 2)
    ax.step(np.append(first, n_terms), np.append(0, decided), where="post", color=class_colour(0))
    ax.plot(n_terms[:-1], decided[:-1], "o", markersize=3, color=class_colour(0))
    ax.axvline(mean, color=class_colour(1), linestyle="--", label=f"mean: {mean:,.0f} terms")
    ax.axvline(n_terms[-1], color="#666666", linestyle=":", label=f"all: {n_terms[-1]:,} terms")
    ax.set(xscale="log", ylim=(0, 102), xlabel="terms used", ylabel="samples decided, %")
    ticks = [t * 10**e for e in range(8) for t in (1, 2, 5) if first <= t * 10**e <= n_terms[-1]]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.legend(loc="lower right", edgecolor="none", framealpha=0.9)
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


def _feature(given: Any, names: Sequence[str]) -> int:
    """Index of a feature that is given by its name or index."""
    if isinstance(given, str):
        if given not in names:
            raise ValueError(f"there is no feature {given!r}: choose from {listed(names)}")
        return names.index(given)
    if not 0 <= int(given) < len(names):
        raise ValueError(f"there is no feature {given}: give indices from 0 to {len(names) - 1}")
    return int(given)


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
