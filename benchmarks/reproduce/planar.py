"""REBEL Figs. 7 and 8: one planar set under four cost matrices; scores along two paths."""

import sys

import numpy as np

from reproduce.harness import FOLDER, ROOT, Line, Report, at_most

sys.path.insert(0, str(ROOT / "examples"))

import plot_costs_regions as regions
import plot_scores_path as path
from rebelboost import RebelClassifier
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
    model = RebelClassifier(cross_fit=5, n_jobs=2).fit(X, y)
    false_red = model.with_costs(regions.false_alarm(regions.RED)).predict(X_test)
    missed_red = model.with_costs(regions.missed(regions.RED)).predict(X_test)
    neutral = model.predict(X_test)
    is_red = y_test == regions.RED

    def share(wrong: np.ndarray, of: np.ndarray) -> float:
        return 100 * float(np.mean(wrong[of]))

    found = [
        ("Fig. 7c, a false red costs 10: others called red", false_red == regions.RED, ~is_red),
        ("Fig. 7d, a missed red costs 10: reds missed", missed_red != regions.RED, is_red),
    ]
    lines = [at_most(f"{what}, % of test points", 0.0, share(*which)) for what, *which in found]
    what = (
        "Fig. 8: scores change where decisions change; stumps cannot follow, trees of depth 2 can"
    )
    lines.append(Line(what, "a figure", FILES[path], "see the figure"))
    even = share(neutral == regions.RED, ~is_red), share(neutral != regions.RED, is_red)
    note = (
        f"With equal costs, {even[0]:.1f} % of the other points are predicted red and "
        f"{even[1]:.1f} % of the red points are missed."
    )
    return Report(lines=lines, figures=list(FILES.values()), notes=[note])
