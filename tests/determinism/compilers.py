"""`python tests/determinism/compilers.py`: other compilers' kernels train the same models; others compile.

Builds the extension with every compiler of this system that is found, and compares the twelve models with those
of the installed build. Compilers for other systems build the kernels without Python, and their C++ test,
which is run where an emulator is found.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from determinism.machines import ROOT, differing, parts_under

VERSIONS = ("", *(f"-{n}" for n in range(11, 24)))
HERE = [name + version for name in ("g++", "clang++") for version in VERSIONS]
ELSEWHERE = {
    "aarch64-linux-gnu-g++": ("Linux", "aarch64", "qemu-aarch64"),
    "x86_64-w64-mingw32-g++-posix": ("Windows", "AMD64", "wine64"),
}
"""Compiler → system, processor and emulator."""
PLACE = ROOT / "build" / "compilers"
TOOLS = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def done(command, **more):
    """The output of a command; its errors end the program."""
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, **{"env": TOOLS, "cwd": ROOT, **more}
    )
    if found.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{(found.stdout + found.stderr)[-3000:]}")
    return found.stdout


def version(compiler):
    return done([compiler, "--version"]).splitlines()[0]


def parts_of_build(compiler):
    """Hashes of all arrays of all models, with an extension that this compiler built."""
    place = PLACE / compiler
    shutil.rmtree(place, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-build-isolation", "--no-deps", "--target", place / "site"]
    command += [f"--config-settings=build-dir={place / 'build'}", "."]
    done(command, env={**TOOLS, "CXX": compiler, "REBELBOOST_REQUIRE_COMPILED": "1"})
    path = os.pathsep.join([str(place / "site"), sysconfig.get_path("purelib")])
    # Without site, whose .pth files would find the installed build first.
    return parts_under({"PYTHONPATH": path}, flags=("-S", "-W", "ignore"))


def build_for(compiler, system, processor, emulator):
    """Compile the kernels for another system; the result of their C++ test, if it can be run."""
    place = PLACE / compiler
    shutil.rmtree(place, ignore_errors=True)
    options = {
        "CMAKE_SYSTEM_NAME": system,
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_CXX_COMPILER": compiler,
        "CMAKE_EXE_LINKER_FLAGS": "-static",
        "CMAKE_BUILD_TYPE": "Release",
        "REBELBOOST_PYTHON": "OFF",
        "REBELBOOST_CPP_TESTS": "ON",
        "REBELBOOST_WERROR": "ON",
    }
    defined = [f"-D{name}={value}" for name, value in options.items()]
    done(["cmake", "-S", ROOT, "-B", place, "-G", "Ninja", *defined])
    done(["cmake", "--build", place])
    if shutil.which(emulator) is None:
        return "compiled"
    (program,) = place.glob("test_parallel*")
    ran = subprocess.run([emulator, program], capture_output=True, text=True, check=False)
    told = (ran.stdout + ran.stderr).strip().splitlines()[-1:]
    return f"compiled; their test under emulation: {told[0] if ran.returncode else 'passes'}"


def main():
    here, n_failed = parts_under({}), 0
    # Several names of one compiler count once.
    found_here = {os.path.realpath(shutil.which(name)): name for name in HERE if shutil.which(name)}
    for compiler in found_here.values():
        found = differing(here, parts_of_build(compiler))
        n_failed += bool(found)
        print(
            f"{version(compiler)}: {'the same bits' if not found else f'differs in {found}'}",
            flush=True,
        )
    for compiler, target in ELSEWHERE.items():
        if shutil.which(compiler) is not None:
            print(f"{version(compiler)}: {build_for(compiler, *target)}", flush=True)
    return min(n_failed, 1)


if __name__ == "__main__":
    sys.exit(main())
