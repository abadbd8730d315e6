"""Exported models as they are run in tests: by each compiler that is found, and by Node."""

import importlib.util
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rebelboost.export.c import as_c
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.javascript import as_javascript
from rebelboost.export.onnx.model import as_onnx
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import Machine, answers_of, compared, run_c, verify

CHECKED = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
STRICT = [*CHECKED, "-O2"]
HAS_NODE = shutil.which("node") is not None
NODE = pytest.mark.skipif(not HAS_NODE, reason="Node is not installed")
HAS_ONNX = all(map(importlib.util.find_spec, ["onnx", "onnxruntime"]))
ONNX = pytest.mark.skipif(
    not HAS_ONNX, reason="the packages onnx and onnxruntime are not installed"
)
HAS_ZIG = importlib.util.find_spec("ziglang") is not None


def compilers():
    """Commands by name; one that is not found is skipped."""
    zig = [sys.executable, "-m", "ziglang", "cc", *STRICT]
    found = {
        "gcc -O0": ["gcc", *CHECKED, "-O0"],
        "gcc -O3": ["gcc", *CHECKED, "-O3"],
        "gcc for this processor": ["gcc", *CHECKED, "-O3", "-march=native"],
        "gcc with extensions": ["gcc", "-std=gnu99", "-O2", "-march=native"],
        "32 bits": [*zig, "-target", "x86-linux-musl", "-msse2", "-mfpmath=sse"],
        "clang": ["clang", *STRICT] if shutil.which("clang") or not HAS_ZIG else zig,
    }
    return [
        pytest.param(
            command,
            id=name,
            marks=pytest.mark.skipif(
                shutil.which(command[0]) is None or (command[:3] == zig[:3] and not HAS_ZIG),
                reason=f"{command[0]} or the package ziglang is not installed",
            ),
        )
        for name, command in found.items()
    ]


def written(model, folder, language, columns=None, plan=None):
    """A model of tests as a file."""
    evaluator = evaluator_of(model, columns, plan=plan)
    path = Path(folder) / f"exported.{language}"
    if language == "onnx":
        path.write_bytes(as_onnx(evaluator))
    else:
        text = as_c(evaluator) if language == "c" else as_javascript(evaluator)
        path.write_text(text, encoding="utf-8")
    return path


def assert_same_bits(model, folder, language, X=None, compiler=None):
    """Scores, probabilities and decisions of the exported model are those of the model."""
    path = written(model, folder, language)
    if compiler is None:
        found = verify(model, path, X)
        assert found.first is None, str(found)
        return
    X = samples_for(model) if X is None else X
    found = compared(answers_of(model, X), run_c(path, model, X, Machine(compiler)))
    assert found.first is None, str(found)


READ = """
#include <stdio.h>
#include "exported.c"
int main(void) {
    static char text[MODEL_N_COLUMNS][65536];
    const char* cells[MODEL_N_COLUMNS];
    double x[MODEL_N_FEATURES];
    for (;;) {
        for (int i = 0; i < MODEL_N_COLUMNS; ++i) {
            int length;
            if (fread(&length, 4, 1, stdin) != 1)
                return 0;
            cells[i] = length < 0 ? 0 : text[i];
            if (length > 0 && fread(text[i], (size_t)length, 1, stdin) != 1)
                return 1;
            text[i][length < 0 ? 0 : length] = 0;
        }
        (void)model_read(cells, x);
        fwrite(x, sizeof x, 1, stdout);
    }
}
"""


def read_by_c(path, rows, columns, n_features):
    """(N, d) what `model_read` makes of rows, which are dicts."""
    folder = Path(path).parent
    (folder / "read.c").write_text(READ)
    subprocess.run(["cc", *STRICT, str(folder / "read.c"), "-o", str(folder / "read")], check=True)
    given = bytearray()
    for row in rows:
        for column in columns:
            cell = row[column]
            told = b"" if cell is None else cell.encode("utf-8", "surrogatepass")
            given += struct.pack("i", -1 if cell is None else len(told)) + told
    ran = subprocess.run(
        [str(folder / "read")], input=bytes(given), capture_output=True, check=True
    )
    return np.frombuffer(ran.stdout).reshape(-1, n_features)


READ_JS = """
import { readFileSync } from "node:fs";
import { encode } from "./exported.mjs";
const rows = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(rows.map((row) => Array.from(encode(row)))));
"""


def read_by_node(path, rows):
    """(N, d) what `encode` makes of rows, which are dicts."""
    folder = Path(path).parent
    shutil.copy(path, folder / "exported.mjs")
    (folder / "read.mjs").write_text(READ_JS)
    ran = subprocess.run(
        ["node", str(folder / "read.mjs")],
        input=json.dumps(rows).encode(),
        capture_output=True,
        check=True,
    )
    return np.array(json.loads(ran.stdout), dtype=np.float64)
