"""Evaluate models on samples that they were not fitted to: accuracy, cost and calibration.

`evaluate` uses a test table. `left_out` uses the held-out samples of a cross-fit, so it needs no test
table. Both take classifiers and regressors. `evaluate_cascade` compares a cascade with its full model.
"""

from rebelboost.evaluation.binary import BinaryMeasures
from rebelboost.evaluation.calibration import Calibration
from rebelboost.evaluation.curves import Band, BinaryCurves, CostCurve
from rebelboost.evaluation.doubt import Doubts, doubt
from rebelboost.evaluation.early import EarlyEvaluation, evaluate_cascade
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.importance import HeldOutImportance, held_out_importance
from rebelboost.evaluation.intervals import Estimate
from rebelboost.evaluation.parts import Part, Parts
from rebelboost.evaluation.regression import (
    RegressionEvaluation,
)
from rebelboost.evaluation.result import Evaluation, Judged

__all__ = [
    "Band",
    "BinaryCurves",
    "BinaryMeasures",
    "Calibration",
    "CostCurve",
    "Doubts",
    "EarlyEvaluation",
    "Estimate",
    "Evaluation",
    "HeldOutImportance",
    "Judged",
    "Part",
    "Parts",
    "RegressionEvaluation",
    "doubt",
    "evaluate",
    "evaluate_cascade",
    "held_out_importance",
    "left_out",
]
