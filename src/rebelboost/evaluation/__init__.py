"""Figures on unseen samples: accuracy, cost and calibration, with intervals."""

from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.result import Evaluation

__all__ = ["Evaluation", "evaluate", "left_out"]
