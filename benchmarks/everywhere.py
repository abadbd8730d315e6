"""Exported C and the kernels on other processors and systems, against this one.

python benchmarks/everywhere.py [--rows 200] [--only "s390x-linux-musl;wasm32-wasi"]
python benchmarks/everywhere.py --kernels [--only …]

Zig (the package ziglang) compiles each model for each target. Programs are run by qemu-user, those of Windows
by wine, and as WebAssembly by Node; where these are missing, they are only compiled. The rows are those of
`rebel verify`. Every score, probability and decision is compared with Python's, bit for bit.

With --kernels, tests/kernels/outputs.cpp is compiled with the kernels in place of models. It prints a hash of
what each kernel computes, which is compared with that of a build for this machine by the system's compiler.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from exported import CHECKED, MODELS
from rebelboost import ExportError
from rebelboost.export.c import as_c
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.integers import as_integers
from rebelboost.export.sources import source
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import Machine, compared, expected_answers, is_in_integers, run_c

ZIG = [sys.executable, "-m", "ziglang", "cc"]
ROOT = Path(__file__).resolve().parents[1]
KERNELS = [
    "binarization", "binning", "elementary", "parallel", "posterior", "random", "ridge", "similarity",
    "smooth_features", "weights",
]  # fmt: skip
"""Those that outputs.cpp calls, and threads."""
WASI = """
// By way of files: pipes would cut what is read and written.
import { mkdtempSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { argv } from "node:process";
import { WASI } from "node:wasi";
const place = mkdtempSync(`${tmpdir()}/wasi-`);
writeFileSync(`${place}/given`, readFileSync(0));
const stdin = openSync(`${place}/given`, "r"), stdout = openSync(`${place}/told`, "w");
const wasi = new WASI({ version: "preview1", args: ["run"], stdin, stdout, returnOnExit: true });
const module = await WebAssembly.compile(readFileSync(argv[2]));
const code = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
const told = readFileSync(`${place}/told`);
for (let done = 0; done < told.length; ) done += writeSync(1, told, done);
process.exitCode = code;
"""
TARGETS = {
    "x86_64-linux-musl": "",
    "x86-linux-musl -msse2 -mfpmath=sse": "",
    "aarch64-linux-musl": "qemu-aarch64",
    "s390x-linux-musl": "qemu-s390x",
    "riscv64-linux-musl": "qemu-riscv64",
    "wasm32-wasi": "node --no-warnings",
    "x86_64-windows-gnu": "wine",
    "aarch64-windows-gnu": None,
    "x86_64-macos": None,
    "aarch64-macos": None,
    "arm-linux-musleabi -msoft-float": "qemu-arm",
}
"""Target and options of Zig → what runs its programs; None: nothing here does."""
BIG_ENDIAN = {"s390x-linux-musl"}
SOME = [
    "pendigits, averaged trees", "adult, trees of categories", "german_credit, abstaining",
    "segment, cost training", "vowel, rebel subcosts", "vowel, whitened similarities",
    "segment, stumps",
]  # fmt: skip


def models(names):
    """Names, fitted models and whether they are exported in integers; one has a cascade."""
    for name in names:
        estimator, X = MODELS[name]()
        if name == SOME[0]:
            yield f"{name}, integers", estimator, True
            estimator.cascade(X[:1000])
        yield name, estimator, False


def machine_of(target, runner, folder):
    """What compiles for a target and runs programs of it, and whether they can be run."""
    compiler = [*ZIG, *CHECKED, "-O2", "-target", *target.split()]
    words = (runner or "").split()
    if runner is None or (words and not shutil.which(words[0])):
        return Machine(compiler), False
    launcher = [*words, str(folder / "wasi.mjs")] if target == "wasm32-wasi" else words
    return Machine(compiler, launcher, ">" if target in BIG_ENDIAN else "="), True


def compile_only(path, machine, folder):
    """Raise an error if a program does not compile."""
    shutil.copy(path, folder / "model.c")
    kind = "integers" if is_in_integers(path) else "classifier"
    (folder / "run.c").write_text(source(f"run_{kind}.c"))
    command = [*machine.compiler, str(folder / "run.c"), "-o", str(folder / "program")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ExportError(done.stderr[:300])


def tried(target, runner, exported, folder):
    """Print a line of the table: models compiled and run, values, and those that differ."""
    machine, runs = machine_of(target, runner, folder)
    n_compiled = n_run = n_values = n_differing = 0
    faults = []
    for name, path, model, expected, X in exported:
        try:
            if runs:
                found = compared(expected, run_c(path, model, X, machine))
                n_run, n_values = n_run + 1, n_values + found.n_values
                n_differing += sum(found.n_differing.values())
            else:
                compile_only(path, machine, folder)
            n_compiled += 1
        except ExportError as fault:
            faults.append(f"{name}: {fault}")
    print(f"{target:36s} {n_compiled:>8} {n_run:>5} {n_values:>10,} {n_differing:>9,}", flush=True)
    for fault in faults:
        print(f"    {fault[:300]}", flush=True)
    return n_differing + len(faults)


def kernel_program(compiler, program):
    """Raise an error if the kernels do not compile."""
    sources = [ROOT / "tests/kernels/outputs.cpp", *(ROOT / f"cpp/{k}.cpp" for k in KERNELS)]
    options = ["-std=c++20", "-O3", "-ffp-contract=off", "-Wno-psabi", f"-I{ROOT / 'cpp'}"]
    command = [*compiler, *options, *map(str, sources), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if "error" in line]
        raise ExportError(" ".join(told)[:300])


def kernels_tried(target, runner, expected, folder):
    """Print a line of the table of kernels; the number of hashes that differ."""
    machine, runs = machine_of(target, runner, folder)
    compiler = [*ZIG[:-1], "c++", "-target", *target.split()]
    try:
        kernel_program(compiler, folder / "program")
    except ExportError as fault:
        print(f"{target:36s} not compiled: {fault}", flush=True)
        return 0
    if not runs:
        print(f"{target:36s} compiled, not run", flush=True)
        return 0
    words = [*machine.launcher, str(folder / "program")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = done.stdout.splitlines()
    n_same = sum(map(str.__eq__, expected, found))
    told = "" if done.returncode == 0 else f"; it ended with {done.returncode}"
    print(f"{target:36s} {n_same} of {len(expected)} the same{told}", flush=True)
    return len(expected) - n_same


def try_kernels(targets, folder):
    """The number of hashes that differ from this machine's."""
    kernel_program(["c++", "-pthread"], folder / "here")
    told = subprocess.run([folder / "here"], capture_output=True, text=True, check=True).stdout
    expected = told.splitlines()
    print(f"{len(expected)} hashes of what the kernels compute; compiled by Zig with -O3\n")
    return sum(kernels_tried(target, TARGETS[target], expected, folder) for target in targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200, help="random rows of each model")
    parser.add_argument("--only", default="", help="names of targets, with semicolons between them")
    parser.add_argument("--models", default="", help="names of models, likewise")
    parser.add_argument("--kernels", action="store_true", help="the kernels in place of models")
    given = parser.parse_args()
    targets = [each for each in TARGETS if not given.only or each in given.only.split(";")]
    names = given.models.split(";") if given.models else SOME
    with tempfile.TemporaryDirectory(prefix="everywhere-") as name:
        folder = Path(name)
        (folder / "wasi.mjs").write_text(WASI)
        if given.kernels:
            return int(try_kernels(targets, folder) > 0)
        exported = []
        for i, (title, estimator, in_integers) in enumerate(models(names)):
            model, plan = estimator.model_, None if in_integers else estimator.plan_
            path = folder / f"exported_{i}.c"
            evaluator = evaluator_of(model, plan=plan)
            path.write_text(as_integers(evaluator, model) if in_integers else as_c(evaluator))
            X = samples_for(model, given.rows)
            exported.append((title, path, model, expected_answers(model, path, X, plan), X))
        n_rows = sum(len(each[-1]) for each in exported)
        print(f"{len(exported)} programs, {n_rows:,} rows; compiled by Zig with -O2\n")
        print(f"{'target':36s} {'compiled':>8} {'run':>5} {'values':>10} {'differing':>9}")
        counts = [tried(target, TARGETS[target], exported, folder) for target in targets]
    return int(sum(counts) > 0)


if __name__ == "__main__":
    sys.exit(main())
