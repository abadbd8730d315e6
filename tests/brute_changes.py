"""Smallest changes by brute force: every value beside a threshold, in every combination of columns."""

from itertools import combinations, product

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


def random_model(seed):
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
    if rng.random() < 0.3:
        options |= {"reject_cost": float(rng.uniform(0.1, 1)), "reject_label": -1}
    return RebelClassifier(learner, **options).fit(X, y), table(rng)


def candidates(clf, x, feature):
    """Values of a column, and how far they are: beside each threshold, each whole number, each category."""
    spreads, now = clf.model_.provenance.spreads, x[feature]
    levels = clf.model_.encoder.levels
    if feature in levels:
        values = np.arange(len(levels[feature]), dtype=float)
        return values, (values != now).astype(float)
    thresholds = np.concatenate(
        [np.empty(0)]
        + [term.thresholds[(term.features == feature) & (term.category < 0)] for term in clf.ensemble_]
    )  # fmt: skip
    thresholds = np.unique(thresholds[np.isfinite(thresholds)])
    if spreads.whole[feature]:
        low, high = (thresholds.min(), thresholds.max()) if len(thresholds) else (0, 0)
        values = np.arange(np.floor(low) - 1, np.ceil(high) + 2)
    else:
        values = np.concatenate([thresholds, np.nextafter(thresholds, np.inf)])
    if np.isnan(now):
        far = np.ones(len(values))
    else:
        values = np.append(values, now)
        far = np.abs(values - now) / spreads.sizes[feature]
    return values, far


def smallest(clf, x, wanted, free, most):
    """The distance of the nearest change of up to so many columns; infinite if there is none."""
    best, known = np.inf, {f: candidates(clf, x, f) for f in free}
    for size in range(1, most + 1):
        for group in combinations(free, size):
            values = np.array(list(product(*(known[f][0] for f in group))))
            if len(values) == 0:
                continue
            far = np.array(list(product(*(known[f][1] for f in group)))).sum(axis=1)
            samples = np.tile(x, (len(values), 1))
            samples[:, group] = values
            hits = np.isin(clf.predict(samples), wanted)
            if hits.any():
                best = min(best, float(far[hits].min()))
    return best


def disagreement(clf, x, most, fixed=()):
    """What is wrong with the changes that are found for a row; None: nothing."""
    now = clf.predict(x[np.newaxis])[0]
    wanted = [label for label in clf.classes_ if label != now]
    names = [f"x{f}" for f in range(len(x))]
    free = [f for f, name in enumerate(names) if name not in fixed]
    (found,) = clf.smallest_changes(x[np.newaxis], fixed=fixed, columns=most)
    for change in found:
        moved = x.copy()
        for each in change.columns:
            moved[names.index(each.column)] = each.after
        if clf.predict(moved[np.newaxis])[0] != change.decision or change.decision not in wanted:
            return f"{change.text} does not lead to {change.decision}"
    distance = found[-1].distance if found else np.inf
    expected = smallest(clf, x, wanted, free, most)
    # The values beside thresholds are one unit in the last place away from them.
    if not np.isclose(distance, expected, rtol=1e-9, atol=1e-12):
        return f"distance {distance}, by brute force {expected}: {found}"
    return None
