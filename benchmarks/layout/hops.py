"""From `fit` to the first round: which functions of other modules a reader has to open.

Run as a script by the interpreter of an installation; prints JSON.

Every call of a Python function is heard of (`sys.setprofile`) until a learner's `propose` begins. A call
is a hop if caller and callee are in different modules of the package. The caller is the nearest function
of the package on the stack, so that properties and decorators of the standard library hide nothing.
Left out are constructors that dataclasses write, since there is no text to read; the loading of modules;
and the kernels, which are called from Python only where they are not compiled.
"""

import json
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE, KERNELS = "rebelboost", "rebelboost.kernels"
FIRST_ROUND = {"propose", "go_ahead"}


class Trace:
    """The hops of one fit, in order, and the stack where the first round begins."""

    def __init__(self) -> None:
        self.hops: list[tuple[str, str, str, str]] = []  # caller's module and name, callee's
        self.stack: list[tuple[str, str]] = []

    def hear(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or self.stack or not is_ours(frame):
            return
        caller = above(frame)
        if caller is not None and module(caller) != module(frame):
            self.hops.append((*place(caller), *place(frame)))
        if frame.f_code.co_name in FIRST_ROUND:
            self.stack = stack_of(frame)

    def of(self, model: Any, X: Any, y: Any) -> "Trace":
        sys.setprofile(self.hear)
        try:
            model.fit(X, y)
        finally:
            sys.setprofile(None)
        return self


def module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def place(frame: FrameType) -> tuple[str, str]:
    return module(frame), frame.f_code.co_qualname


def is_ours(frame: FrameType) -> bool:
    """Whether it runs a function that is written down in the package, kernels apart."""
    name, code = module(frame), frame.f_code
    inside = name.partition(".")[0] == PACKAGE and not name.startswith(KERNELS)
    return inside and code.co_name != "<module>" and not code.co_filename.startswith("<")


def above(frame: FrameType) -> FrameType | None:
    """The nearest function of the package that the call came from."""
    caller = frame.f_back
    while caller is not None and not is_ours(caller):
        caller = caller.f_back
    return caller


def stack_of(frame: FrameType | None) -> list[tuple[str, str]]:
    """From `fit` down."""
    found = []
    while frame is not None:
        found.append(place(frame))
        frame = above(frame)
    return found[::-1]


def main() -> None:
    from sklearn.datasets import load_iris

    import rebelboost

    warnings.simplefilter("ignore")
    X, y = load_iris(return_X_y=True)
    short = {"n_rounds": 2}  # what comes after the first round is not looked at
    models = {
        "RebelClassifier()": rebelboost.RebelClassifier(**short),
        'RebelClassifier("tree", cross_fit=None)': rebelboost.RebelClassifier(
            "tree", cross_fit=None, **short
        ),
    }
    traces = {name: vars(Trace().of(model, X, y)) for name, model in models.items()}
    print(json.dumps({"package": str(Path(rebelboost.__file__).parent), "traces": traces}))


if __name__ == "__main__":
    main()
