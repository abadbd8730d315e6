"""Tumours missed and false alarms, as the price of a missed tumour rises: one model, many prices."""

import sys

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rebelboost import RebelClassifier

PRICES = np.geomspace(1, 200, 40)
TICKS = (1, 2, 5, 10, 20, 50, 100, 200)


def mistakes():
    """(tumours missed, false alarms) at each price."""
    data = load_breast_cancer()
    y = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, y, test_size=0.4, random_state=0, stratify=y
    )
    clf = RebelClassifier("tree").fit(X_train, y_train)
    counts = []
    for price in PRICES:
        decided = clf.with_costs({("malignant", "benign"): price}).predict(X_test)
        wrong = decided != y_test
        counts.append([np.sum(wrong & (y_test == name)) for name in ("malignant", "benign")])
    return np.transpose(counts)


def main(file="clinic.png"):
    missed, alarms = mistakes()
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.step(PRICES, missed, where="mid", color="#ee6677", label="tumours missed")
    ax.step(PRICES, alarms, where="mid", color="#4477aa", label="false alarms")
    ax.axvline(20, color="0.85", zorder=0)
    ax.set(
        xscale="log", xlabel="price of a missed tumour, in false alarms", ylabel="of 228 patients"
    )
    ax.set_xticks(TICKS, map(str, TICKS))
    ax.minorticks_off()
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
