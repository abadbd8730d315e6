"""The API reference lists every public class and function, and nothing else."""

import importlib
import inspect
import re

import pytest

import rebelboost
from pages import ROOT

MODULES = [
    "dask",
    "datasets",
    "distributed",
    "evaluation",
    "live",
    "metrics",
    "onnx",
    "plots",
    "report",
    "serve",
    "theory",
    "widget",
]
ENTRY_POINTS = {"report": {"write_report"}}
"""What is public in a package whose other functions are its parts."""
LISTED = re.findall(
    r"^::: rebelboost\.([\w.]+)$",
    "\n".join(page.read_text("utf-8") for page in sorted((ROOT / "docs" / "api").glob("*.md"))),
    flags=re.MULTILINE,
)


def public(name):
    """The classes and functions that a module defines, or that it exports by `__all__`."""
    if name in ENTRY_POINTS:
        return ENTRY_POINTS[name]
    module = importlib.import_module(f"rebelboost.{name}")
    exported = getattr(module, "__all__", None)
    if exported is not None:
        return set(exported)
    return {
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    }


def test_the_names_of_the_package_are_listed():
    names = {name for name in rebelboost.__all__ if not name.startswith("_")}
    assert names == {name for name in LISTED if "." not in name}


@pytest.mark.parametrize("module", MODULES)
def test_the_public_names_of_a_module_are_listed(module):
    assert public(module) <= {
        name.partition(".")[2] for name in LISTED if name.startswith(f"{module}.")
    }


@pytest.mark.parametrize("name", LISTED)
def test_what_is_listed_exists_and_has_a_docstring(name):
    module, _, attribute = f"rebelboost.{name}".rpartition(".")
    assert getattr(importlib.import_module(module), attribute).__doc__


def test_nothing_is_listed_twice():
    assert len(LISTED) == len(set(LISTED))
