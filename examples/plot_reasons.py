"""Reasons of two decisions: each feature's contribution to the lead of the decided class.

The bars sum to the lead exactly; nothing is sampled.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier


def main(file="reasons.png"):
    data = load_iris(as_frame=True)
    species = data.target.map(dict(enumerate(data.target_names)))
    costs = {("virginica", "versicolor"): 20}
    model = RebelClassifier("tree", costs=costs, n_rounds=50).fit(data.data, species)

    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    for ax, why in zip(axes, model.explain(data.data.iloc[[77, 133]]), strict=True):
        why.plot(ax)
        ax.set_title(f"flower {why.label}: {why.decision}", size=11)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
