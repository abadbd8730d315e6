"""One model, two cost matrices, and the training rows that it compares with.

Left: every mistake costs the same. Middle: missing a red point costs ten times as much; the same model,
without a refit, predicts red wherever there is doubt. Right: rings and lines show some of the training
rows that the model compares new points with.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt

from rebelboost import RebelClassifier, Similarity
from rebelboost.datasets import planar_mixture
from rebelboost.metrics import mean_cost
from rebelboost.plots import plot_examples, plot_regions

EQUAL = 1 - np.eye(3)
DEAR = EQUAL * [[1], [10], [1]]  # the second class is the red one
SHOWN = 200


def main(file="at_a_glance.png"):
    X, y, X_test, y_test = planar_mixture(34, n_train=300)
    model = RebelClassifier(Similarity(), n_rounds=300, cross_fit=5).fit(X, y)
    careful = model.with_costs(DEAR)
    careless, cared = (mean_cost(y_test, m.predict(X_test), DEAR) for m in (model, careful))

    figure, (equal, dear, rows) = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
    plot_regions(model, X_test[:SHOWN], y_test[:SHOWN], equal)
    plot_regions(careful, X_test[:SHOWN], y_test[:SHOWN], dear)
    plot_examples(model, X, plot_regions(model, X, y, rows), most=40)
    equal.set_title("every mistake costs 1", size=11)
    dear.set_title(
        f"a missed red costs 10: mean cost {cared:.2f}\ninstead of {careless:.2f}, without a refit",
        size=11,
    )
    rows.set_title("training rows that the model\ncompares with (some of them)", size=11)
    for ax in (equal, dear, rows):
        ax.set(xticks=[], yticks=[])
    figure.savefig(file, dpi=85, pil_kwargs={"optimize": True})
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
