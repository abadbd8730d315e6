"""Most samples are decided by a few terms: the share decided against terms used [THESIS, Sec. 2.2].

The thresholds come from held-out training samples. The curves are of test samples.
"""

import sys

from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from rebelboost import RebelClassifier
from rebelboost.evaluation import evaluate_cascade
from rebelboost.plots import plot_cascade


def main(file="cascade.png"):
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.4, random_state=0)
    classifier = RebelClassifier("tree").fit(X_train, y_train)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for ax, agreement in zip(axes, (1.0, 0.99), strict=True):
        cascade = classifier.cascade(agreement=agreement)
        plot_cascade(cascade, X_test, ax)
        found = evaluate_cascade(cascade, X_test)
        ax.set_title(
            f"agreement = {agreement:g}: {found.n_different} of {found.n} decisions differ"
        )
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
