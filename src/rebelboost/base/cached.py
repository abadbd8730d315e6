"""Properties that are computed once.

`functools.cached_property` of Python 3.11 holds a lock for all objects of a class while it computes. A process
that is forked meanwhile by another thread inherits the lock, and nobody is there to release it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  (as in the standard library)
        """A property that is computed once for each object, without a lock; two threads may both compute it."""

        def __init__(self, compute: Any) -> None:
            self.compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, found: Any, owner: type | None = None) -> Any:
            if found is None:
                return self
            kept = found.__dict__
            if self.name not in kept:
                kept[self.name] = self.compute(found)
            return kept[self.name]


__all__ = ["cached_property"]
