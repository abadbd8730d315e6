"""Learning with a person: the cost of decisions after each few labels, asked for or drawn at random.

The person is simulated: they know the class of each tumour in a pool, and are asked for four at a time. Missing
a malignant tumour costs 10. The costs are those of decisions on other tumours.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from rebelboost.live import Project

COSTS = {("malignant", "benign"): 10}
AT_ONCE, LABELS, RANDOMS = 4, 60, 3


def cost(project, cells, classes):
    """Mean cost of decisions on tumours that nobody is asked about."""
    pairs = zip(classes, project.model.predict(cells), strict=True)
    return float(np.mean([true != said and COSTS.get((true, said), 1) for true, said in pairs]))


def learn(rows, classes, pool, choose):
    """Ask the person, a few at a time; return the cost after each few."""
    tested = [rows[i] for i in range(len(rows)) if i not in set(pool)]
    truth = [classes[i] for i in range(len(rows)) if i not in set(pool)]
    costs = []
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(action="ignore"),  # of classes with a single row, at the beginning
        Project.create(
            Path(folder) / "tumours.rebel", [rows[i] for i in pool], "class", costs=COSTS
        ) as project,
    ):
        while len(costs) * AT_ONCE < LABELS:
            ids = choose(project)
            project.label(ids, [classes[pool[number - 1]] for number in ids])
            project.models.fit_if_enough()
            costs.append(cost(project, tested, truth))
    return costs


def main(file="asking.png"):
    data = load_breast_cancer()
    classes = data.target_names[data.target].tolist()
    rows = [dict(zip(data.feature_names, x, strict=True)) for x in data.data.tolist()]
    pool = np.random.default_rng(0).permutation(len(rows))[:250].tolist()
    asked = learn(rows, classes, pool, lambda project: project.ask(n=AT_ONCE).ids)
    drawn = []
    for seed in range(RANDOMS):
        order = iter(np.random.default_rng(seed).permutation(len(pool)) + 1)
        drawn.append(
            learn(rows, classes, pool, lambda _, o=order: [int(next(o)) for _ in range(AT_ONCE)])
        )
    labels = AT_ONCE * np.arange(1, len(asked) + 1)
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for i, each in enumerate(drawn):
        name = "drawn at random (three orders)" if i == 0 else None
        ax.plot(labels, each, color="0.6", lw=1, label=name)
    ax.plot(labels, asked, color="tab:blue", lw=2, label="asked for")
    ax.set(xlabel="labels", ylabel="mean cost of a decision", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    figure.savefig(file, dpi=110)
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
