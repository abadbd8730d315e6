"""The kernels in NumPy: the text to check against the papers, and the oracle of the tests.

Each function has the name, arguments and, to the last bit, the results of the compiled kernel. Each
file here has a file of the same name in ``cpp/``. The caller provides the arrays that receive results.
Only the compiled kernels use `n_threads`.
"""

from rebelboost.kernels.reference.binarization import binarize, leading_eigenvector
from rebelboost.kernels.reference.binning import bin_values, sort_bins
from rebelboost.kernels.reference.cascade import leave_early
from rebelboost.kernels.reference.class_splits import choose_by_classes, prune_classes
from rebelboost.kernels.reference.coded import predict_coded, score_row
from rebelboost.kernels.reference.elementary import exponentials, logarithms
from rebelboost.kernels.reference.exact_cuts import exact_cut
from rebelboost.kernels.reference.histograms import choose_splits, node_sums
from rebelboost.kernels.reference.layer import search_layer
from rebelboost.kernels.reference.leaf_tree import draw_direction, grow_term, propose_tree
from rebelboost.kernels.reference.levels import solve_levels
from rebelboost.kernels.reference.logistic import solve_logistic
from rebelboost.kernels.reference.nodes import descend, heaviest_first, route, split_samples
from rebelboost.kernels.reference.pair_rounds import boost_pairs
from rebelboost.kernels.reference.pairs import propose_pair
from rebelboost.kernels.reference.posterior import log_loss_and_slope, uniform_posteriors
from rebelboost.kernels.reference.prediction import apply, predict
from rebelboost.kernels.reference.pruning import prune_layer
from rebelboost.kernels.reference.random import random_normals, random_numbers
from rebelboost.kernels.reference.responses import best_response, exact_distances
from rebelboost.kernels.reference.ridge import (
    feature_sums,
    ridge_factor,
    solve_lower,
    solve_upper,
    weighted_gram,
)
from rebelboost.kernels.reference.root import search_root
from rebelboost.kernels.reference.rounds import total_up
from rebelboost.kernels.reference.similarity import (
    add_comparisons,
    add_similarities,
    best_isolated,
    compare,
    compare_points,
    nearest_rivals,
    pair_sums,
    squared_distances,
)
from rebelboost.kernels.reference.slopes import propose_on_slopes, take_number_step
from rebelboost.kernels.reference.smooth_features import (
    choose_examples,
    feature_scores,
    place_features,
)
from rebelboost.kernels.reference.steps import add_steps
from rebelboost.kernels.reference.sums import class_sums
from rebelboost.kernels.reference.tree import grow_tree
from rebelboost.kernels.reference.tree_rounds import boost_trees
from rebelboost.kernels.reference.weights import (
    advance,
    fix_weights,
    logistic_sums,
    project,
    rate,
    region_sums,
    take_step,
)
from rebelboost.kernels.reference.windows import (
    integrate,
    scan_windows,
    window_scales,
    window_values,
)

__all__ = [
    "add_comparisons",
    "add_similarities",
    "add_steps",
    "advance",
    "apply",
    "best_isolated",
    "best_response",
    "bin_values",
    "binarize",
    "boost_pairs",
    "boost_trees",
    "choose_by_classes",
    "choose_examples",
    "choose_splits",
    "class_sums",
    "compare",
    "compare_points",
    "descend",
    "draw_direction",
    "exact_cut",
    "exact_distances",
    "exponentials",
    "feature_scores",
    "feature_sums",
    "fix_weights",
    "grow_term",
    "grow_tree",
    "heaviest_first",
    "integrate",
    "leading_eigenvector",
    "leave_early",
    "log_loss_and_slope",
    "logarithms",
    "logistic_sums",
    "nearest_rivals",
    "node_sums",
    "pair_sums",
    "place_features",
    "predict",
    "predict_coded",
    "project",
    "propose_on_slopes",
    "propose_pair",
    "propose_tree",
    "prune_classes",
    "prune_layer",
    "random_normals",
    "random_numbers",
    "rate",
    "region_sums",
    "ridge_factor",
    "route",
    "scan_windows",
    "score_row",
    "search_layer",
    "search_root",
    "solve_levels",
    "solve_logistic",
    "solve_lower",
    "solve_upper",
    "sort_bins",
    "split_samples",
    "squared_distances",
    "take_number_step",
    "take_step",
    "total_up",
    "uniform_posteriors",
    "weighted_gram",
    "window_scales",
    "window_values",
]
