"""The training error and its bound, in every round [ADA, Fig. 3.1].

Two classes, stumps. Theorem 3.1 bounds the training error by the product of √(1 − 4γ²) over the rounds
so far. The bound says nothing about new samples; the test error is drawn for comparison.
"""

import sys

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rebelboost import RebelClassifier, Stump
from rebelboost.theory import bounds as theory


def main(file="bound.png"):
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
    model = RebelClassifier(Stump(), n_rounds=150, cross_fit=None).fit(X, y)
    rounds = np.arange(1, len(model.history_) + 1)
    bounds = theory.error_bounds(theory.edges(model.history_))
    trained = [record.error for record in model.history_]
    tested = [np.mean(decided != y_test) for decided in model.staged_predict(X_test)]

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    ax.plot(rounds, 100 * bounds, ":", color="black", label="bound on the training error")
    ax.plot(rounds, 100 * np.array(trained), color="#4477aa", label="training error")
    ax.plot(rounds, 100 * np.array(tested), color="#ee6677", label="test error")
    ax.set(xlabel="round", ylabel="error, %", ylim=(0, 40), xlim=(1, len(rounds)))
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
