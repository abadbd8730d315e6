"""exp and log from + − × / and powers of two: libraries round them differently."""

import struct

import numpy as np

from rebelboost.export.onnx.graph import Graph, Value
from rebelboost.kernels.reference.elementary import INVERSE_FACTORIALS

ROUND_MAGIC = 6755399441055744.0
"""1.5 · 2⁵²"""
LN2_HIGH, LN2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
LOG2_E = float.fromhex("0x1.71547652b82fep0")
(ROOT_HALF,) = struct.unpack(">d", bytes.fromhex("3FE6A09E667F3BCD"))
LARGEST_POWER = 600
EXPONENTS = (512, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)


def exponential(graph: Graph, x: Value) -> Value:
    """Exp of every element."""
    inside = x.clipped(800.0)
    n = (inside * LOG2_E + ROUND_MAGIC) - ROUND_MAGIC
    r = (inside - n * LN2_HIGH) - n * LN2_LOW
    series = r * INVERSE_FACTORIALS[11] + INVERSE_FACTORIALS[10]
    for factor in INVERSE_FACTORIALS[9::-1]:
        series = series * r + factor
    y = (r + (r * r) * series) + 1.0
    half = (n * 0.5).nearest()
    return y * _power_of_two(graph, half) * _power_of_two(graph, n - half)


def _power_of_two(graph: Graph, n: Value) -> Value:
    powers = np.ldexp(1.0, np.arange(-LARGEST_POWER, LARGEST_POWER + 1))
    return graph.constant(powers).take(n.cast(np.int64) + np.int64(LARGEST_POWER), 0)


def logarithm(graph: Graph, x: Value) -> Value:
    """Log of every element: −∞ of 0, and NaN of negative ones."""
    m, n = x, x * 0.0
    for e in EXPONENTS:
        low, high = m < float(np.ldexp(ROOT_HALF, 1 - e)), m >= float(np.ldexp(ROOT_HALF, e))
        scaled = graph.where(low, m * float(np.ldexp(1.0, e)), m * float(np.ldexp(1.0, -e)))
        moved = graph.where(low, n - float(e), n + float(e))
        m, n = graph.where(low | high, scaled, m), graph.where(low | high, moved, n)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    series = z * (2.0 / 23) + 2.0 / 21
    for k in range(9, 0, -1):
        series = series * z + 2.0 / (2 * k + 1)
    y = n * LN2_HIGH + (f - (s * (f - z * series) - n * LN2_LOW))
    y = graph.where(x > 0.0, y, graph.where(x.equals(0.0), -np.inf, np.nan))
    return graph.where(x.equals(np.inf), np.inf, y)
