"""One planar data set, four cost matrices [REBEL, Fig. 7].

The classifier learns the probabilities once; `with_costs` changes the decisions without a refit.
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
    """Missing class k costs ten times as much."""
    costs = UNIFORM.copy()
    costs[k] *= 10
    return costs


def false_alarm(k):
    """Predicting class k wrongly costs ten times as much."""
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
        beside = "" if costs is UNIFORM else f"; with the decisions of (a): {instead:.2f}"
        ax.set_title(f"{title}\nmean cost {paid:.2f}{beside}", size=11)
        ax.set(xticks=[], yticks=[])
    figure.suptitle("Test points; mistakes are crosses. The background shows the decision.")
    figure.savefig(file, dpi=120)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
