"""AutoGluon (tabular), with one processor; what the files of its presets share.

Its models that need PyTorch take part if PyTorch is installed; else AutoGluon says so and leaves them out.
"""

import tempfile
from typing import Any

import numpy as np
import pandas as pd
from autogluon.tabular import TabularPredictor

LABEL = "the class"


class Predictor:
    """AutoGluon's predictor as an estimator of scikit-learn: it wants the classes in the table.

    It writes its models to a folder, which goes with the object.
    """

    def __init__(self, presets: str, time_limit: float | None) -> None:
        self.presets, self.time_limit = presets, time_limit

    def fit(self, X: Any, y: Any) -> "Predictor":
        table = pd.DataFrame(X).assign(**{LABEL: np.asarray(y)})
        self.folder_ = tempfile.TemporaryDirectory(prefix="autogluon-", ignore_cleanup_errors=True)
        self.predictor_ = TabularPredictor(
            label=LABEL,
            path=self.folder_.name,
            verbosity=0,
            problem_type="binary" if len(np.unique(y)) == 2 else "multiclass",
        )
        self.predictor_.fit(
            table, presets=self.presets, time_limit=self.time_limit, num_cpus=1, num_gpus=0
        )
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.predictor_.predict(pd.DataFrame(X)).to_numpy()

    def predict_proba(self, X: Any) -> np.ndarray:
        found = self.predictor_.predict_proba(pd.DataFrame(X), as_multiclass=True)
        return found[list(self.classes_)].to_numpy()
