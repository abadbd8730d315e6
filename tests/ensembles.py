"""Two ensembles are the same if all their arrays are, bit for bit."""

import numpy as np

from rebelboost.model.comparisons import Comparisons
from rebelboost.model.smooth import SmoothSimilarities
from rebelboost.model.trees import Trees


def arrays(model):
    """Everything that a fitted classifier predicts from, by name."""
    return {"classes": model.classes_, "costs": model.costs_, **of_terms(model.ensemble_)}


def of_terms(terms):
    """The arrays of terms, by name."""
    named = {}
    for t, term in enumerate(terms):
        parts = PARTS[type(term)]
        named[f"outputs of {t}"] = term.outputs
        named |= {f"{name} of {t}": array for name, array in parts(term).items()}
    return named


def _of_tree(tree):
    return {
        "features": tree.features,
        "thresholds": tree.thresholds,
        "missing_right": tree.missing_right,
        "category": tree.category,
        "right": tree.right,
        "signs": tree.signs,
        "cover": tree.cover,
        "columns": tree.columns,
        "means": np.concatenate([np.empty(0), *(each.values for each in tree.level_means)]),
    }


def _of_smooth(smooth):
    (function,) = smooth.functions
    return {
        "rows": function.rows,
        "points": function.points,
        "tau": np.array(function.tau),
        "a": function.a,
        "b": function.b,
    }


def _of_comparison(comparison):
    return {
        "kind": np.array(comparison.kind),
        "apart": np.array(comparison.apart),
        "rows": comparison.rows.astype(np.int64),
        "points": comparison.points,
    }


PARTS = {Trees: _of_tree, Comparisons: _of_comparison, SmoothSimilarities: _of_smooth}


def assert_same_terms(terms, others):
    """Assert that two sequences of terms are the same."""
    ours, theirs = of_terms(terms), of_terms(others)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name, strict=True)


def assert_same(model, other, *, leave_out=("classes", "costs")):
    """Assert that two classifiers have the same terms; `leave_out=()` compares all."""
    ours, theirs = arrays(model), arrays(other)
    assert ours.keys() == theirs.keys()
    for name in ours.keys() - set(leave_out):
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name, strict=True)
