"""Ctrl-C and SIGTERM leave no partial file, whenever they come."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "fuzz" / "interrupting.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_command_that_is_interrupted_leaves_no_partial_file():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    n_tried = int(done.stdout.split()[0])
    assert n_tried > 50
    assert done.stdout.startswith(f"{n_tried} interrupted, 0 failed")
