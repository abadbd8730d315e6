"""Which of two classes is called positive, wherever a figure or a plot is about one of them."""

from collections.abc import Iterable
from typing import Any

from rebelboost.base.names import ClassNames, listed, shown


def positive_class(clf: Any, given: Any = None) -> int | None:
    """Return the code of the positive class; None if there are not two classes.

    It is the class that is `given`, or else the one named in ``clf.metadata_["positive"]`` (`rebel train
    --positive` writes it), or else `FittedClassifier.positive`: the class that is more expensive to miss, or
    the rarer one.
    """
    model = clf.model_
    if given is not None:
        return known_positive(given, model.classes)
    named = ClassNames(model.classes).find((clf.metadata_ or {}).get("positive"))
    default: int | None = model.positive
    return default if named is None or default is None else named


def known_positive(name: Any, classes: Iterable[Any], called: str = "positive=") -> int:
    """Return the code of the positive class, which must be one of two; `called` is its option."""
    names = ClassNames(classes)
    if len(names) != 2:
        raise ValueError(
            f"{called}{shown(name)} needs two classes, but there are {len(names)}: leave it out"
        )
    code = names.find(name)
    if code is None:
        raise ValueError(
            f"{called}{shown(name)} is not a class: choose from {listed(names.classes)}"
        )
    return code
