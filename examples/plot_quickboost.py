"""The same trees from fewer visits: what QuickBoost saves in each round [QUICK, Sec. 4].

A visit is one sample looked at for one feature. In later rounds a few samples hold most of the weight,
and features that cannot be the best are dropped after visiting those.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from rebelboost import RebelClassifier, Tree

ROUNDS = 150


def main(file="quickboost.png"):
    X, y = load_digits(return_X_y=True)
    is_eight = y == 8
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for depth, colour in ((1, "#4477aa"), (2, "#228833"), (4, "#ee6677")):
        pruned, whole = (
            RebelClassifier(
                Tree(depth, outputs="tree", search=search),
                n_rounds=ROUNDS,
                cross_fit=None,
            ).fit(X, is_eight)
            for search in ("pruned", "exhaustive")
        )
        assert np.array_equal(pruned.decision_function(X), whole.decision_function(X))
        share = [100 * r.work.visited / r.work.possible for r in pruned.history_]
        smooth = np.convolve(share, np.ones(9) / 9, mode="valid")
        ax.plot(np.arange(5, 5 + len(smooth)), smooth, color=colour, label=f"depth {depth}")
    ax.set(xlabel="round", ylabel="visits made, % of all", ylim=(0, 105), xlim=(1, ROUNDS))
    ax.legend(frameon=False, title="1,797 digits, 8 against the rest")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
