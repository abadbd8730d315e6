"""Three spirals, learned by stumps, trees and similarities [LOCAL, Fig. 2].

Similarities follow the shape of the spirals. Splits on single features approximate it by steps.
"""

import sys

from matplotlib import pyplot as plt

from rebelboost import RebelClassifier, Similarity, Stump, Tree
from rebelboost.datasets import spirals
from rebelboost.plots import plot_regions

LEARNERS = {"stumps": Stump(), "trees": Tree(), "similarities": Similarity()}


def main(file="learners.png"):
    X, y, X_test, y_test = spirals()
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.8), layout="constrained")
    for ax, (name, learner) in zip(axes, LEARNERS.items(), strict=True):
        model = RebelClassifier(learner, n_rounds=200, cross_fit=None).fit(X, y)
        error = 1 - model.score(X_test, y_test)
        plot_regions(model, X_test, y_test, ax)
        ax.set_title(f"200 {name}: test error {100 * error:.1f} %", size=11)
        ax.set(xticks=[], yticks=[])
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
