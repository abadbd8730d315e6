"""Accurate white-box classifiers from little data, when mistakes have unequal costs.

A map of the package, in the order of the method:

- `binning`, `dataset`: values → bins → sums over bins; `spaces`, `points`: values → points → distances.
- `costs`, `risk`: costs → weights → output vector → loss; `losses`, `slopes`: the same for other losses.
- `learners`: stumps, trees, similarities and any binary classifier, proposed for given weights; `levels`.
- `model`: terms and their sum, the scores; `packing` lays them out for prediction.
- `boosting`: the loop; `sampling`, `callbacks` beside it; `problem`,
  `preparation`, `settings`, `scales`, `training` set it up.
- `decision`: scores → posterior → the decision of least risk; `crossfit` makes it honest.
- `estimators`, `deciding`, `regressor`, `inputs`: scikit-learn's face of it all; `frames` reads tables.
- `persistence`, `loading`: estimators ↔ files; `flattening`, `shelving`, `records`, `parameters`, `labels`,
  `texts`: their parts; `reading`, `tensors`: the format. `portable`: models as JSON; `stored`: the face.
- `metrics`, `plots`: what decisions cost, and how they look.
- `kernels`: the hot loops, compiled and in NumPy.
"""

from typing import TYPE_CHECKING, Any

from rebelboost.estimators import RebelClassifier
from rebelboost.exceptions import (
    CostDiagonalWarning,
    CostError,
    ModelFileError,
    RareClassWarning,
    SingleClassWarning,
    SlowKernelsWarning,
    UnknownCategoryWarning,
)
from rebelboost.learners import Binary, Similarity, Stump, Tree
from rebelboost.taxonomy import Taxonomy

if TYPE_CHECKING:
    from rebelboost.loading import load
    from rebelboost.regressor import RebelRegressor

__version__ = "0.1.0.dev0"

__all__ = [
    "Binary",
    "CostDiagonalWarning",
    "CostError",
    "ModelFileError",
    "RareClassWarning",
    "RebelClassifier",
    "RebelRegressor",
    "Similarity",
    "SingleClassWarning",
    "SlowKernelsWarning",
    "Stump",
    "Taxonomy",
    "Tree",
    "UnknownCategoryWarning",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    """Load what most programs do not use when it is first asked for."""
    if name == "RebelRegressor":
        from rebelboost.regressor import RebelRegressor

        return RebelRegressor
    if name == "load":
        from rebelboost.loading import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
