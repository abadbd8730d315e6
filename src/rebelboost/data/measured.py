"""Distances that are not Euclidean: by a metric of SciPy or the user's function, or given as values."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Distances, Floats, Indices, Values
from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.base.fixed_point import exact_gram, exact_mean
from rebelboost.exceptions import ModelFileError

METRIC, PRECOMPUTED = "metric", "precomputed"
"""Kinds of spaces in a model file."""
VARIANCES = {"seuclidean", "se", "s"}
"""SciPy's names of the metric that divides by the variance of each feature."""
COVARIANCES = {"mahalanobis", "mahal", "mah"}
"""SciPy's names of the metric that needs the inverse covariance of the features."""
UNEVEN = 1e-9
"""Relative rounding error of a matrix that is symmetric without negative eigenvalues."""

Tensors = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays by name, and a JSON object."""


class Measured(NamedTuple):
    """Squared distances by a function of two samples, or by the name of a SciPy metric."""

    metric: str | Callable[[Floats, Floats], float]
    parameter: Floats | None = None
    """(d,) variances or (d, d) inverse covariance of the training samples, if the metric needs them.

    SciPy would compute them from the samples of each call.
    """

    def place(self, X: Values) -> Values:
        """Return the values unchanged."""
        return X

    def lay_out(self, placed: Values) -> Values:
        """Return the values unchanged."""
        return placed

    def keep(self, placed: Values) -> Values:
        """The whole samples."""
        return placed

    def distances(self, laid: Values, points: Values, rows: Indices, n_threads: int) -> Distances:
        """(m, N) squared distances."""
        from scipy.spatial.distance import cdist  # slow to import, and rarely needed

        del rows, n_threads
        if self.metric in VARIANCES:
            return checked(cdist(points, laid, self.metric, V=self.parameter))
        if self.metric in COVARIANCES:
            with np.errstate(invalid="ignore"):
                found = cdist(points, laid, self.metric, VI=self.parameter)
            # A square that rounding makes negative is one of 0.
            return checked(np.nan_to_num(found, nan=0.0, posinf=np.inf))
        return checked(cdist(points, laid, self.metric))

    def to_tensors(self, points: NDArray[Any]) -> Tensors:
        """The points, and the name of the metric. A function cannot be stored."""
        if not isinstance(self.metric, str):
            name = getattr(self.metric, "__name__", type(self).__name__)
            raise ModelFileError(
                f"the metric is the function {name}, which a model file cannot store: train on "
                "precomputed distances with Similarity(metric='precomputed'), use the name of a SciPy "
                "metric, or save the model with pickle"
            )
        fields = {"kind": METRIC, "metric": self.metric, "type": str(points.dtype)}
        own = {} if self.parameter is None else {"parameter": self.parameter}
        return {"points": points, **own}, fields


def fit_measured(metric: str | Callable[..., float], X: Values, weight: Floats) -> Measured:
    """The metric, with what it needs to know of the training samples."""
    if metric not in VARIANCES | COVARIANCES:
        return Measured(metric)
    share = weight / (float(exact_mean(weight[:, np.newaxis])[0]) * len(weight))
    centred = X.astype(np.float64) - exact_mean(X, weight)
    covariance = exact_gram(centred * np.sqrt(share)[:, np.newaxis])
    if metric in VARIANCES:
        variance = covariance.diagonal()
        return Measured(metric, np.where(variance > 0, variance, 1.0))
    inverse = np.linalg.pinv(covariance, hermitian=True)
    return Measured(metric, (inverse + inverse.T) / 2)


class Precomputed:
    """Squared distances given as values: a column for each sample of the training table."""

    def place(self, X: Values) -> Values:
        """Return the values unchanged."""
        return X

    def lay_out(self, placed: Values) -> Values:
        """Return the values unchanged."""
        return placed

    def keep(self, placed: Values) -> Values:
        """Nothing: the row number of a sample is its column."""
        return placed[:, :0]

    def distances(self, laid: Values, points: Values, rows: Indices, n_threads: int) -> Distances:
        """(m, N) squared distances."""
        del points, n_threads
        return checked(laid[:, rows].T)

    def to_tensors(self, points: NDArray[Any]) -> Tensors:
        """Nothing but the kind."""
        del points
        return {}, {"kind": PRECOMPUTED}


def checked(distances: Values) -> Distances:
    """Raise an error unless all distances are numbers of 0 or more."""
    if not (distances >= 0).all():  # NaN too
        worst = distances[~(distances >= 0)][0]
        if np.isnan(worst):
            raise ValueError("a squared distance is NaN: give numbers of 0 or more")
        raise ValueError(
            f"Negative values in data: a squared distance is {worst:g}; give numbers of 0 or more"
        )
    return np.ascontiguousarray(distances, dtype=np.float32)


# ---- from a file


def take_measured(reader: TensorReader, name: str, fields: Fields, n_features: int) -> Measured:
    """Read a metric."""
    from scipy.spatial.distance import cdist  # slow to import, and rarely needed

    metric = fields.any("metric")
    require(isinstance(metric, str), "a metric that is not a name")
    if metric in VARIANCES:
        variances = reader.numbers(f"{name}.parameter", n_features)
        require((variances > 0).all(), f"{name} with variances of 0 or less")
        return Measured(metric, variances)
    if metric in COVARIANCES:
        inverse = reader.numbers(f"{name}.parameter", n_features, n_features)
        size = float(np.abs(inverse).max(initial=0.0))
        even = size < 1e300 and (np.abs(inverse - inverse.T) <= UNEVEN * size).all()
        even = even and np.linalg.eigvalsh(inverse).min(initial=0.0) >= -UNEVEN * size
        require(even, f"{name} with an inverse covariance that is none")
        return Measured(metric, inverse)
    try:
        cdist(np.eye(2), np.eye(2), metric)
    except ValueError as error:
        # Some metrics reject two points, but only an unknown name is an error here.
        require(
            "nknown" not in str(error), f"the metric {metric[:40]!r}, which SciPy does not know"
        )
    return Measured(metric)
