"""A model in a notebook: type or pick a case, move prices, and see the decision with its reasons.

It needs the extra ``rebelboost[widget]`` and works in Jupyter, VS Code, marimo and Colab. It is the page of
`rebel report`, and Python sees what is chosen there.
"""

from collections.abc import Sequence
from typing import Any

import anywidget
import numpy as np
import traitlets
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.names import printed
from rebelboost.estimators.base import encode_table
from rebelboost.export import columns_of
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.javascript import EXPORT, as_javascript
from rebelboost.export.sources import source

__all__ = ["ModelWidget", "show"]


class ModelWidget(anywidget.AnyWidget):
    """The widget of a model. Its traits follow what is chosen, and may be set."""

    _esm = EXPORT.sub("", source("page.mjs")) + source("widget.mjs")
    _css = source("page.css")

    module = traitlets.Unicode().tag(sync=True)
    """The model as a module of JavaScript."""
    cases = traitlets.List().tag(sync=True)
    """Cases to begin with."""
    case = traitlets.Dict().tag(sync=True)
    """Column → cell, of the cells that were typed. The others are as in the case that was picked."""
    prices = traitlets.List().tag(sync=True)
    """(K, K) prices, [true][decided]; empty: those of the model."""
    sample = traitlets.List().tag(sync=True)
    """(d,) the case as numbers, as `RebelClassifier.predictor` takes it; None is a missing value."""
    answer = traitlets.Dict().tag(sync=True)
    """Decision, probabilities, expected costs and scores; in a regression, the prediction."""


def show(
    model: Any, X: Any = None, *, names: Sequence[Any] | None = None, rows: bool = True
) -> ModelWidget:
    """Show a model in a notebook.

    Parameters
    ----------
    model : RebelClassifier or RebelRegressor
        A fitted model.
    X : table of shape (N, d), default=None
        Cases to begin with, of which one can be picked.
    names : sequence of N, default=None
        Names of these cases. Default: row 0, row 1, and so on.
    rows : bool, default=True
        Whether the values and names of training rows, which cases are compared with, may be shown.

    Returns
    -------
    ModelWidget
        Its traits `case`, `sample`, `prices` and `answer` hold what is chosen; observe them, or set
        `case` and `prices`.

    Raises
    ------
    ExportError
        If the model cannot be exported.
    """
    check_is_fitted(model)
    evaluator = evaluator_of(model.model_, columns_of(model.metadata_), rows=rows, row_names=rows)
    values = [] if X is None else np.asarray(encode_table(model, X), dtype=np.float64).tolist()
    called = (
        [f"row {n}" for n in range(len(values))] if names is None else list(map(printed, names))
    )
    if len(called) != len(values):
        raise ValueError(f"X has {len(values)} cases, but names has {len(called)}")
    cases = [
        {"name": name, "x": [None if np.isnan(v) else v for v in x]}
        for name, x in zip(called, values, strict=True)
    ]
    return ModelWidget(module=as_javascript(evaluator), cases=cases)
