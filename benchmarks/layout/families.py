"""Which files name the members of a family, such as the losses, and so have to be touched for a new one.

A member is named by an identifier (a class or function that is imported, called or tested for) or by a word:
a text that is the member's name, as in a table of kinds or a comparison. Docstrings and comments do not count.

Two numbers are counted for each family:

- the files that name two members or more. These are tables of kinds and distinctions between kinds: a new
  member has to be added to them.
- for each member, the files that name it. The member that fewest files name shows what is asked of a new one.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from layout import imports


class Member(NamedTuple):
    """How code names a member."""

    names: tuple[str, ...] = ()
    """Identifiers, or patterns of them."""
    words: tuple[str, ...] = ()
    """Texts."""


FAMILIES: dict[str, dict[str, Member]] = {
    "loss": {
        "exponential": Member(("Exponential*", "*_exponential"), ("exponential",)),
        "logistic": Member(("Logistic", "LogisticLoss", "least_logistic"), ("logistic",)),
        "squared": Member(("Squared*", "LeastSquares", "least_squared"), ("squared",)),
        "absolute": Member(("LeastAbsolute", "Absolute*"), ("absolute",)),
        "Huber": Member(("Huber*",), ("huber",)),
    },
    "learner": {
        "stump": Member(("Stump",), ("stump",)),
        "tree": Member(("Tree",), ("tree",)),
        "similarity": Member(("Similarity",), ("similarity",)),
        "smooth": Member(("SmoothSimilarity", "KernelModel"), ("smooth",)),
        "binary": Member(("Binary",)),
    },
    "term kind": {
        "trees": Member(("Trees",), ("trees",)),
        "comparisons": Member(("Comparisons",), ("similarities",)),
        "smooth": Member(("SmoothSimilarities", "KernelTerms"), ()),
        "wrapped": Member(("Wrapped",), ("wrapped",)),
    },
    "decision rule": {
        "least risk": Member(("least_expected_cost",), ("min_risk",)),
        "highest score": Member(("highest_score",), ("argmax",)),
    },
    "export format": {
        "model file": Member(("write_model", "pack_model"), ()),
        "plain JSON": Member(("as_plain", "plain_json"), ()),
        "OpenCV": Member(("cascade_xml", "opencv_xml"), ()),
    },
    "race candidate": {
        "small steps": Member(("_small_steps",), ("trees with small steps",)),
        "single splits": Member(("ROUNDS_OF_STUMPS",), ("single splits",)),
        "smooth": Member((), ("smooth similarities",)),
        "frequencies": Member(("FREQUENCIES",), ("class frequencies",)),
    },
}


class Naming(NamedTuple):
    """Files that name the members of a family."""

    by_member: dict[str, list[str]]
    several: list[str]
    """Files that name two members or more."""

    @property
    def fewest(self) -> int:
        """Files that name the member that is named least, if it is there."""
        return min((len(files) for files in self.by_member.values() if files), default=0)


def namings(package: Path) -> dict[str, Naming]:
    """Family → who names its members."""
    found = {family: {member: [] for member in members} for family, members in FAMILIES.items()}
    for path, tree in imports.sources(package).items():
        names, words = set(_identifiers(tree)), set(_texts(tree))
        for family, members in FAMILIES.items():
            for member, by in members.items():
                named = any(fnmatchcase(name, pattern) for name in names for pattern in by.names)
                if named or not words.isdisjoint(by.words):
                    found[family][member].append(str(path.relative_to(package)))
    return {family: Naming(by, _several(by)) for family, by in found.items()}


def _several(by_member: dict[str, list[str]]) -> list[str]:
    files = [file for files in by_member.values() for file in files]
    return sorted({file for file in files if files.count(file) > 1})


def _identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]


def _texts(tree: ast.Module) -> Iterator[str]:
    """Texts other than docstrings."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value
