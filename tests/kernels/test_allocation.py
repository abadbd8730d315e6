"""Memory that runs out inside a kernel is a MemoryError, and harms no later call."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rebelboost import kernels

HERE = Path(__file__).parent
COMPILER = shutil.which("c++")
SCRIPT = HERE.parent / "fuzz" / "starving.py"


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler is installed")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="preloads a library")
@pytest.mark.skipif(kernels.compiled is None, reason="the kernels are not compiled")
def test_each_allocation_that_fails_raises_memory_error(tmp_path):
    library = tmp_path / "failing.so"
    source = HERE / "failing_allocation.cpp"
    building = [COMPILER, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(building, check=True)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(library)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": str(library)},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    n_tried, n_raised = (int(done.stdout.split()[i]) for i in (0, 3))
    assert n_tried > 20
    assert n_raised > 10
