"""Numbers as text."""

import math


def percent(value: float) -> str:
    """One digit after the point."""
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def number(value: float) -> str:
    """Four digits, or all of those before the point."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"
