"""A first look: handwritten digits, wines, and what unequal costs change."""

import time

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

from rebelboost import RebelClassifier


def halves(load):
    X, y = load(return_X_y=True)
    return train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)


def show_confusion(y_true, y_decided, names):
    print("  rows: true class, columns: decided class")
    table = confusion_matrix(y_true, y_decided)
    width = max(len(str(name)) for name in names) + 2
    print("  " + " " * width + "".join(f"{name!s:>{width}}" for name in names))
    for name, row in zip(names, table, strict=True):
        cells = (f"{count or '.':>{width}}" for count in row)
        print(f"  {name!s:>{width}}" + "".join(cells))


def show_set(title, load, names):
    X_train, X_test, y_train, y_test = halves(load)
    began = time.perf_counter()
    classifier = RebelClassifier(n_jobs=-1, verbose=1).fit(X_train, y_train)
    seconds = time.perf_counter() - began
    decided = classifier.predict(X_test)
    n_wrong = np.count_nonzero(decided != y_test)
    print(f"\n{title}: trained on {len(X_train)} samples in {seconds:.1f} s, no options given")
    print(f"  {n_wrong} of {len(y_test)} test samples wrong: error {n_wrong / len(y_test):.2%}")
    show_confusion(y_test, decided, names)


def show_costs():
    """One class is dear to miss: train with and without saying so, and pay both bills."""
    X_train, X_test, y_train, y_test = halves(load_digits)
    costs = 1.0 - np.eye(10)
    costs[9, :9] = 100.0
    print("\nCosts: a missed 9 costs 100, any other mistake 1 (digits again, 100 stumps)")
    bills = {}
    for name, given in {"neutral": None, "with costs": costs}.items():
        classifier = RebelClassifier("stump", n_rounds=100, costs=given, n_jobs=-1)
        decided = classifier.fit(X_train, y_train).predict(X_test)
        bills[name] = costs[y_test, decided].sum()
        missed = np.count_nonzero((y_test == 9) & (decided != 9))
        other = np.count_nonzero((y_test != 9) & (decided != y_test))
        print(
            f"  trained {name:>10}: {missed:3d} missed 9s, {other:3d} other mistakes, "
            f"bill {bills[name]:7.0f}"
        )
    saved = 1 - bills["with costs"] / bills["neutral"]
    print(f"  Training on the costs saved {saved:.0%} of the bill.")


if __name__ == "__main__":
    show_set("Digits", load_digits, range(10))
    show_set("Wine", load_wine, load_wine().target_names)
    show_costs()
