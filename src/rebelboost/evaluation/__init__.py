"""How good a classifier is on samples it was not fitted to: accuracy, cost and calibration.

`evaluate` takes a test table; `left_out` uses the training samples that each fit of a
cross-validation left out.
"""

from rebelboost.evaluation.calibration import Calibration
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.intervals import Estimate
from rebelboost.evaluation.result import Evaluation, Judged

__all__ = ["Calibration", "Estimate", "Evaluation", "Judged", "evaluate", "left_out"]
