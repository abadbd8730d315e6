"""Options shared by several learners, and checks of their values."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal, Protocol, Self

import numpy as np

from rebelboost.data.binning import METHODS, MOST_BINS
from rebelboost.learners.pruning import SEARCHES, Schedule, Search, Steps

Binning = Literal["quantile", "even", "exact"]
Categorical = Literal["from_dtype"] | Sequence[int] | Sequence[str] | Sequence[bool]


class SplitOptions(Protocol):
    """Options of a learner that splits on binned features."""

    @property
    def bins(self) -> int:
        """Maximum number of bins of a numeric feature."""

    @property
    def binning(self) -> Binning:
        """Method that chooses the bins."""

    @property
    def categorical(self) -> Categorical:
        """Categorical features."""

    @property
    def search(self) -> Search:
        """Search strategy."""

    @property
    def first_subset(self) -> float:
        """Fraction of the weight in the first subset."""

    @property
    def subset_steps(self) -> Steps:
        """Number of subsets after the first."""


class Parameters:
    """Gives a learner `get_params` and `set_params`, so that searches can vary ``learner__depth``.

    scikit-learn clones a learner before it sets parameters; learners are otherwise immutable.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002  (scikit-learn's)
        """Options by name."""
        del deep
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        """Show the options that are not at their defaults, as scikit-learn's estimators do."""
        usual = {field.name: field.default for field in fields(self)}  # type: ignore[arg-type]
        options = self.get_params().items()
        shown = [f"{name}={value!r}" for name, value in options if not _equal(value, usual[name])]
        return f"{type(self).__name__}({', '.join(shown)})"

    def set_params(self, **options: Any) -> Self:
        """Change options in place, as scikit-learn does; invalid ones raise an error."""
        known = self.get_params()
        for name in options:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no option {name!r}: its options are {', '.join(known)}"
                )
        checked = type(self)(**known | options)
        for name in options:
            object.__setattr__(self, name, getattr(checked, name))
        return self


def _equal(value: Any, usual: Any) -> bool:
    """Whether an option has its default; an array has no single answer to ==."""
    return type(value) is type(usual) and value == usual


def check_number(name: str, value: Any, least: int, most: int, word: str | None = None) -> None:
    """Raise an error unless the value is an integer in the range, or equal to `word`."""
    if word is not None and value == word:
        return
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        either = "" if word is None else f"{word!r} or "
        raise ValueError(f"{name} is {value!r}: give {either}a whole number from {least} to {most}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise an error unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: give {' or '.join(map(repr, choices))}")


def check_bins(learner: SplitOptions) -> None:
    """Check the options of binning."""
    check_number("bins", learner.bins, 2, MOST_BINS)
    check_choice("binning", learner.binning, METHODS)
    if isinstance(learner.categorical, str):
        check_choice("categorical", learner.categorical, ("from_dtype",))


def check_search(learner: SplitOptions) -> None:
    """Check the options of a pruned search."""
    check_choice("search", learner.search, SEARCHES)
    check_number("subset_steps", learner.subset_steps, 1, 1000, "auto")
    if not 0 < learner.first_subset < 1:
        raise ValueError(f"first_subset is {learner.first_subset!r}: give a number between 0 and 1")


def schedule(learner: SplitOptions) -> Schedule:
    """The schedule of a pruned search, from a learner's options."""
    return Schedule(learner.search, learner.first_subset, learner.subset_steps)
