"""How large the parts of a package are, and its twins: what is written again for other rows or targets."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from layout import imports

TWINS = {
    "Spread*": re.compile(r"Spread[A-Z]|spread_"),
    "Number*": re.compile(r"Number[A-Z]|number_"),
}
"""What the names of twins begin with: those of classes, public functions and modules."""


class Size(NamedTuple):
    """Modules of a part, and their lines, blank ones and comments included."""

    n_modules: int
    n_lines: int


def sizes(package: Path) -> dict[str, Size]:
    """Part directly below the package → its size; modules that stand alone are one part, ""."""
    found: dict[str, Size] = {}
    for path in sorted(package.rglob("*.py")):
        unit = imports.unit_of(path, package)
        part = unit if (package / unit).is_dir() else ""
        n_modules, n_lines = found.get(part, Size(0, 0))
        lines = path.read_text(encoding="utf-8").count("\n")
        found[part] = Size(n_modules + 1, n_lines + lines)
    return found


def twins(package: Path) -> dict[str, list[str]]:
    """Pattern → classes, functions and modules with such names, as "file: name"."""
    found: dict[str, list[str]] = {pattern: [] for pattern in TWINS}
    for path, tree in imports.sources(package).items():
        file = str(path.relative_to(package))
        for name in (path.stem, *_defined(tree)):
            for pattern, begins in TWINS.items():
                if begins.match(name):
                    found[pattern].append(f"{file}: {name}")
    return found


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
