"""The package installs where nothing can be compiled, and tells so once."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install into a folder with no compiler in sight, as far as CMake can see."""
    folder = tmp_path_factory.mktemp("without_compiler")
    environment = {
        **os.environ,
        "CC": "no-such-compiler",
        "CXX": "no-such-compiler",
        "REBELBOOST_REQUIRE_COMPILED": "0",
    }
    command = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps"]
    command += [f"--config-settings=build-dir={folder / 'build'}", "--target", str(folder / "site")]
    done = subprocess.run(
        [*command, str(ROOT)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def run_installed(site, code):
    # -S: the editable install of the development environment would otherwise come first.
    packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    search = os.pathsep.join([str(site), *packages])
    environment = {**os.environ, "PYTHONPATH": search}
    environment.pop("REBELBOOST_KERNELS", None)
    return subprocess.run(
        [sys.executable, "-S", "-W", "always", "-c", code],
        env=environment,
        cwd=site,
        capture_output=True,
        text=True,
        check=True,
    )


def test_the_numpy_kernels_run_and_one_warning_says_so(installed):
    code = (
        "import numpy as np\n"
        "import rebelboost\n"
        "from rebelboost import kernels\n"
        f"assert rebelboost.__file__.startswith({str(installed)!r}), rebelboost.__file__\n"
        "assert kernels.compiled is None and kernels.active is kernels.reference\n"
        "X, edges = np.array([[3.0], [1.0], [2.0], [np.nan]]), np.array([1.5, 2.5])\n"
        "blocks = np.zeros((1, 4, 16), np.uint8)\n"
        "offsets, missing = np.array([0, 2], np.int32), np.array([3], np.uint8)\n"
        "kernels.active.bin_values(X, edges, offsets, missing, blocks, 1)\n"
        "print(blocks[0, :, 0])\n"
    )
    done = run_installed(installed, code)
    assert done.stdout.strip() == "[2 0 1 3]"
    assert done.stderr.count("SlowKernelsWarning: ") == 1
    assert "install a C++20 compiler" in done.stderr


def test_demanding_the_compiled_kernels_fails_with_the_remedy(installed):
    code = (
        "import os\n"
        "os.environ['REBELBOOST_KERNELS'] = 'compiled'\n"
        "try:\n"
        "    from rebelboost import kernels\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    assert "install a C++20 compiler" in run_installed(installed, code).stdout
