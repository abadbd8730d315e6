"""Pictures: what they show, not how they look."""

import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rebelboost import EvaluationError, RebelClassifier, Similarity, Tree, plots
from rebelboost.base import markup
from rebelboost.datasets import planar_mixture, spirals
from rebelboost.evaluation import Evaluation, evaluate
from rebelboost.explain.plots import AGAINST, FOR
from rebelboost.plots import (
    plot_cascade,
    plot_examples,
    plot_path,
    plot_regions,
    plot_shapes,
    plot_training,
    walk,
)

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
NAMES = np.array(["ant", "bee", "cat", "dog", "elk", "fox"])


@pytest.fixture(scope="module")
def planar():
    X, y, *_ = planar_mixture(4, n_train=200)
    return X, NAMES[y]


@pytest.fixture(scope="module")
def classifier(planar):
    return RebelClassifier("stump", n_rounds=5, cross_fit=None).fit(*planar)


def points_of(ax):
    """Where the markers of a scatter plot are, dots and crosses."""
    return [collection.get_offsets() for collection in ax.collections[1:]]


def on_a_new_figure():
    return matplotlib.figure.Figure().subplots()


def test_regions_show_every_sample_once(classifier, planar):
    ax = plot_regions(classifier, *planar, resolution=20)
    drawn = np.concatenate(points_of(ax))
    np.testing.assert_array_equal(np.unique(drawn, axis=0), np.unique(planar[0], axis=0))


def test_the_background_of_regions_is_what_is_decided(classifier, planar):
    X, y = planar
    ax = plot_regions(classifier, X, y, resolution=15, margin=0)
    codes = np.asarray(ax.collections[0].get_array()).reshape(15, 15)
    sides = np.linspace(X.min(axis=0), X.max(axis=0), 15)
    for row, column in [(0, 0), (3, 11), (14, 7)]:
        place = [[sides[column, 0], sides[row, 1]]]
        assert classifier.classes_[int(codes[row, column])] == classifier.predict(place)[0]


def test_crosses_are_the_mistakes(classifier, planar):
    X, y = planar
    ax = plot_regions(classifier, X, y, resolution=10)
    crosses = np.concatenate(points_of(ax)[1::2])
    assert len(crosses) == np.count_nonzero(classifier.predict(X) != y)


def test_regions_of_points_on_a_line_can_be_drawn(classifier):
    ax = plot_regions(classifier, [[0, 1], [0, 2]], ["ant", "bee"], resolution=5)
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_regions_need_two_features(classifier):
    with pytest.raises(ValueError, match=r"two features, but X has shape \(4, 3\)"):
        plot_regions(classifier, np.zeros((4, 3)), np.zeros(4))


def test_regions_need_a_label_for_each_sample(classifier):
    with pytest.raises(ValueError, match="X has 4 samples, but y has 3 labels"):
        plot_regions(classifier, np.zeros((4, 2)), np.zeros(3))


def test_a_path_shows_the_score_of_each_class(classifier):
    corners = [(-1, -1), (0, 1), (1, -1)]
    ax = plot_path(classifier, corners, resolution=30)
    scores = classifier.decision_function(walk(corners, 30))
    assert [line.get_label() for line in ax.lines] == classifier.classes_.tolist()
    for line, score in zip(ax.lines, scores.T, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), score)


def test_the_background_of_a_path_covers_it_without_gaps(classifier):
    ax = plot_path(classifier, [(-1, -1), (1, 1)], resolution=50)
    edges = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches]
    assert edges[0][0] == 0
    assert edges[-1][1] == pytest.approx(100)
    for (_, end), (begin, _) in pairwise(edges):
        assert begin == pytest.approx(end)
    decided = classifier.predict(walk([(-1, -1), (1, 1)], 50))
    assert len(edges) == 1 + np.count_nonzero(decided[1:] != decided[:-1])


def test_two_classes_have_two_scores_along_a_path(planar):
    X, y = planar
    two = RebelClassifier("stump", n_rounds=3).fit(X, np.where(y == "ant", "ant", "other"))
    ax = plot_path(two, [(-1, 0), (1, 0)], resolution=10)
    first, second = (line.get_ydata() for line in ax.lines)
    np.testing.assert_array_equal(first, -second)
    lead = two.decision_function(walk([(-1, 0), (1, 0)], 10))
    np.testing.assert_allclose(second - first, lead)


def test_a_walk_is_evenly_spaced_and_passes_the_corners():
    path = walk([(0, 0), (3, 4), (3, 9)], 11)
    np.testing.assert_allclose(np.linalg.norm(np.diff(path, axis=0), axis=1), 1)
    np.testing.assert_allclose(path[[0, 5, 10]], [(0, 0), (3, 4), (3, 9)], atol=1e-12)


def test_a_walk_needs_two_different_points():
    with pytest.raises(ValueError, match=r"two points or more, but points have shape \(1, 2\)"):
        walk([(0, 0)], 10)
    with pytest.raises(ValueError, match="points 1 and 2 of the path are the same"):
        walk([(0, 0), (1, 1), (1, 1)], 10)


def test_plots_go_into_the_axes_that_are_given(classifier, planar):
    for draw in (
        lambda ax: plot_regions(classifier, *planar, ax, resolution=5),
        lambda ax: plot_path(classifier, [(0, 0), (1, 1)], ax),
    ):
        ax = on_a_new_figure()
        assert draw(ax) is ax


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_new_axes_are_on_a_figure_of_pyplot_which_notebooks_show(classifier, planar):
    for ax in (
        plot_regions(classifier, *planar, resolution=5),
        plot_path(classifier, [(0, 0), (1, 1)]),
        plot_training(classifier),
        plot_shapes(classifier, planar[0])[0],
        classifier.explain(planar[0][:1])[0].plot(),
        classifier.summary().plot()[0],
    ):
        assert ax.figure.number in plt.get_fignums()


def test_training_has_a_line_for_each_fit(planar):
    X, y = planar
    model = RebelClassifier("tree", n_rounds=8, cross_fit=3).fit(X, y)
    ax = plot_training(model, X, y)
    assert len(ax.get_lines()) == 3
    lengths = [len(line.get_ydata()) for line in ax.get_lines()]
    assert sum(lengths) == len(model.history_)
    assert [line.get_ydata()[0] for line in ax.get_lines()] == pytest.approx(
        [r.log_loss / np.log(10) for r in model.history_ if r.index == 0]
    )
    errors = ax.figure.axes[1]
    assert len(errors.get_lines()) == 3 + 1
    wrong = 100 * np.mean(model.predict(X) != y)
    assert errors.get_lines()[-1].get_ydata()[0] == pytest.approx(wrong)


def test_shapes_of_additive_models_are_their_scores(planar):
    X, y = planar
    model = RebelClassifier("stump", n_rounds=20, cross_fit=None).fit(X, y)
    axes = plot_shapes(model, X, [0, 1])
    grid = np.tile(X[:1], (len(axes[0].get_lines()[0].get_xdata()), 1))
    grid[:, 0] = axes[0].get_lines()[0].get_xdata()
    scores = model.decision_function(grid)
    for k, line in enumerate(axes[0].get_lines()[: scores.shape[1]]):
        ours = line.get_ydata()
        np.testing.assert_allclose(ours - ours[0], scores[:, k] - scores[0, k], atol=1e-9)
    assert axes[0].get_ylabel() == "added to the score"
    deep = RebelClassifier("tree", n_rounds=5).fit(X, y)
    assert plot_shapes(deep, X, most=1)[0].get_ylabel() == "added to the score, average"


def test_shapes_of_features_that_do_not_exist_are_refused(classifier, planar):
    with pytest.raises(ValueError, match="there is no feature 'x9': choose from x0, x1"):
        plot_shapes(classifier, planar[0], ["x9"])
    with pytest.raises(ValueError, match="there is no feature 2: give indices from 0 to 1"):
        plot_shapes(classifier, planar[0], [2])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.slow
def test_examples_draw_their_picture(path, tmp_path):
    """In this process, which has imported all that they need; `make docs` runs them as scripts."""
    picture = tmp_path / "picture.png"
    runpy.run_path(path)["main"](picture)
    plt.close("all")
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_at_most_80_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 80


def test_examples_and_training_are_drawn_for_similarities():
    X, y, X_test, y_test = spirals(n_train=60, n_test=30)
    model = RebelClassifier(Similarity("none"), n_rounds=20).fit(X, y)
    rings = plot_examples(model, X, most=5)
    assert len(rings.collections) == len(rings.lines) == 5
    ax = plot_training(model, X_test, y_test)
    losses = ax.get_lines()[0].get_ydata()
    assert len(losses) == len(model.history_)
    assert np.all(losses <= ax.get_lines()[1].get_ydata() + 1e-6)  # the bound, up to smoothing


def test_the_share_decided_rises_to_all_samples():
    X, y, X_test, _ = spirals(n_train=200, n_test=150)
    model = RebelClassifier(Tree(3), n_rounds=30, cross_fit=2).fit(X, y)
    cascade = model.cascade(agreement=0.9)
    for given in (None, X_test):
        terms, decided = plot_cascade(cascade, given).get_lines()[0].get_data()
        assert terms[-1] == len(model.ensemble_)
        assert decided[0] == 0
        assert decided[-1] == pytest.approx(100)
        assert np.all(np.diff(decided) >= 0)
    used = cascade.terms_used(X_test)
    assert decided[1] == pytest.approx(100 * np.mean(used <= cascade.n_terms[0]))


def test_examples_are_refused_where_there_are_none():
    X, y, *_ = spirals(n_train=60, n_test=3)
    with pytest.raises(ValueError, match="Similarity"):
        plot_examples(RebelClassifier("tree", n_rounds=2).fit(X, y), X)


@pytest.mark.parametrize("row", [0, 1])
def test_bars_of_an_explanation_have_the_colours_of_the_cards_whatever_is_decided(row):
    from matplotlib.colors import to_hex

    X = np.array([[0.0], [1.0]] * 20)
    clf = RebelClassifier("stump", n_rounds=3).fit(X, np.arange(40) % 2)
    why = clf.explain(X[row : row + 1])[0]
    colours = {to_hex(bar.get_facecolor()): bar.get_width() >= 0 for bar in why.plot().patches}
    style = (Path(markup.__file__).parent.parent / "report" / "style.css").read_text()
    assert set(colours) <= {FOR, AGAINST}
    assert f"--one: {FOR}; --two: {AGAINST};" in style
    assert all(is_for == (colour == FOR) for colour, is_for in colours.items())


# ---- evaluations


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "bad", "good")
    clf = RebelClassifier("stump", n_rounds=5, costs={("bad", "good"): 5.0}, cross_fit=None)
    return evaluate(clf.fit(X[:100], y[:100]), X[100:], y[100:])


@pytest.mark.parametrize(
    ("draw", "x", "y"),
    [
        (plots.plot_roc, "roc", "sensitivity (bad)"),
        (plots.plot_lift, "lift", "lift (bad)"),
        (plots.plot_net_benefit, "net_benefit", "net benefit"),
    ],
)
def test_a_curve_of_an_evaluation_is_drawn_with_its_band(judged, draw, x, y):
    ax, band = draw(judged), getattr(judged.curves(), x)
    assert ax.get_ylabel() == y
    np.testing.assert_array_equal(ax.get_lines()[-1].get_ydata(), band.value)
    assert len(ax.collections) == 1


def test_calibration_probabilities_and_savings_are_drawn(judged):
    ax = plots.plot_calibration(judged)
    (dots,) = (each for each in ax.get_lines() if each.get_marker() == "o")
    assert len(dots.get_xdata()) == len(judged.calibration.bins)
    assert "slope" in ax.get_legend().get_texts()[0].get_text()
    assert plots.plot_probabilities(judged).get_xlabel() == "stated probability of bad"
    saved = plots.plot_cost_curve(judged)
    assert saved.get_xlabel() == "price of bad decided as good, in multiples of the present one"
    np.testing.assert_array_equal(
        saved.get_lines()[-1].get_ydata(), judged.cost_curve().saving.value
    )


def test_an_evaluation_from_a_file_has_nothing_to_draw(judged):
    stored = Evaluation.from_dict(judged.to_dict())
    for draw in (plots.plot_roc, plots.plot_cost_curve):
        with pytest.raises(EvaluationError, match=r"file|price"):
            draw(stored)
