"""REBEL Figs. 7 and 8: one planar set under four cost matrices; scores along two paths."""

import sys

import numpy as np

from reproduce.harness import FOLDER, ROOT, Line, Report, at_most, only_ours

sys.path.insert(0, str(ROOT / "examples"))

import plot_costs_regions as regions
import plot_scores_path as path
from rebelboost import RebelClassifier, Tree
from rebelboost.datasets import planar_mixture

TITLE = "REBEL Figs. 7, 8: decisions under four cost matrices; scores along paths"
FILES = {regions: "rebel_fig7_regions.png", path: "rebel_fig8_path.png"}


def run(*, quick: bool) -> Report:
    """The same run either way: it takes seconds."""
    del quick
    FOLDER.mkdir(parents=True, exist_ok=True)
    for module, name in FILES.items():
        module.main(FOLDER / name)
    X, y, X_test, y_test = planar_mixture(regions.SEED)
    matrices = regions.false_alarm(regions.RED), regions.missed(regions.RED)
    as_printed = [papers_way(costs).fit(X, y).predict(X) for costs in matrices]
    lines = [at_most(f"{what}, % of training points", 0.0, v) for what, v in _reds(y, *as_printed)]
    model = RebelClassifier(cross_fit=5, n_jobs=2).fit(X, y)
    decided = [model.with_costs(costs).predict(X_test) for costs in matrices]
    lines += [
        only_ours(f"the same for our default, {what}, % of new points", f"{v:.1f}")
        for what, v in _reds(y_test, *decided)
    ]
    what = (
        "Fig. 8: scores change where decisions change; stumps cannot follow, trees of depth 2 can"
    )
    lines.append(Line(what, "a figure", FILES[path], "see the figure"))
    neutral = model.predict(X_test)
    (_, called), (_, missed) = _reds(y_test, neutral, neutral)
    note = (
        "As in the paper: 100 trees of depth 2 trained on the costs, with argmax, on the training points. On "
        f"new points and with equal costs, our default predicts {called:.1f} % of the other points red and "
        f"misses {missed:.1f} % of the red ones."
    )
    return Report(lines=lines, figures=list(FILES.values()), notes=[note])


def papers_way(costs: np.ndarray) -> RebelClassifier:
    return RebelClassifier(
        Tree(depth=2, outputs="tree"),
        n_rounds=100,
        costs=costs,
        training="costs",
        decision="argmax",
        cross_fit=None,
        n_jobs=2,
    )


def _reds(
    y: np.ndarray, false_alarms_cost: np.ndarray, misses_cost: np.ndarray
) -> list[tuple[str, float]]:
    """% of the others that are called red, and of the reds that are missed, under the two matrices."""
    red = y == regions.RED
    called = 100 * float(np.mean(false_alarms_cost[~red] == regions.RED))
    missed = 100 * float(np.mean(misses_cost[red] != regions.RED))
    return [
        ("Fig. 7c, a false red costs 10: others called red", called),
        ("Fig. 7d, a missed red costs 10: reds missed", missed),
    ]
