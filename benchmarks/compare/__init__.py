"""The rivals: one small file each, behind one interface.

A rival is a module with `name`, as tables print it, and `make(n_threads)`, an unfitted classifier
at its library's defaults; `make_regressor(n_threads)` likewise. Its imports are at its top, so that
a rival that is not installed is an ImportError on `load`, which the benchmarks report instead of
stopping.

Every rival takes an array of numbers, or a frame of `columns.frame` whose categorical columns have
pandas' dtype "category"; NaN is a missing value. Who cannot take these as they are gets them the way
its users do it: one-hot, medians, and scaled where distances or gradients need it.
"""

from importlib import import_module
from typing import Any, Protocol, cast

RIVALS = ("rebel_trees", "lightgbm", "xgboost", "hist_gradient_boosting")
"""Histogram boosting, as our trees: those that are measured for speed too."""
OTHERS = ("rebel", "catboost", "ebm", "random_forest", "extra_trees", "svc", "mlp", "knn")
AUTOMATIC = ("autogluon_medium", "autogluon_best", "flaml")
"""Searches over several libraries; they classify only."""
ALL = RIVALS + OTHERS
OURS, TREES, BASELINE = "rebel", "rebel_trees", "lightgbm"


class Rival(Protocol):
    """What each file of this folder offers."""

    name: str

    def make(self, n_threads: int) -> Any: ...

    def make_regressor(self, n_threads: int) -> Any: ...


def load(rival: str) -> Rival:
    """The rival's module, by the name of its file."""
    return cast("Rival", import_module(f"{__name__}.{rival}"))
