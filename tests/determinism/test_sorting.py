"""Where values are equal, NumPy's default sorting leaves the order to the processor."""

import ast
from pathlib import Path

import rebelboost

PACKAGE = Path(rebelboost.__file__).parent


def unstable_sorts(tree):
    """Lines that ask for an order without `kind="stable"`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "argsort":
            kinds = [word.value.value for word in node.keywords if word.arg == "kind"]
            if kinds != ["stable"]:
                yield node.lineno


def test_equal_values_keep_their_order_in_every_sort():
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := list(unstable_sorts(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == {}


def test_a_sort_of_another_kind_is_found():
    assert list(unstable_sorts(ast.parse('np.argsort(x)\nx.argsort(kind="quicksort")'))) == [1, 2]
