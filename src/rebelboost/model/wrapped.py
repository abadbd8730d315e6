"""Wrapped classifiers of other libraries as terms, with responses ±1."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Ints, Outputs, Regions, Scores, Values
from rebelboost.base.fixed_point import is_multiple, rounded
from rebelboost.model.terms import Queries, Terms

SIGNS = np.array([1, -1], dtype=np.int8)
"""Responses of the two regions: where the classifier predicts +1, and elsewhere."""
SIGNS.flags.writeable = False


class Responder:
    """A fitted classifier of labels ±1, and the features it was fitted on."""

    def __init__(self, estimator: Any, features: NDArray[np.int32], n_features: int) -> None:
        self.estimator = estimator
        self.features = features
        self.n_features = n_features

    def chosen(self, X: Values) -> Values:
        """The columns that the classifier was fitted on."""
        return X if len(self.features) == self.n_features else X[:, self.features]

    def regions(self, X: Values) -> Regions:
        """(N,) 0 where the prediction is positive, else 1."""
        return (~(self.estimator.predict(self.chosen(X)) > 0)).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class Wrapped(Terms):
    """Fitted classifiers, each with an output vector that is multiplied by its response ±1."""

    responders: tuple[Responder, ...]
    outputs: Outputs
    """(T, 2, K) contributions of the two regions to the scores."""

    @classmethod
    def one(cls, responder: Responder, outputs: Outputs) -> "Wrapped":
        """One classifier, with the (2, K) outputs of its regions."""
        return cls((responder,), outputs[np.newaxis])

    def __len__(self) -> int:
        return len(self.responders)

    @classmethod
    def joined(cls, parts: Sequence["Wrapped"]) -> "Wrapped":
        """All classifiers of the parts."""
        responders = tuple(responder for part in parts for responder in part.responders)
        return cls(responders, np.concatenate([part.outputs for part in parts]))

    def take(self, chosen: Ints) -> "Wrapped":
        """Select classifiers."""
        return Wrapped(tuple(self.responders[t] for t in chosen.tolist()), self.outputs[chosen])

    def add_scores(
        self, queries: Queries, scores: Scores, first: int, last: int, n_threads: int
    ) -> None:
        """Add the outputs of classifiers [first, last). They manage their own threads."""
        del n_threads
        for t in range(first, last):
            scores += self.outputs[t][self.responders[t].regions(queries.X)]

    @property
    def bound(self) -> float:
        """Limit of the absolute scores that the classifiers add up to."""
        return float(np.abs(self.outputs).max(axis=(1, 2), initial=0.0).sum())

    def fits(self, unit: float) -> bool:
        """Whether all outputs are multiples of `unit`."""
        return is_multiple(self.outputs, unit)

    def on_grid(self, unit: float) -> "Wrapped":
        """The same classifiers with outputs rounded to multiples of `unit`."""
        return replace(self, outputs=rounded(self.outputs, unit))

    @property
    def responses(self) -> NDArray[np.int8]:
        """(2,) f of the two regions."""
        return SIGNS

    @property
    def by_region(self) -> Outputs:
        """(2, K)."""
        by_region: Outputs = self.outputs[0]
        return by_region

    def regions(self, queries: Queries, n_threads: int = 1) -> Regions:
        """(N,) 0 where the response is +1, else 1."""
        del n_threads
        return self.responders[0].regions(queries.X)

    @property
    def used_features(self) -> NDArray[np.int32]:
        """The features that the classifier was fitted on."""
        return self.responders[0].features

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Name of the classifier's class."""
        del names
        return str(type(self.responders[0].estimator).__name__)
