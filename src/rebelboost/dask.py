"""Estimators for rows that are spread over the workers of a Dask cluster (``pip install rebelboost[dask]``).

A fit gives the model that the ordinary estimator gives with all rows in one place, to the last bit, for any
number of workers and any division of the rows. A lost worker changes nothing but the time.
"""

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

try:
    from rebelboost.rows.cluster import ClusterRows
except ModuleNotFoundError as error:
    raise ImportError(
        f"rebelboost.dask needs {error.name}: pip install 'rebelboost[dask]'"
    ) from error
from rebelboost.distributed.collections import by_block, delayed_parts
from rebelboost.distributed.training import GivenRows, fit_rows
from rebelboost.estimators.classifier import RebelClassifier as LocalClassifier
from rebelboost.estimators.regressor import RebelRegressor as LocalRegressor

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["RebelClassifier", "RebelRegressor"]

Local = TypeVar("Local", LocalClassifier, LocalRegressor)


class _OnCluster(Generic[Local]):
    """Holds an ordinary estimator, and fits a copy of it on a cluster."""

    estimator: Local
    client: "Client | None"

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        costs: Any,
        validation: tuple[Any, Any] | None,
    ) -> Self:
        from distributed import get_client

        client = get_client() if self.client is None else self.client
        rows = client.compute(delayed_parts(X, y, sample_weight, costs))
        spread = ClusterRows(client, rows)
        given = GivenRows(spread, sample_weight is not None, costs is not None)
        try:
            own = type(self.estimator)(**self.estimator.get_params(deep=False))
            self.estimator_ = fit_rows(own, given, validation)
        finally:
            spread.close()
        self.n_remade_ = spread.n_remade
        return self

    def to_local(self) -> Local:
        """Return the fitted model as an ordinary estimator: to explain, save, export or evaluate it."""
        if not hasattr(self, "estimator_"):
            raise AttributeError("the estimator is not fitted yet: call fit first")
        return self.estimator_

    def predict(self, X: Any) -> Any:
        """Predict each sample's class or target, lazily, block by block."""
        return by_block(self.to_local(), "predict", X)


class RebelClassifier(_OnCluster[LocalClassifier]):
    """Fit a `rebelboost.RebelClassifier` on a Dask cluster.

    Parameters
    ----------
    estimator : rebelboost.RebelClassifier, default=None
        The classifier to fit, with its parameters. On spread rows there is one fit, without
        cross-fitting; the documentation page "From a laptop to a cluster" says which learners there are.
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
        return self._fit(X, y, sample_weight, costs, validation)

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, (N, K), lazily, block by block."""
        return by_block(self.to_local(), "predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Scores, lazily, block by block; as `rebelboost.RebelClassifier.decision_function`."""
        return by_block(self.to_local(), "decision_function", X)


class RebelRegressor(_OnCluster[LocalRegressor]):
    """Fit a `rebelboost.RebelRegressor` on a Dask cluster.

    Parameters
    ----------
    estimator : rebelboost.RebelRegressor, default=None
        The regressor to fit, with its parameters. On spread rows there is one fit, without
        cross-fitting. With learner="auto", candidates are compared and prediction intervals learned on a
        sample of the rows, and the best candidate is fitted to all rows.
    client : distributed.Client, default=None
        Client of the cluster; by default the current one.

    Attributes
    ----------
    estimator_ : rebelboost.RebelRegressor
        The fitted regressor.
    n_remade_ : int
        How often a partition was made again, because its worker was lost.
    """

    def __init__(
        self, estimator: LocalRegressor | None = None, *, client: "Client | None" = None
    ) -> None:
        self.estimator = LocalRegressor() if estimator is None else estimator
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Dask array, Dask data frame, list of delayed parts, or paths
            Training samples; see `RebelClassifier.fit`.
        y : Dask array or series, list of delayed parts, or str
            Target values, divided like X; or the name of a column of X.
        sample_weight : Dask array or series, list of delayed parts, or str, default=None
            Sample weights; or the name of a column, if y is one.
        validation : tuple (X, y), default=None
            Samples in memory to evaluate after each round, for early stopping.

        Returns
        -------
        RebelRegressor : the fitted regressor itself.
        """
        return self._fit(X, y, sample_weight, None, validation)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Prediction intervals, (N, 2), lazily; as `rebelboost.RebelRegressor.predict_interval`."""
        return by_block(self.to_local(), "predict_interval", X, coverage=coverage)
