"""The kernels in NumPy: the text to check against the papers, and the oracle of the tests.

Each function has the name, the arguments and, to the last bit, the results of its compiled twin.
Arrays that receive results come from the caller; `n_threads` is the twin's affair.
"""

from rebelboost.kernels.reference.bins import bin_values, route, split_samples
from rebelboost.kernels.reference.heaviest import heaviest_first
from rebelboost.kernels.reference.layers import grow_tree, search_layer
from rebelboost.kernels.reference.pairing import least_isolated, nearest_rivals
from rebelboost.kernels.reference.prediction import apply, predict
from rebelboost.kernels.reference.root import class_sums, search_root
from rebelboost.kernels.reference.similarity import (
    add_comparisons,
    compare,
    pair_sums,
    squared_distances,
)
from rebelboost.kernels.reference.weights import advance, logistic_sums, project, region_sums

__all__ = [
    "add_comparisons",
    "advance",
    "apply",
    "bin_values",
    "class_sums",
    "compare",
    "grow_tree",
    "heaviest_first",
    "least_isolated",
    "logistic_sums",
    "nearest_rivals",
    "pair_sums",
    "predict",
    "project",
    "region_sums",
    "route",
    "search_layer",
    "search_root",
    "split_samples",
    "squared_distances",
]
