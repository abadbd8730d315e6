"""Accurate white-box classifiers from little data, when mistakes have unequal costs.

The packages, in the order in which they import one another:

- `base`: arrays, fixed-point numbers and text, used everywhere; `kernels`: the hot loops, in C++ and NumPy.
- `data`: tables → numbers → bins and distances. `costs`: cost matrices, probabilities, decisions.
- `losses`: weights and outputs for each loss. `model`: a trained sum of terms. `learners`: search for a term.
- `boosting`: the loop over rounds. `selection`: cross-validation among several models, for learner="auto".
- `cascade`: decisions from the first terms. `theory`: proven bounds. `explain`: reasons for decisions.
- `files`: saving and loading. `export`: models as programs in C and JavaScript.
- `estimators`: `RebelClassifier` and `RebelRegressor`, which tie these together for scikit-learn.
- `distributed`: the same fits on rows that are in several places; `dask`: on the workers of a cluster.
- `vision`: detection of objects in images.
- `datasets`, `metrics`, `plots`, `evaluation`, `report`: example data, costs of decisions, pictures, results on
  unseen samples, and an HTML page with all of it.
- `tables`: CSV and Parquet files. `cli`: the command `rebel`.
- `live`: rows and labels that come and go, in one file, and a model that follows them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebelboost.costs.taxonomy import Taxonomy
    from rebelboost.estimators.classifier import RebelClassifier
    from rebelboost.estimators.load import load
    from rebelboost.estimators.regressor import RebelRegressor
    from rebelboost.exceptions import (
        ClusterError,
        CostDiagonalWarning,
        CostError,
        EvaluationError,
        ExportError,
        ImageError,
        ImageWarning,
        ModelFileError,
        NumbersAsTextWarning,
        PartitionError,
        ProjectError,
        RareClassWarning,
        SingleClassWarning,
        SlowKernelsWarning,
        TableError,
        UnknownCategoryWarning,
        UnreadCellWarning,
    )
    from rebelboost.learners.binary import Binary
    from rebelboost.learners.kernel import KernelSimilarity
    from rebelboost.learners.similarity import Similarity
    from rebelboost.learners.smooth import SmoothSimilarity
    from rebelboost.learners.stump import Stump
    from rebelboost.learners.tree import Tree

__version__ = "0.1.0.dev0"

__all__ = [
    "Binary",
    "ClusterError",
    "CostDiagonalWarning",
    "CostError",
    "EvaluationError",
    "ExportError",
    "ImageError",
    "ImageWarning",
    "KernelSimilarity",
    "ModelFileError",
    "NumbersAsTextWarning",
    "PartitionError",
    "ProjectError",
    "RareClassWarning",
    "RebelClassifier",
    "RebelRegressor",
    "Similarity",
    "SingleClassWarning",
    "SlowKernelsWarning",
    "SmoothSimilarity",
    "Stump",
    "TableError",
    "Taxonomy",
    "Tree",
    "UnknownCategoryWarning",
    "UnreadCellWarning",
    "__version__",
    "load",
]


_HOMES = {
    "RebelClassifier": "estimators.classifier",
    "RebelRegressor": "estimators.regressor",
    "Taxonomy": "costs.taxonomy",
    "load": "estimators.load",
    **dict.fromkeys(["Binary", "KernelSimilarity", "Similarity"], "learners"),
    **dict.fromkeys(["SmoothSimilarity", "Stump", "Tree"], "learners"),
}
"""Where each name comes from, if not from `exceptions`."""

_MODULES = {
    "datasets",
    "evaluation",
    "exceptions",
    "live",
    "metrics",
    "plots",
    "report",
    "theory",
    "vision",
}
"""Public modules, which ``import rebelboost`` makes available without loading them."""


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for: `rebel --help` needs none of them."""
    if name in _MODULES:
        return import_module(f"rebelboost.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"rebelboost.{_HOMES.get(name, 'exceptions')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Names for completion."""
    return sorted({*globals(), *__all__, *_MODULES})
