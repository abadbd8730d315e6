"""A demonstration: handwritten digits, wines, and the effect of unequal costs."""

import textwrap
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
    print("  rows: true class, columns: predicted class")
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
    print(f"\n{title}: trained on {len(X_train)} samples in {seconds:.1f} s with default options")
    if classifier.selection_ is not None:
        print(textwrap.indent(textwrap.fill(f"models: {classifier.selection_}", 96), "  "))
    print(f"  {n_wrong} of {len(y_test)} test samples wrong: error {n_wrong / len(y_test):.2%}")
    show_confusion(y_test, decided, names)


def show_costs():
    """Missing one class is expensive. Ignore this, use it in the decision, or also in training."""
    X_train, X_test, y_train, y_test = halves(load_digits)
    costs = 1.0 - np.eye(10)
    costs[9, :9] = 100.0
    print("\nCosts: a missed 9 costs 100, any other mistake 1 (digits, 100 stumps)")
    stumps = {"learner": "stump", "n_rounds": 100, "n_jobs": -1}
    neutral = RebelClassifier(**stumps, cross_fit=5).fit(X_train, y_train)
    trained = RebelClassifier(**stumps, costs=costs, training="costs").fit(X_train, y_train)
    models = {
        "costs ignored": neutral,
        "costs in the decision": neutral.with_costs(costs),
        "costs in training too": trained,
    }
    bills = {name: show_bill(name, model, X_test, y_test, costs) for name, model in models.items()}
    saved = 1 - bills["costs in training too"] / bills["costs ignored"]
    print(f"  Taking the costs into account saved {saved:.0%} of the total cost.\n")


def show_bill(name, model, X_test, y_test, costs):
    decided = model.predict(X_test)
    missed = np.count_nonzero((y_test == 9) & (decided != 9))
    other = np.count_nonzero((y_test != 9) & (decided != y_test))
    bill = costs[y_test, decided].sum()
    print(f"  {name:>22}: {missed:3d} missed 9s, {other:3d} other mistakes, total cost {bill:6.0f}")
    return bill


if __name__ == "__main__":
    show_set("Digits", load_digits, range(10))
    show_set("Wine", load_wine, load_wine().target_names)
    show_costs()
