"""Warnings that point to the user's line of code."""

import inspect
import warnings


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the location of the first caller outside this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals["__name__"].startswith("rebelboost."):
        if frame.f_back is None:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
