"""`rebel reproduce`: the papers' experiments, which come with a checkout and not with the package."""

import sys
from importlib import import_module
from pathlib import Path

import rebelboost

BENCHMARKS = Path(rebelboost.__file__).resolve().parents[2] / "benchmarks"


def reproduce(arguments: list[str]) -> int:
    """Run `benchmarks/reproduce` with its own arguments."""
    if not (BENCHMARKS / "reproduce").is_dir():
        raise ValueError(
            "the papers' experiments are not part of the installed package: clone the repository, "
            "make install there, and run rebel in it"
        )
    if str(BENCHMARKS) not in sys.path:
        sys.path.insert(0, str(BENCHMARKS))
    code: int = import_module("reproduce.command").main(arguments)
    return code
