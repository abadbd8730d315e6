"""Smallest changes by brute force: every cell, in every combination of columns."""

from itertools import product

import numpy as np

from rebelboost import RebelClassifier, Stump, Tree

NAMES = ("a", "b", "c", "d")


def table(rng, n_samples=60):
    """Numbers with few and with many digits, whole numbers, categories, and some missing values."""
    X = np.column_stack(
        [
            rng.normal(size=n_samples),
            np.round(rng.normal(size=n_samples), 1),
            rng.integers(0, 9, n_samples).astype(float),
            rng.integers(0, 4, n_samples).astype(float),
        ]
    )
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[:, 3] = np.nan_to_num(X[:, 3])
    return X


def random_model(seed, n_rows=60):
    """A small classifier of trees: two to four classes, any costs, some that abstain."""
    rng = np.random.default_rng(seed)
    X, n_classes = table(rng), int(rng.integers(2, 5))
    y = rng.integers(0, n_classes, len(X))
    y = np.where(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) / 4 > 1.5, 0, y)
    y[:n_classes] = np.arange(n_classes)
    costs = rng.uniform(0.2, 3, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    depth = int(rng.integers(1, 4))
    learner = rng.choice(
        [
            Stump(categorical=[3]),
            Tree(depth=depth, categorical=[3]),
            Tree(depth=depth, categorical=[3], outputs="tree"),
        ]
    )
    options = {"n_rounds": int(rng.integers(1, 7)), "cross_fit": None}
    if rng.random() < 0.7:
        options["costs"] = costs
        # Probabilities of models that are trained on costs take long.
        options["training"] = "neutral" if rng.random() < 0.85 else "costs"
    if rng.random() < 0.3:
        options |= {"reject_cost": float(rng.uniform(0.1, 1)), "reject_label": -1}
    return RebelClassifier(learner, **options).fit(X, y), table(rng, n_rows)


class EveryCell:
    """The decisions of a model on all combinations of thresholds, whole numbers, categories and no value."""

    def __init__(self, clf):
        self.spreads, self.levels = clf.model_.provenance.spreads, clf.model_.encoder.levels
        self.values = [self._values(clf, f) for f in range(len(NAMES))]
        every = np.array(list(product(*self.values)))
        self.decisions = clf.predict(every).reshape([len(own) for own in self.values])

    def _values(self, clf, feature):
        if feature in self.levels:
            return np.arange(len(self.levels[feature]), dtype=float)
        if self.spreads.whole[feature]:
            return np.append(np.arange(-1.0, 11.0), np.nan)  # beyond all that occur
        found = [np.empty(0)]
        found += [t.thresholds[(t.features == feature) & (t.category < 0)] for t in clf.ensemble_]
        ends = np.unique(np.concatenate(found))
        ends = ends[np.isfinite(ends)]
        return np.concatenate([ends, [ends.max(initial=0.0) + 1, np.nan]])

    def _distances(self, feature, now):
        """How far each value's cell is, and which of them is the present one."""
        values = self.values[feature]
        if feature in self.levels:
            return (values != now).astype(float), int(now)
        if np.isnan(now):
            return np.append(np.ones(len(values) - 1), 0.0), len(values) - 1
        if self.spreads.whole[feature]:
            own, far = int(now) + 1, np.abs(values - now)
        else:
            ends = values[:-2]
            own = int(np.searchsorted(ends, now))
            above = np.nextafter(ends, np.inf) - now
            far = np.concatenate([now - ends[:own], [0.0], above[own:], [np.inf]])
        far[-1] = np.inf  # values do not become missing
        return far / self.spreads.sizes[feature], own

    def smallest(self, x, wanted, free, most):
        """The distance of the nearest change of up to so many columns; infinite if there is none."""
        far, changed = np.zeros(self.decisions.shape), np.zeros(self.decisions.shape, dtype=int)
        for feature, now in enumerate(x):
            own_far, own = self._distances(feature, now)
            along = [1] * len(x)
            along[feature] = -1
            moves = np.arange(len(own_far)) != own
            own_far = own_far if feature in free else np.where(moves, np.inf, 0.0)
            far, changed = far + own_far.reshape(along), changed + moves.reshape(along)
        hits = np.isin(self.decisions, wanted) & (changed <= most)
        return float(far[hits].min(initial=np.inf))


def disagreements(clf, every, X, most, fixed=()):
    """For each row, what is wrong with the changes that are found; None: nothing."""
    names = [f"x{f}" for f in range(X.shape[1])]
    free = [f for f, name in enumerate(names) if name not in fixed]
    found, now = clf.smallest_changes(X, fixed=fixed, columns=most), clf.predict(X)
    moved = []
    for x, changes in zip(X, found, strict=True):
        for change in changes:
            moved.append(x.copy())
            for each in change.columns:
                moved[-1][names.index(each.column)] = each.after
    reached = iter(clf.predict(np.array(moved)) if moved else [])
    for x, label, changes in zip(X, now, found, strict=True):
        wrong = None
        for change in changes:
            if next(reached) != change.decision or change.decision == label:
                wrong = f"{change.text} does not lead to {change.decision}"
        distance = changes[-1].distance if changes else np.inf
        expected = every.smallest(x, [k for k in clf.classes_ if k != label], free, most)
        # The values beside thresholds are one unit in the last place away from them.
        if not np.isclose(distance, expected, rtol=1e-9, atol=1e-12):
            wrong = f"distance {distance}, by brute force {expected}: {changes}"
        yield wrong
