"""One planar set, four opinions about what mistakes cost [REBEL, Fig. 7].

The classifier learns the probabilities once; `with_costs` then decides anew, without another fit.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt

from rebelboost import RebelClassifier
from rebelboost.datasets import planar_mixture
from rebelboost.metrics import mean_cost
from rebelboost.plots import plot_regions

SEED = 34
RED, GREEN = 1, 2
UNIFORM = 1 - np.eye(3)


def missed(k):
    """It costs ten times as much to miss class k."""
    costs = UNIFORM.copy()
    costs[k] *= 10
    return costs


def false_alarm(k):
    """It costs ten times as much to say k where it is not."""
    return missed(k).T


MATRICES = {
    "(a) every mistake costs 1": UNIFORM,
    "(b) a missed green costs 10": missed(GREEN),
    "(c) a false red costs 10": false_alarm(RED),
    "(d) a missed red costs 10": missed(RED),
}


def main(file="costs_regions.png"):
    X, y, X_test, y_test = planar_mixture(SEED)
    model = RebelClassifier("tree", cross_fit=5).fit(X, y)
    careless = model.predict(X_test)

    figure, axes = plt.subplots(2, 2, figsize=(9, 9.2), layout="constrained")
    for ax, (title, costs) in zip(axes.flat, MATRICES.items(), strict=True):
        informed = model.with_costs(costs)
        plot_regions(informed, X_test, y_test, ax)
        paid = mean_cost(y_test, informed.predict(X_test), costs)
        instead = mean_cost(y_test, careless, costs)
        beside = "" if costs is UNIFORM else f"; deciding as in (a) costs {instead:.2f}"
        ax.set_title(f"{title}\nmean cost {paid:.2f}{beside}", size=11)
        ax.set(xticks=[], yticks=[])
    figure.suptitle("Test points, mistakes as crosses. The background is what is decided.")
    figure.savefig(file, dpi=120)
    print(f"Drawn: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
