"""Texts have the same words in the same order in every process."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
from rebelboost import RebelClassifier, Similarity
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)
smooth = RebelClassifier("smooth", cross_fit=2, random_state=1).fit(X, y)
compared = RebelClassifier(Similarity(scale="none"), n_rounds=4).fit(X, y)
from rebelboost.model.ensemble import Ensemble, Group, headings
own = [group.terms for model in (smooth, compared) for group in model.ensemble_.groups]
at = np.cumsum([0, *map(len, own)])
groups = [Group(np.arange(a, b), terms) for a, b, terms in zip(at, at[1:], own)]
print(headings(Ensemble(tuple(groups), 2)))
"""


def said(seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_kinds_of_terms_are_told_in_one_order():
    first = said("1")
    assert first.index("comparisons") < first.index("smooth function")
    assert said("2") == first
