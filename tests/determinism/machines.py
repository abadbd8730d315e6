"""`python tests/determinism/machines.py`: the twelve models as other machines would train them.

NumPy, OpenBLAS and glibc choose their code by the processor. Their own switches make them choose as on an
older one; `--emulate` runs the whole process on an emulated processor (QEMU's `qemu-x86_64`), where
the compiled kernels choose too.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Names of NumPy 2.4 and later, then those of earlier releases; each ignores what it does not know.
NO_AVX512 = "X86_V4 AVX512_ICL AVX512_SPR AVX512_SKX AVX512_CLX AVX512_CNL AVX512CD AVX512F"
NO_AVX2 = f"{NO_AVX512} X86_V3 AVX2 FMA3 F16C AVX"
GLIBC = (
    "glibc.cpu.hwcaps=-AVX512F_Usable,-AVX512F,-AVX512VL,-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-FMA4"
)

MACHINES = {
    "NumPy without AVX-512": {"NPY_DISABLE_CPU_FEATURES": NO_AVX512},
    "NumPy without AVX2": {"NPY_DISABLE_CPU_FEATURES": NO_AVX2},
    "OpenBLAS for SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "OpenBLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "OpenBLAS for Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "OpenBLAS for Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "glibc without AVX2 and FMA": {"GLIBC_TUNABLES": GLIBC},
    "all of an old machine": {
        "NPY_DISABLE_CPU_FEATURES": NO_AVX2,
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": GLIBC,
    },
    "two threads of OpenBLAS": {"OPENBLAS_NUM_THREADS": "2"},
    "NumPy kernels": {"REBELBOOST_KERNELS": "reference"},
    "hashes of another process": {"PYTHONHASHSEED": "7"},
}
EMULATED = {"Nehalem-v1": {"OPENBLAS_CORETYPE": "Nehalem"}, "Haswell-v4": {}, "max": {}}
"""Processors. OpenBLAS does not see that the first has no AVX2, and is told."""
SORTS = """
import numpy as np
values = [(np.arange(n) * 7919 % n).astype(kind) for n in (300, 1000) for kind in ("f8", "i8", "f4", "i4")]
raise SystemExit(any((np.diff(each[np.argsort(each)]) < 0).any() for each in values))
"""
"""Ends well where NumPy sorts. QEMU 7.2 computes something else than AVX2 does: its `argsort` does not sort."""


def parts_under(variables, before=(), flags=("-W", "ignore")):
    """Hashes of every array of every model, from a process of its own."""
    command = [*before, sys.executable, *flags, "-m", "tests.determinism", "--parts"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **variables}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{variables or before}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def sorts(variables, before):
    """Whether NumPy sorts on an emulated processor."""
    command, environment = [*before, sys.executable, "-c", SORTS], {**os.environ, **variables}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    return done.returncode == 0


def differing(here, there):
    """Models that differ, with the arrays in which they do."""
    return {
        model: [part for part in arrays if arrays[part] != there[model].get(part)]
        for model, arrays in here.items()
        if arrays != there[model]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--emulate", action="store_true", help="on emulated processors: minutes")
    options = parser.parse_args()
    tried = {name: (variables, ()) for name, variables in MACHINES.items()}
    if options.emulate:
        emulator = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
        if emulator is None:
            raise SystemExit("qemu-x86_64 is not installed: apt-get install qemu-user")
        tried = {}
        for cpu, variables in EMULATED.items():
            before = (emulator, "-cpu", cpu)
            if sorts(variables, before):
                tried[f"emulated {cpu}"] = (variables, before)
            else:
                spared = {**variables, "NPY_DISABLE_CPU_FEATURES": NO_AVX2}
                tried[f"emulated {cpu}, NumPy without AVX2 (it cannot sort)"] = (spared, before)
    here = parts_under({})
    n_differing = 0
    for name, (variables, before) in tried.items():
        found = differing(here, parts_under(variables, before))
        n_differing += bool(found)
        print(f"{name}: {'the same bits' if not found else 'differs'}")
        for model, arrays in found.items():
            print(f"    {model}: {', '.join(arrays[:6])}{' …' if len(arrays) > 6 else ''}")
    print(f"{len(tried) - n_differing} of {len(tried)} machines give the same bits")
    return min(n_differing, 1)


if __name__ == "__main__":
    sys.exit(main())
