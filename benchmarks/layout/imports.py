"""Which top-level part of the package imports which, by reading the source."""

import ast
import graphlib
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

PACKAGE = "rebelboost"
FACE = "__init__"


class Kind(IntEnum):
    """How an import is run; where there are several, the first is what counts."""

    LOADING = 0  # when the module is loaded
    LAZY = 1  # when a function is called
    TYPING = 2  # never: for the type checker


Graph = dict[str, dict[str, Kind]]


def sources(package: Path) -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))
    }


def unit_of(path: Path, package: Path) -> str:
    """The module or package directly below the package."""
    return path.relative_to(package).with_suffix("").parts[0]


def graph(package: Path) -> Graph:
    """Unit → the units that it imports, and how."""
    trees = sources(package)
    units = {unit_of(path, package) for path in trees}
    found: Graph = {unit: {} for unit in sorted(units)}
    for path, tree in trees.items():
        own = unit_of(path, package)
        inside = [PACKAGE, *path.relative_to(package).parts[:-1]]
        for name, kind in imported(tree, inside, Kind.LOADING):
            unit = _unit_of_name(name, units)
            if unit not in (None, own):
                found[own][unit] = min(kind, found[own].get(unit, kind))
    return found


def imported(node: ast.AST, inside: list[str], kind: Kind) -> Iterator[tuple[str, Kind]]:
    """Full dotted names that the code under `node` imports."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, kind) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            above = inside[: len(inside) - child.level + 1] if child.level else []
            start = ".".join([*above, *([child.module] if child.module else [])])
            yield from ((f"{start}.{alias.name}", kind) for alias in child.names)
        else:
            yield from imported(child, inside, max(kind, _kind_within(child)))


def _kind_within(node: ast.AST) -> Kind:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return Kind.LAZY
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return Kind.TYPING
    return Kind.LOADING


def _unit_of_name(name: str, units: set[str]) -> str | None:
    """The unit that a dotted name lies in; names of the package itself are its face's."""
    first, *rest = name.split(".")
    if first != PACKAGE:
        return None
    return rest[0] if rest and rest[0] in units else FACE


# ---- cycles and order


def limited(found: Graph, most: Kind) -> dict[str, set[str]]:
    """The edges up to a kind: load-time ones, or lazy ones too, or all."""
    return {
        unit: {to for to, kind in to_all.items() if kind <= most} for unit, to_all in found.items()
    }


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of units, each of which can be reached from every other of its group."""
    reached = {unit: _reach(unit, edges) for unit in edges}
    groups = {
        frozenset(other for other in edges if other in reached[unit] and unit in reached[other])
        for unit in edges
    }
    return sorted(sorted(group) for group in groups if group)


def _reach(unit: str, edges: dict[str, set[str]]) -> set[str]:
    """All units that can be reached from one by a step or more."""
    found: set[str] = set()
    waiting = list(edges[unit])
    while waiting:
        to = waiting.pop()
        if to not in found:
            found.add(to)
            waiting += edges[to]
    return found


def order(edges: dict[str, set[str]]) -> list[str]:
    """Units after all that they import; those of a cycle stand together, joined by " + "."""
    name = {unit: unit for unit in edges}
    for group in cycles(edges):
        name |= dict.fromkeys(group, " + ".join(group))
    joined: dict[str, set[str]] = {joint: set() for joint in name.values()}
    for unit, to_all in edges.items():
        joined[name[unit]] |= {name[to] for to in to_all} - {name[unit]}
    return list(graphlib.TopologicalSorter(joined).static_order())
