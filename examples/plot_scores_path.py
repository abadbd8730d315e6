"""Scores along two paths through the plane, for stumps and for trees [REBEL, Fig. 8].

The scores change where the decision changes, and are almost constant within a region. Stumps use one
feature at a time and cannot separate classes whose clusters lie crosswise.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt

from rebelboost import RebelClassifier, Tree
from rebelboost.datasets import planar_mixture
from rebelboost.plots import plot_path, plot_regions, walk

SEED = 2
PATHS = {"A": [(-1.1, -0.9), (1.1, 0.9)], "B": [(-1.1, 0.9), (0.0, 0.0), (1.1, -0.9)]}
LEARNERS = {"100 stumps": "stump", "100 trees of depth 2": Tree(depth=2, outputs="tree")}


def draw_path(ax, name, corners):
    nibs = walk(corners, 6)  # at 0, 20, … 100 %
    ax.plot(*np.transpose(corners), color="black", lw=1.4)
    ax.plot(*nibs.T, "o", color="black", ms=4)
    ax.annotate(name, nibs[0], (-4, 4), textcoords="offset points", ha="right", weight="bold")


def main(file="scores_path.png"):
    X, y, *_ = planar_mixture(SEED)
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.6), layout="constrained")
    for row, (title, learner) in zip(axes, LEARNERS.items(), strict=True):
        classifier = RebelClassifier(learner, n_rounds=100, cross_fit=None).fit(X, y)
        plot_regions(classifier, X, y, row[0])
        row[0].set(title=title, xticks=[], yticks=[])
        for ax, (name, corners) in zip(row[1:], PATHS.items(), strict=True):
            draw_path(row[0], name, corners)
            plot_path(classifier, corners, ax).set_title(f"scores along {name}")
    scores = axes[0, 1].get_legend_handles_labels()
    figure.legend(*scores, title="class", loc="outside lower center", ncols=3)
    figure.savefig(file, dpi=120)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
