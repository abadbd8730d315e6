"""A pytest plugin: one module is loaded from the text in MUTANT_CODE (see .ci/mutate)."""

import importlib.abc
import importlib.util
import os
import sys


class Mutant(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and loads the one module."""

    def find_spec(self, name, path, target=None):
        """Only the changed module is found here."""
        del path, target
        return (
            importlib.util.spec_from_loader(name, self)
            if name == os.environ["MUTANT_MODULE"]
            else None
        )

    def exec_module(self, module):
        """Run the changed code."""
        exec(compile(os.environ["MUTANT_CODE"], "mutant", "exec"), module.__dict__)


sys.meta_path.insert(0, Mutant())
