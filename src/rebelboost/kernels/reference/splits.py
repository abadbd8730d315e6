"""One feature's bins → its best split of a node.

The criteria use x · log₂ x, computed from + − × / and a table, so that the bits are the same here and
in C++: math libraries round logarithms differently.
"""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import (
    CRITERIA,
    Bins,
    ByFeature,
    Bytes,
    Floats,
    Ints,
    SearchOptions,
    Splits,
)
from rebelboost.kernels.reference.sums import mass_of, signed_of

SIZE = 256
TWO_OVER_LN2 = 2.8853900817779268


def _middles(i: Floats) -> Floats:
    """Middles of [1 + i/256, 1 + (i + 1)/256)."""
    return 1 + (i + 0.5) / SIZE


def _log_table() -> Floats:
    """log₂ c = 2 artanh((c − 1)/(c + 1)) / ln 2."""
    c = _middles(np.arange(SIZE, dtype=np.float64))
    z = (c - 1) / (c + 1)
    total = np.zeros(SIZE)
    for k in range(41, 0, -2):
        total = total * (z * z) + 1.0 / k
    return TWO_OVER_LN2 * (z * total)


LOG_TABLE = _log_table()


def times_log2(x: Floats) -> Floats:
    """Return x · log₂ x for x ≥ 0; 0 at 0."""
    mantissa, exponent = np.frexp(np.where(x > 0, x, 1.0))
    twice = 2 * mantissa
    i = ((twice - 1) * SIZE).astype(np.int64)
    c = _middles(i.astype(np.float64))
    z = (twice - c) / (twice + c)
    fine = TWO_OVER_LN2 * (z * (1 + (z * z) * (1.0 / 3 + (z * z) / 5)))
    log = (exponent - 1) + (LOG_TABLE[i] + fine)
    return np.where(x > 0, x * log, 0.0)


def threshold_tables(sums: Ints) -> Bytes:
    """Thresholds in order with missing values left, then, if there are any, with them right.

    Only after non-empty bins: one after an empty bin has the value of the one before it.
    """
    bins = np.arange(len(sums))
    filled = np.flatnonzero(sums[:-1].reshape(len(sums) - 1, -1).any(axis=1))
    after = (bins > filled[:, np.newaxis]).astype(np.uint8)
    missing_left = after[:-1].copy()
    missing_left[:, -1] = 0
    return np.concatenate([missing_left, after]) if sums[-1].any() else missing_left


def write_best(
    bins: Bins,
    allowed: ByFeature,
    sums: Ints,
    total: tuple[int, int],
    options: SearchOptions,
    splits: Splits,
    node: int,
) -> None:
    """Write the best split of a node, or that none gains enough; `total` is (pair sum, samples)."""
    whole, n_samples = total
    best_value, best_table, best_left, best_feature = -1.0, None, 0, -1
    divisible = n_samples >= 2 and mass_of(whole) >= 2 * options.least_mass
    for f in np.flatnonzero(allowed) if divisible else []:
        own = sums[bins.offsets[f] : bins.offsets[f + 1]]
        tables = _ordered_tables(own) if bins.categorical[f] else threshold_tables(own)
        if len(tables) == 0:
            continue
        left = (1 - tables.astype(np.int64)) @ own
        worth = _worth(left, whole, options)
        first = int(np.argmax(worth))
        if worth[first] > best_value:
            best_value, best_table, best_left = worth[first], tables[first].copy(), int(left[first])
            best_feature = int(f)
    gain = _gain(best_value, whole, options) if best_table is not None else 0.0
    splits.right[node] = 0
    if best_table is None or not gain > options.least_gain:
        splits.features[node], splits.gains[node] = -1, 0.0
        splits.sides[node] = whole, 0
        return
    own = sums[bins.offsets[best_feature] : bins.offsets[best_feature + 1]]
    mostly_right = mass_of(whole - best_left) > mass_of(best_left)
    if bins.categorical[best_feature]:
        best_table[mass_of(own) == 0] = mostly_right
    elif own[-1] == 0:
        best_table[-1] = mostly_right
    splits.right[node, : len(own)] = best_table
    splits.features[node], splits.gains[node] = best_feature, gain
    splits.sides[node] = best_left, whole - best_left


def _ordered_tables(sums: Ints) -> Bytes:
    """Non-empty categories by ascending P/M, and the thresholds between them.

    For `variance` and `error`, the best of all subsets is among these.
    """
    mass, signed = mass_of(sums).tolist(), signed_of(sums).tolist()
    keys = [_Ratio(s, m) for s, m in zip(signed, mass, strict=True)]
    order = sorted(np.flatnonzero(sums).tolist(), key=keys.__getitem__)
    tables = np.zeros((max(0, len(order) - 1), len(sums)), dtype=np.uint8)
    for i, table in enumerate(tables):
        table[order[i + 1 :]] = 1
    return tables


class _Ratio(NamedTuple):
    """P/M, compared exactly by cross-multiplying integers."""

    signed: int
    mass: int

    def __lt__(self, other: tuple[int, ...]) -> bool:
        signed, mass = other
        if self.mass == 0 or mass == 0:
            return self.mass < mass
        return self.signed * mass < signed * self.mass


def _worth(left: Ints, total: int, options: SearchOptions) -> Floats:
    """Value the splits of a node (P, M) into left sides (p, m) and right sides (q, r).

    For `variance`, M·(p²/m + q²/r − P²/M) = (p·r − q·m)²/(m·r).
    """
    P, M = float(signed_of(total)), float(mass_of(total))
    p, m = signed_of(left).astype(np.float64), mass_of(left).astype(np.float64)
    r = M - m
    if options.criterion == CRITERIA["variance"]:
        apart = p * r - (P - p) * m
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = apart * apart / (m * r)
    elif options.criterion == CRITERIA["error"]:
        worth = np.abs(p) + np.abs(P - p)
    else:
        worth = _information(p, m) + _information(P - p, r)
        if options.criterion == CRITERIA["gain_ratio"]:
            whole = _information(np.array(P), np.array(M))
            parted = times_log2(np.array(M)) - (times_log2(m) + times_log2(r))
            gained = worth - whole
            worth = np.divide(gained, parted, out=np.zeros_like(parted), where=parted > 0)
        worth = np.maximum(0.0, worth)
    return np.where((m >= options.least_mass) & (r >= options.least_mass), worth, -1.0)


def _information(p: Floats, m: Floats) -> Floats:
    """M·(1 − H) of a side: 0 where labels are even, M where they are all the same."""
    plus, minus = 0.5 * np.maximum(0.0, m + p), 0.5 * np.maximum(0.0, m - p)
    return m + ((times_log2(plus) + times_log2(minus)) - times_log2(m))


def _gain(worth: float, total: int, options: SearchOptions) -> float:
    """The value of a split minus that of the undivided node."""
    P, M = float(signed_of(total)), float(mass_of(total))
    if options.criterion == CRITERIA["variance"]:
        return worth / M
    if options.criterion == CRITERIA["gain_ratio"]:
        return worth
    if options.criterion == CRITERIA["error"]:
        return worth - abs(P)
    return worth - max(0.0, float(_information(np.array(P), np.array(M))))
