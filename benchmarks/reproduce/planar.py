"""REBEL Figs. 7 and 8: one planar set under four cost matrices; scores along two paths."""

import sys

import numpy as np

from reproduce import quotes
from reproduce.harness import FOLDER, ROOT, Report, judged
from reproduce.papers import paper

sys.path.insert(0, str(ROOT / "examples"))

import plot_costs_regions as regions
import plot_scores_path as path
from rebelboost import RebelClassifier
from rebelboost.datasets import planar_mixture

TITLE = "REBEL Figs. 7, 8: decisions under four cost matrices; scores along paths"
ROUNDS = 100
STATED = [
    ("a false red costs 10: others called red", quotes.NO_FALSE_RED),
    ("a missed red costs 10: reds missed", quotes.NO_MISSED_RED),
]
FILES = {regions: "rebel_fig7_regions.png", path: "rebel_fig8_path.png"}


def run(*, quick: bool) -> Report:
    """The same run either way: it takes seconds."""
    del quick
    FOLDER.mkdir(parents=True, exist_ok=True)
    for module, name in FILES.items():
        module.main(FOLDER / name)
    X, y, X_test, y_test = planar_mixture(regions.SEED)
    matrices = regions.false_alarm(regions.RED), regions.missed(regions.RED)
    trained = [
        paper("rebel_trees", ROUNDS, depth=2, costs=costs).fit(X, y).predict(X)
        for costs in matrices
    ]
    model = RebelClassifier(cross_fit=5, n_jobs=2).fit(X, y)
    decided = [model.with_costs(costs).predict(X_test) for costs in matrices]
    lines = [
        judged(
            f"{what}, % of the training points",
            quote,
            f"{papers:.1f}",
            good=papers == 0,
            ours=f"{ours:.1f}",
        )
        for (what, quote), papers, ours in zip(
            STATED, _reds(y, *trained), _reds(y_test, *decided), strict=True
        )
    ]
    neutral = model.predict(X_test)
    called, missed = _reds(y_test, neutral, neutral)
    notes = [
        (
            f"{ROUNDS} trees of depth 2 trained on the costs, with argmax, on the training points. Ours is "
            f"the default, on new points; with equal costs, it predicts {called:.1f} % of the other points "
            f"red and misses {missed:.1f} % of the red ones. THESIS, Fig. 4.3, has the panels in the other "
            "order."
        ),
        "Fig. 8 is drawn and not judged.",
    ]
    return Report(lines=lines, figures=list(FILES.values()), notes=notes)


def _reds(
    y: np.ndarray, false_alarms_cost: np.ndarray, misses_cost: np.ndarray
) -> tuple[float, float]:
    """% of the others that are called red, and of the reds that are missed, under the two matrices."""
    red = y == regions.RED
    called = 100 * float(np.mean(false_alarms_cost[~red] == regions.RED))
    missed = 100 * float(np.mean(misses_cost[red] != regions.RED))
    return called, missed
