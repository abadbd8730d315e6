"""Exact thresholds: the compiled search of a feature equals the reference, and trying all of them."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels import builders, calls
from rebelboost.base.arrays import RootTotals
from rebelboost.base.fixed_point import root_losses
from rebelboost.kernels import reference

classes = st.integers(1, 4)


def random_case(rng, n_samples, n_classes, second_order):
    """Few distinct values, so that there are ties; some samples without a value, or without weight."""
    x = rng.integers(0, rng.integers(2, 40), n_samples).astype(np.float64)
    x[rng.random(n_samples) < rng.choice([0, 0.2])] = np.nan
    order = np.argsort(x, kind="stable")[: np.count_nonzero(~np.isnan(x))].astype(np.int32)
    cuts = np.flatnonzero(x[order[1:]] > x[order[:-1]])
    values = rng.integers(-(2**30) // n_samples, 2**30 // n_samples, (n_samples, n_classes))
    values[rng.random(n_samples) < 0.2] = 0
    if n_classes == 2 and rng.random() < 0.5:
        values[:, 1] = -values[:, 0]
    total = values.sum(axis=0)
    mass = np.abs(values).sum(axis=0)
    return order, cuts, values.astype(np.int32), RootTotals(mass, total, second_order)


@given(builders.rngs, builders.n_samples, classes, st.booleans())
def test_compiled_exact_cuts_equal_reference(compiled, rng, n_samples, n_classes, second_order):
    case = random_case(rng, n_samples, n_classes, second_order)
    found = calls.exact_cut(reference, *case)
    assert calls.exact_cut(compiled, *case) == found
    for least in (found[2], np.nextafter(found[2], np.inf)):  # only what is below is taken
        assert calls.exact_cut(compiled, *case, least) == calls.exact_cut(reference, *case, least)


@given(builders.rngs, st.integers(2, 12), classes, st.booleans())
def test_no_exact_cut_has_a_lower_loss(either, rng, n_samples, n_classes, second_order):
    order, cuts, values, totals = random_case(rng, n_samples, n_classes, second_order)
    place, missing_right, loss = calls.exact_cut(either, order, cuts, values, totals)
    left = np.zeros(n_samples, dtype=bool)
    without = np.setdiff1d(np.arange(n_samples), order)
    losses = {}
    ends = [*cuts.tolist(), len(order) - 1] if len(order) else []
    for right, end in itertools.product((False, True), ends):
        if (len(without) == 0 and right) or (not right and end not in cuts):
            continue
        left[:] = False
        left[order[: end + 1]] = True
        left[without] = not right
        side = values[left].sum(axis=0, dtype=np.int64)[np.newaxis]
        losses[end, right] = float(root_losses(totals, side)[0])
    assert (place < 0) == (not losses)
    if losses:
        assert loss == min(losses.values()) == losses[place, missing_right]
