"""The hot loops, in two versions: compiled from ``cpp/``, and in NumPy.

`reference` and `compiled` have the same functions and give the same integers. `compiled` is None if
the extension was not built. The package calls ``kernels.active.name(...)``. The environment variable
``REBELBOOST_KERNELS`` (``compiled`` or ``reference``) selects one; `using` selects one temporarily.
"""

import importlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from rebelboost.exceptions import SlowKernelsWarning

__all__ = ["active", "compiled", "reference", "using"]

VARIABLE = "REBELBOOST_KERNELS"
REMEDY = (
    "To get the compiled ones, install a C++20 compiler (GCC 11, clang 14 or newer) and then "
    "install rebelboost again with pip's --force-reinstall --no-cache-dir"
)


def _load_compiled() -> ModuleType | None:
    try:
        return importlib.import_module("rebelboost.kernels._compiled")
    except ModuleNotFoundError:
        return None


def _by_name(name: str) -> ModuleType:
    if name == "reference":
        return importlib.import_module("rebelboost.kernels.reference")
    if name != "compiled":
        raise ValueError(f"{VARIABLE} is {name!r}; it may be 'compiled' or 'reference'")
    if compiled is None:
        raise ImportError(f"rebelboost has no compiled kernels here. {REMEDY}")
    return compiled


def _choose() -> ModuleType:
    name = os.environ.get(VARIABLE)
    if name:
        return _by_name(name)
    if compiled is None:
        warnings.warn(
            f"rebelboost runs on its NumPy kernels, which are slow. {REMEDY}. "
            f"{VARIABLE}=reference silences this warning",
            SlowKernelsWarning,
            stacklevel=2,
        )
        return _by_name("reference")
    return compiled


def __getattr__(name: str) -> ModuleType:
    """Load `reference` on first use: with compiled kernels, it is usually not needed."""
    if name == "reference":
        return _by_name(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


compiled = _load_compiled()

if TYPE_CHECKING:
    from rebelboost.kernels import reference as active  # the same functions, with types
else:
    active = _choose()


@contextmanager
def using(name: str) -> Iterator[None]:
    """Make ``"compiled"`` or ``"reference"`` the active kernels of this process, then restore them."""
    global active  # noqa: PLW0603  (the one switch of the package, for tests and benchmarks)
    before = active
    active = _by_name(name)
    try:
        yield
    finally:
        active = before
