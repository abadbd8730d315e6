"""Accurate white-box classifiers from little data, when mistakes have unequal costs.

A map of the package, in the order of the method:

- `binning`, `dataset`: values → bins → sums over bins; `spaces`, `points`: values → points → distances.
- `costs`, `risk`: costs → weights → output vector → loss; `losses`, `slopes`: the same for other losses.
- `learners`: stumps, trees, similarities and any binary classifier, proposed for given weights; `levels`.
- `model`: terms and their sum, the scores; `packing` lays them out for prediction.
- `boosting`: the loop; `sampling`, `callbacks` beside it; `problem`,
  `preparation`, `settings`, `scales`, `training` set it up.
- `decision`: scores → posterior → the decision of least risk; `crossfit`, `entrants` make it honest;
  `selection`: trees and similarities run against each other, and the best are blended.
- `estimators`, `deciding`, `regressor`, `inputs`: scikit-learn's face of it all; `frames` reads data frames.
- `contributions`, `rules`, `voices`, `usage`: what terms say, shared out; `explain`, `verdicts`, `summary`,
  `tabular`: the reasons in words and tables; `theory`, `guarantee`: what is proven;
  `explained`, `proven`: the face.
- `tables`: files → data frames, and what was understood of them; `cli`: the command `rebel`.
- `persistence`, `loading`: estimators ↔ files; `flattening`, `shelving`, `records`, `parameters`, `labels`,
  `texts`, `remembered`: their parts; `reading`, `tensors`: the format. `portable`: models as
  JSON; `stored`: the face.
- `metrics`, `plots`: what decisions cost, and how they look.
- `evaluation`: figures on unseen samples, with `figures`, `intervals`, `calibration`; `report` puts all on a
  page.
- `kernels`: the hot loops, compiled and in NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebelboost.costs.taxonomy import Taxonomy
    from rebelboost.estimators.classifier import RebelClassifier
    from rebelboost.estimators.load import load
    from rebelboost.estimators.regressor import RebelRegressor
    from rebelboost.exceptions import (
        CostDiagonalWarning,
        CostError,
        EvaluationError,
        ModelFileError,
        RareClassWarning,
        SingleClassWarning,
        SlowKernelsWarning,
        TableError,
        UnknownCategoryWarning,
    )
    from rebelboost.learners.binary import Binary
    from rebelboost.learners.similarity import Similarity
    from rebelboost.learners.stump import Stump
    from rebelboost.learners.tree import Tree

__version__ = "0.1.0.dev0"

__all__ = [
    "Binary",
    "CostDiagonalWarning",
    "CostError",
    "EvaluationError",
    "ModelFileError",
    "RareClassWarning",
    "RebelClassifier",
    "RebelRegressor",
    "Similarity",
    "SingleClassWarning",
    "SlowKernelsWarning",
    "Stump",
    "TableError",
    "Taxonomy",
    "Tree",
    "UnknownCategoryWarning",
    "__version__",
    "load",
]


_HOMES = {
    "RebelClassifier": "estimators.classifier",
    "RebelRegressor": "estimators.regressor",
    "Taxonomy": "costs.taxonomy",
    "load": "estimators.load",
    **dict.fromkeys(["Binary", "Similarity", "Stump", "Tree"], "learners"),
}
"""Where each name comes from, if not from `exceptions`."""


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for: `rebel --help` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"rebelboost.{_HOMES.get(name, 'exceptions')}"), name)
    globals()[name] = value
    return value
