"""Two ensembles are the same if all their arrays are, bit for bit."""

import numpy as np


def arrays(model):
    """Everything that a fitted classifier predicts from, by name."""
    return {"classes": model.classes_, "costs": model.costs_, **of_terms(model.ensemble_.terms)}


def of_terms(terms):
    """The arrays of terms, by name."""
    named = {}
    for t, term in enumerate(terms):
        tree = term.hypothesis
        named |= {
            f"features of {t}": tree.features,
            f"thresholds of {t}": tree.thresholds,
            f"missing_right of {t}": tree.missing_right,
            f"outputs of {t}": term.outputs,
            f"signs of {t}": np.zeros(0) if tree.signs is None else tree.signs,
        }
        named |= {f"table of {t}, {node}": table for node, table in tree.tables.items()}
    return named


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
