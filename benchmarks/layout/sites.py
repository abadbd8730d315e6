"""Places in the source where code asks for a kind of term, or reaches into another object."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

KINDS = ("GrownTree", "Comparison", "Wrapped", "Described", "Constant*", "*Group")
"""Kinds of terms, and of groups of them laid out for prediction, by name."""
OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}  # public in spite of their names
OWN = {"self", "cls"}


class Site(NamedTuple):
    file: str
    line: int
    names: tuple[str, ...]


def type_tests(package: Path, patterns: tuple[str, ...]) -> list[Site]:
    """Calls of `isinstance`, and class patterns of `match`, that name a kind."""
    found = []
    for file, tree in _files(package):
        for node in ast.walk(tree):
            names = [name for name in _tested(node) if any(fnmatchcase(name, p) for p in patterns)]
            if names:
                line = getattr(node, "pattern", node).lineno  # a `case` has no line of its own
                found.append(Site(file, line, tuple(names)))
    return found


def _tested(node: ast.AST) -> list[str]:
    """Names of the classes that a node tests for."""
    if isinstance(node, ast.Call) and _name(node.func) == "isinstance" and len(node.args) == 2:
        parts = ast.walk(node.args[1])
        return [_name(part) for part in parts if isinstance(part, ast.Name | ast.Attribute)]
    if isinstance(node, ast.match_case):
        parts = ast.walk(node.pattern)
        return [_name(part.cls) for part in parts if isinstance(part, ast.MatchClass)]
    return []


def _name(node: ast.AST) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def private_accesses(package: Path) -> list[Site]:
    """`x._name` where x is neither self nor cls nor super(); dunder names do not count."""
    return [
        Site(file, node.lineno, (f"{ast.unparse(node.value)}.{node.attr}",))
        for file, tree in _files(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node.value)
    ]


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_NAMED_TUPLES


def _is_own(node: ast.expr) -> bool:
    return _name(node) in OWN or (isinstance(node, ast.Call) and _name(node.func) == "super")


def _files(package: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(package.rglob("*.py")):
        yield str(path.relative_to(package)), ast.parse(path.read_text(encoding="utf-8"))
