"""QUICK's "faulty" pruning, as a baseline: the best of the ten features that did best on 75 % of the mass.

Fast, but not always the best feature, and so not in the package.
"""

from typing import Any

import numpy as np

from rebelboost.base.arrays import Nodes, SearchOptions, Splits, Work
from rebelboost.data.training_set import TrainingSet

MASS = 0.75
BEST = 10


class FaultySet(TrainingSet):
    """A training set whose searches look at ten features of each node only. Two classes."""

    def search_root(self, values: Any, totals: Any, root: Nodes, allowed: Any) -> Any:
        allowed, seen = self._ten_best(values[:, 0].astype(np.int64), root.samples, allowed)
        layer, work = super().search_root(values, totals, root, allowed)
        return layer, _counted(work, seen, root, self.n_features)

    def search_layer(self, values: Any, nodes: Nodes, options: SearchOptions, allowed: Any) -> Any:
        found, total = [], Work()
        for begin, end in zip(nodes.cuts[:, 0], nodes.cuts[:, -1], strict=True):
            samples = np.ascontiguousarray(nodes.samples[begin:end])
            node = Nodes(samples, np.array([[0, len(samples)]], dtype=np.int32))
            ten, seen = self._ten_best(values >> 32, samples, allowed)
            splits, work = super().search_layer(values, node, options, ten)
            found.append(splits)
            total = total.plus(_counted(work, seen, node, self.n_features))
        return Splits(*map(np.concatenate, zip(*found, strict=True))), total

    def _ten_best(self, signed: Any, samples: Any, allowed: Any) -> tuple[Any, int]:
        order = np.argsort(-np.abs(signed[samples]), kind="stable")
        held = np.cumsum(np.abs(signed[samples[order]]))
        heavy = samples[order[: np.searchsorted(held, MASS * held[-1]) + 1 if len(held) else 0]]
        codes = np.concatenate(self.bins.blocks[:, heavy], axis=1)[:, : self.n_features]
        places = codes + self.bins.offsets[:-1]
        weights = np.repeat(signed[heavy], self.n_features)
        sums = np.cumsum(np.bincount(places.ravel(), weights, self.n_bins))
        before = np.append(0, sums)[self.bins.offsets[:-1]]
        left = sums - np.repeat(before, np.diff(self.bins.offsets))
        apart = np.abs(signed[heavy].sum() - 2 * left)
        reach = np.maximum.reduceat(apart, self.bins.offsets[:-1])
        ten = np.zeros_like(allowed)
        ten[np.argsort(-(reach + 1) * allowed, kind="stable")[:BEST]] = 1
        return ten & allowed, len(heavy)


def _counted(work: Work, seen: int, nodes: Nodes, n_features: int) -> Work:
    n_samples = int((nodes.cuts[:, -1] - nodes.cuts[:, 0]).sum())
    return work._replace(visited=work.visited + seen * n_features, possible=n_samples * n_features)
