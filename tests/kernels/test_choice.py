import inspect
import os
import re
import subprocess
import sys

import pytest

from rebelboost import kernels
from rebelboost.kernels import reference


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def arguments_in_signatures(function):
    """Argument names of a nanobind function, from the text of each overload's signature."""
    texts = [text.split(") ->")[0] for text, *_ in function.__nb_signature__]
    return [re.findall(r"(\w+): ", text) for text in texts]


def test_compiled_and_reference_have_the_same_functions_and_arguments(compiled):
    public = {name for name in dir(compiled) if not name.startswith("_")}
    assert public == set(reference.__all__)
    for name in public:
        theirs = list(inspect.signature(getattr(reference, name)).parameters)
        for ours in arguments_in_signatures(getattr(compiled, name)):
            assert ours == theirs, name


def test_using_switches_the_active_kernels_and_restores_them():
    before = kernels.active
    with kernels.using("reference"):
        assert kernels.active is reference
    assert kernels.active is before


@pytest.mark.parametrize("name", ["compiled", "reference"])
def test_the_environment_variable_chooses_the_kernels(compiled, name):
    code = "from rebelboost import kernels; print(kernels.active.__name__)"
    done = run_python(code, REBELBOOST_KERNELS=name)
    assert name in done.stdout
    assert "SlowKernelsWarning" not in done.stderr


def test_a_misspelt_choice_is_refused_with_the_remedy():
    done = run_python("from rebelboost import kernels", REBELBOOST_KERNELS="fast")
    assert "'fast'; it may be 'compiled' or 'reference'" in done.stderr
