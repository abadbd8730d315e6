"""Probabilities as nodes of ONNX: the steps of the C functions, for all rows until each has converged."""

from collections.abc import Sequence

import numpy as np

from rebelboost.costs.posterior import (
    LARGEST_RANGE,
    MOST_IN_LOGS,
    MOST_STEPS,
    SHIFT,
    SOON,
)
from rebelboost.export.decoding import DecoderArrays, MixtureArrays, PerronArrays
from rebelboost.export.onnx.elementary import exponential, logarithm
from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.kernels.elementary import log_of
from rebelboost.kernels.reference.posterior import LEAST
from rebelboost.kernels.reference.posterior import MOST_STEPS as MOST_NEWTON

PRECISION = 1e-12
LARGEST = float(np.finfo(np.float64).max)
TINY = float(np.finfo(np.float64).tiny)
MOST_OF_MIXTURE = 500
LARGEST_MARGIN = 1 - 1e-6

State = Sequence[Value]


def posterior_of(graph: Graph, decoder: DecoderArrays, scores: Value, n_classes: int) -> Value:
    """(N, K) probabilities of (N, K) scores."""
    if n_classes == 1:
        return scores * 0.0 + 1.0
    x = _log_ratios(graph, decoder.loss, scores * decoder.temperature)
    if isinstance(decoder.rest, PerronArrays):
        P = _perron(graph, decoder.rest, x, n_classes)
    else:
        P = _uniform(graph, x, n_classes)
        if isinstance(decoder.rest, MixtureArrays):
            P = _mixture(graph, decoder.rest, P, n_classes)
    if decoder.shift is None:
        return P
    shifted = P * decoder.shift
    return shifted / total(shifted)


def total(x: Value) -> Value:
    """(N, 1) sums over the classes, one after the other."""
    return x.ordered_total(1).new_axis(1)


def product(x: Value, matrix: object) -> Value:
    """(N, M) product with a (K, M) matrix, summed over K, one after the other."""
    return (x.new_axis(2) * matrix).ordered_total(1)


def _log_ratios(graph: Graph, loss: str, scores: Value) -> Value:
    if loss == "squared":
        inside = scores.clipped(LARGEST_MARGIN)
        return logarithm(graph, inside + 1.0) - logarithm(graph, 1.0 - inside)
    return scores if loss == "logistic" else scores * 2.0


# ---- uniform costs


def _uniform(graph: Graph, x: Value, n_classes: int) -> Value:
    P = _logistic(graph, x, _log_lambda(graph, x, n_classes))
    return P / total(P)


def _logistic(graph: Graph, x: Value, at: Value) -> Value:
    return 1.0 / (exponential(graph, -(x - at)) + 1.0)


def _log_lambda(graph: Graph, x: Value, n_classes: int) -> Value:
    """(N, 1) ln λ, by Newton's method within bounds."""
    if n_classes == 2:
        return (x.take([0], 1) + x.take([1], 1)) / 2.0
    top = x.largest(1)
    best = graph.node("ArgMax", x, axis=1, keepdims=1)
    is_best = best.equals(np.arange(n_classes))
    second = graph.where(is_best, -np.inf, x).largest(1)
    low = graph.larger(top + log_of(LEAST), (top + second) / 2.0)
    high = top + log_of(n_classes - 1.0)

    def newton(inside: Graph, state: State, _: Value) -> tuple[State, Value]:
        below, above, at = state
        P = _logistic(inside, inside.own(x), at)
        excess = total(P) - 1.0
        slope = total(P * (1.0 - P))
        below = inside.where(excess > 0.0, at, below)
        above = inside.where(excess > 0.0, above, at)
        step = at + excess / inside.larger(slope, LEAST)
        fits = (step > below) & (step < above)
        step = inside.where(fits, step, (below + above) / 2.0)
        moves = (step - at).abs() < inside.larger(step.abs(), 1.0) * 1e-14
        return (below, above, step), ~moves

    return graph.loop(MOST_NEWTON, [low, high, low], _everywhere(low), newton)[2]


def _everywhere(like: Value) -> Value:
    """Whether elements are equal to themselves: true for all that are not missing."""
    return like.equals(like)


# ---- the weights of a mixture


def _mixture(graph: Graph, arrays: MixtureArrays, q: Value, n_classes: int) -> Value:
    D, Z, matters, inverse = arrays
    n_mixed = len(Z)
    u = product(q, inverse)
    apart = product(u, D) - q
    far = ~((u >= 0.0).all_along(1) & (apart.abs() <= 1e-9).all_along(1))

    def climb(inside: Graph, state: State, _: Value) -> tuple[State, Value]:
        (u,) = state
        ratio = inside.own(q) / inside.larger(product(u, D), TINY)
        parts = u * product(ratio, np.ascontiguousarray(D.T))
        following = (parts + 1e-3 / n_mixed) / (total(parts) + 1e-3)
        return (following,), (following - u).abs().largest(1) > PRECISION

    even = u * 0.0 + 1.0 / n_mixed
    found = graph.loop(MOST_OF_MIXTURE, [even], far, climb)[0]
    weights = graph.where(far, found, u) / Z
    place = np.full(n_classes, n_mixed)
    place[matters] = np.arange(n_mixed)
    P = graph.joined([weights, weights.take([0], 1) * 0.0], 1).take(place, 1)
    return P / total(P)


# ---- an eigenvector


def _perron(graph: Graph, arrays: PerronArrays, x: Value, n_classes: int) -> Value:
    log_d = x - arrays.log_theta
    wide = (log_d.largest(1) - log_d.least(1)) > LARGEST_RANGE
    near = _iterate(graph, arrays.B, log_d, ~wide, n_classes)
    logs = _iterate_logs(graph, arrays.logs, log_d, wide)
    return graph.smaller(graph.where(wide, logs, near), 1.0)


def _iterate(graph: Graph, B: object, log_d: Value, active: Value, n_classes: int) -> Value:
    half = exponential(graph, (log_d - log_d.largest(1)) / 2.0)
    start = half * 0.0 + 1.0 / total(half)

    def step(inside: Graph, state: State, _: Value) -> tuple[State, Value]:
        (Q, _converged), own = state, inside.own(half)
        following = product(own * Q, B) * own
        size = total(own * following)
        share = inside.where(size > 0.0, following / size, 0.0)
        following = Q * SHIFT + share
        following = following / total(own * following)
        moved = (own * (following - Q)).abs().largest(1)
        goes_on = moved >= PRECISION
        return (following, inside.where(goes_on, 0.0, 1.0)), goes_on

    no = log_d.largest(1) * 0.0
    Q, converged = graph.loop(SOON, [start, no], active, step)
    left = active & (converged < 0.5) & (Q > 0.0).all_along(1)
    return half * _finish(graph, B, half, Q, left, n_classes)


def _finish(graph: Graph, B: object, half: Value, Q: Value, active: Value, n_classes: int) -> Value:
    """Noda's iteration."""
    transposed = np.ascontiguousarray(np.asarray(B).T)
    identity = np.eye(n_classes)

    def step(inside: Graph, state: State, _: Value) -> tuple[State, Value]:
        (Q,), own = state, inside.own(half)
        A = own.new_axis(2) * transposed * own.new_axis(1)
        ratio = (A * Q.new_axis(1)).ordered_total(2) / Q
        most, least = ratio.largest(1), ratio.least(1)
        inside_range = (ratio <= LARGEST).all_along(1)
        close = (most - least) <= most * 1e-13
        shifted = (most * (1 + 1e-14)).new_axis(2) * identity - A
        found = _solved(inside, shifted, Q, n_classes)
        size = total(own * found)
        fine = ((found > 0.0) & (found <= LARGEST)).all_along(1) & (size > 0.0)
        moves = inside_range & ~close & fine
        return (inside.where(moves, found / size, Q),), moves

    return graph.loop(MOST_STEPS, [Q], active, step)[0]


def _solved(graph: Graph, left: Value, right: Value, n: int) -> Value:
    """(N, K) solutions of (N, K, K) systems, by elimination without pivots."""
    place = np.arange(n)
    for k in range(n - 1):
        share = left.take([k], 2) / left.take([k], 1).take([k], 2)  # (N, K, 1)
        below = (place > k)[:, np.newaxis]
        changed = left - share * left.take([k], 1)
        left = graph.where(graph.constant(below & (place > k)), changed, left)
        own = share.take(0, 2) * right.take([k], 1)
        right = graph.where(graph.constant(place > k), right - own, right)
    for k in range(n - 1, -1, -1):
        solved = right.take([k], 1) / left.take([k], 1).take(k, 2)
        rest = right - left.take(k, 2) * solved
        right = graph.where(graph.constant(place == k), solved, right)
        right = graph.where(graph.constant(place < k), rest, right)
    return right


def _log_sum(graph: Graph, x: Value, axis: int) -> Value:
    """Ln Σeˣ along an axis, which is kept."""
    top = x.largest(axis)
    finite = (top >= -LARGEST) & (top <= LARGEST)
    top = graph.where(finite, top, 0.0)
    sums = exponential(graph, x - top).ordered_total(axis).new_axis(axis)
    return top + logarithm(graph, sums)


def _iterate_logs(graph: Graph, logs: object, log_d: Value, active: Value) -> Value:
    start = log_d / 2.0
    start = start - _log_sum(graph, start, 1)

    def step(inside: Graph, state: State, _: Value) -> tuple[State, Value]:
        log_P, _P = state
        terms = log_P.new_axis(2) + logs
        following = inside.own(log_d) + _log_sum(inside, terms, 1).take(0, 1)
        following = following - _log_sum(inside, following, 1)
        both = [value.new_axis(2) for value in (following, log_P + log_of(SHIFT))]
        following = _log_sum(inside, inside.joined(both, 2), 2).take(0, 2)
        following = following - _log_sum(inside, following, 1)
        P = exponential(inside, following)
        moved = (P - exponential(inside, log_P)).abs().largest(1)
        return (following, P), moved >= PRECISION

    return graph.loop(MOST_IN_LOGS, [start, start], active, step)[1]
