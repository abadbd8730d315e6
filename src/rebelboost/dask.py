"""Estimators for rows that are spread over the workers of a Dask cluster (``pip install rebelboost[dask]``).

A fit gives the model that the ordinary estimator gives with all rows in one place, to the last bit, for any
number of workers and any division of the rows. A lost worker changes nothing but the time.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

try:
    from rebelboost.distributed.cluster import OnWorkers
except ModuleNotFoundError as error:
    raise ImportError(
        f"rebelboost.dask needs {error.name}: pip install 'rebelboost[dask]'"
    ) from error
from rebelboost.distributed.collections import delayed_parts
from rebelboost.distributed.training import SpreadInput, fit_spread
from rebelboost.estimators.classifier import RebelClassifier as LocalClassifier

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["RebelClassifier"]


class RebelClassifier:
    """Fit a `rebelboost.RebelClassifier` on a Dask cluster.

    Parameters
    ----------
    estimator : rebelboost.RebelClassifier, default=None
        The classifier to fit, with its parameters. On spread rows, the learner must be trees with leaf
        outputs, which "auto" and "tree" are, and there is one fit, without cross-fitting.
    client : distributed.Client, default=None
        Client of the cluster; by default the current one.

    Attributes
    ----------
    estimator_ : rebelboost.RebelClassifier
        The fitted classifier.
    n_remade_ : int
        How often a partition was made again, because its worker was lost.
    """

    def __init__(
        self, estimator: LocalClassifier | None = None, *, client: "Client | None" = None
    ) -> None:
        self.estimator = LocalClassifier() if estimator is None else estimator
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Dask array, Dask data frame, list of delayed parts, or paths
            Training samples. Paths are files, folders or patterns of Parquet or CSV files, one
            partition each; workers must be able to read them.
        y : Dask array or series, list of delayed parts, or str
            Class labels, divided like X; or the name of a column of X.
        sample_weight : Dask array or series, list of delayed parts, or str, default=None
            Sample weights; or the name of a column, if y is one.
        costs : Dask array, Dask data frame or list of delayed parts, default=None
            A row of costs for each sample, in place of the classifier's cost matrix.
        validation : tuple (X, y), default=None
            Samples in memory to evaluate after each round, for early stopping.

        Returns
        -------
        RebelClassifier : the fitted classifier itself.
        """
        from distributed import get_client

        client = get_client() if self.client is None else self.client
        rows = client.compute(delayed_parts(X, y, sample_weight, costs))
        spread = OnWorkers(client, rows)
        given = SpreadInput(sample_weight is not None, costs is not None, validation)
        try:
            own = type(self.estimator)(**self.estimator.get_params(deep=False))
            self.estimator_ = fit_spread(own, spread, given)
        finally:
            spread.close()
        self.n_remade_ = spread.n_remade
        return self

    def to_local(self) -> LocalClassifier:
        """Return the fitted model as an ordinary classifier: to explain, save, export or evaluate it."""
        if not hasattr(self, "estimator_"):
            raise AttributeError("the classifier is not fitted yet: call fit first")
        return self.estimator_

    def predict(self, X: Any) -> Any:
        """Predict a class for each sample, lazily, block by block."""
        return self._by_block("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, (N, K), lazily, block by block."""
        return self._by_block("predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Scores, lazily, block by block; as `rebelboost.RebelClassifier.decision_function`."""
        return self._by_block("decision_function", X)

    def _by_block(self, method: str, X: Any) -> Any:
        model = self.to_local()
        if not hasattr(X, "to_delayed"):
            raise TypeError(
                f"X is a {type(X).__name__}: use to_local().{method}(X) for rows in memory"
            )
        example = getattr(model, method)(_one_row(X, model))
        wide = example.ndim == 2
        if hasattr(X, "chunks"):
            if X.numblocks[1] > 1:
                X = X.rechunk({1: -1})
            columns = {"chunks": (X.chunks[0], (example.shape[1],))} if wide else {"drop_axis": 1}
            return X.map_blocks(
                _predicted, model, method, dtype=example.dtype, meta=example[:0], **columns
            )
        from dask import array, delayed

        blocks = [
            array.from_delayed(
                delayed(_predicted)(part, model, method),
                (np.nan, *example.shape[1:]),
                dtype=example.dtype,
            )
            for part in X.to_delayed()
        ]
        return array.concatenate(blocks)


def _predicted(block: Any, model: LocalClassifier, method: str) -> Any:
    if len(block) == 0:
        like = getattr(model, method)(_one_row(block, model))
        return like[:0]
    return getattr(model, method)(block)


def _one_row(X: Any, model: LocalClassifier) -> Any:
    """A row of missing values, to see the shape and type of predictions."""
    values = np.full((1, model.n_features_in_), np.nan)
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns"):
        return values
    import pandas as pd

    categorical = model.model_.encoder.categorical
    return pd.DataFrame(
        {name: [None] if categorical[f] else [np.nan] for f, name in enumerate(names)}
    )
