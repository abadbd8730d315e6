"""Whether an exported model answers as the model does: scores, probabilities and decisions, bit for bit."""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats, Values
from rebelboost.cascade.plan import CascadePlan
from rebelboost.cascade.running import run_cascade
from rebelboost.cascade.staged_terms import StagedTerms
from rebelboost.exceptions import ExportError
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.integers import MARK
from rebelboost.export.onnx.model import onnx_inputs
from rebelboost.export.sources import source
from rebelboost.export.vectors import samples_for
from rebelboost.model.fitted import FittedClassifier, FittedRegressor, FittedTerms

COMPILERS = ("cc", "gcc", "clang", "zig")
"""Compilers that are looked for, in this order."""
OPTIONS = ("-std=c99", "-O2")
"""Options of the compiler."""
ABSTAINS = -1
DECISION, EARLY, TERMS = "decision", "early decision", "number of terms"
SECONDS = 600.0
"""After which a program is ended."""


class Answers(NamedTuple):
    """What a model answers."""

    scores: Floats
    """(N, K)"""
    probabilities: Floats
    """(N, K); in a regression, (N, 1) predictions."""
    decisions: NDArray[np.int64]
    """(N,) codes of classes, −1 where the model abstains; empty in a regression."""
    early: Floats | None = None
    """(N, 2) decisions of the cascade, and their numbers of terms; None without one."""

    def named(self) -> dict[str, Floats]:
        """The parts by name, as (N, width) arrays."""
        decided = self.decisions.astype(np.float64)[:, np.newaxis]
        told = {"score": self.scores, "probability": self.probabilities, DECISION: decided}
        if self.early is not None:
            told |= {EARLY: self.early[:, :1], TERMS: self.early[:, 1:]}
        return told


class Difference(NamedTuple):
    """Where an exported model first answers something else."""

    row: int
    what: str
    ours: float
    theirs: float


class Verified(NamedTuple):
    """Result of a comparison."""

    n_rows: int
    n_values: int
    n_differing: dict[str, int]
    """Number of scores, probabilities and decisions that differ."""
    largest: dict[str, float]
    """Largest difference of scores and probabilities."""
    first: Difference | None

    def __str__(self) -> str:
        if self.first is None:
            return f"identical: {self.n_values:,} values of {self.n_rows:,} rows"
        row, what, ours, theirs = self.first
        counts = ", ".join(
            f"{n:,} × {name}"
            + (f" (by up to {self.largest[name]:.2g})" if name in self.largest else "")
            for name, n in self.n_differing.items()
            if n
        )
        return (
            f"differs in {counts} of {self.n_rows:,} rows; first in row {row}: {what} {ours!r} in "
            f"Python, {theirs!r} in the exported model"
        )


def verify(
    model: FittedTerms, path: Path, X: Values | None = None, plan: CascadePlan | None = None
) -> Verified:
    """Compare an exported model with the model that it was made from, and with its cascade if it has one.

    `X` are encoded samples; by default, those that try every part of the model.
    """
    rows = samples_for(model) if X is None else np.ascontiguousarray(X, dtype=np.float64)
    kind = path.suffix.lower()
    if kind not in RUNNERS:
        raise ExportError(
            f"{path.name} cannot be run: give a file that ends in {' or '.join(RUNNERS)}"
        )
    return compared(expected_answers(model, path, rows, plan), RUNNERS[kind](path, model, rows))


def expected_answers(
    model: FittedTerms, path: Path, X: Values, plan: CascadePlan | None = None
) -> Answers:
    """What an exported program should answer: integers have no probabilities, and some decide early."""
    ours = answers_of(model, X)
    if is_in_integers(path):
        return ours._replace(probabilities=np.empty((len(X), 0)))
    if not has_cascade(path):
        return ours
    if plan is None or not isinstance(model, FittedClassifier):
        raise ExportError(f"{path.name} has a cascade, but the model has none: export it again")
    return ours._replace(early=_early(model, plan, X))


def _early(model: FittedClassifier, plan: CascadePlan, X: Values) -> Floats:
    staged = StagedTerms(model.ensemble, plan.stage_of_term)
    left = run_cascade(model, staged, plan, X, model.costs_of(X))
    decided = np.where(left.decided == len(model.classes), ABSTAINS, left.decided)
    return np.column_stack([decided, staged.n_terms[left.stage]]).astype(np.float64)


def has_cascade(path: Path) -> bool:
    """Whether an exported program decides early."""
    if path.suffix == ".onnx":
        return False
    text = path.read_text(encoding="utf-8")
    return any(name in text for name in ("int model_decide_early(", "export function decideEarly("))


def compared(ours: Answers, theirs: Answers) -> Verified:
    """Compare answers bit for bit."""
    first, counts, largest, n_values = None, {}, {}, 0
    for (what, mine), other in zip(ours.named().items(), theirs.named().values(), strict=True):
        differs = (mine != other) & ~(np.isnan(mine) & np.isnan(other))
        counts[what] = int(np.count_nonzero(differs))
        n_values += mine.size
        if what in ("score", "probability"):
            apart = np.abs(mine[differs] - other[differs])
            largest[what] = float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))
        if counts[what]:
            row, k = map(int, np.argwhere(differs)[0])
            if first is None or row < first.row:
                first = Difference(row, what, float(mine[row, k]), float(other[row, k]))
    return Verified(len(ours.scores), n_values, counts, largest, first)


def answers_of(model: FittedTerms, X: Values, n_threads: int = 1) -> Answers:
    """What the model itself answers for encoded samples."""
    if isinstance(model, FittedRegressor):
        predicted = model.predict(X, n_threads)[:, np.newaxis]
        return Answers(model.ensemble.scores(X, n_threads), predicted, np.empty(0, dtype=np.int64))
    assert isinstance(model, FittedClassifier)
    scores, costs = model.scores(X, n_threads), model.costs_of(X, n_threads=n_threads)
    decided = model.decide(scores, costs).astype(np.int64)
    abstained = model.abstains(scores, costs)
    if abstained is not None:
        decided[abstained] = ABSTAINS
    return Answers(scores, model.posterior(scores), decided)


# ---- running what was exported


class Machine(NamedTuple):
    """What compiles programs, and what runs them."""

    compiler: Sequence[str]
    """Command with its options."""
    launcher: Sequence[str] = ()
    """Command before the name of the program, such as an emulator's."""
    order: Literal["=", "<", ">"] = "="
    """Order of the bytes of numbers, as in `numpy.dtype`."""


def run_c(path: Path, model: FittedTerms, X: Values, machine: Machine | None = None) -> Answers:
    """Compile a C file with a small program, and run it; by default, with the compiler that is found."""
    machine = Machine(found_compiler()) if machine is None else machine
    kind = "regressor" if isinstance(model, FittedRegressor) else "classifier"
    kind = "integers" if is_in_integers(path) else kind
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
        place = Path(folder)
        shutil.copy(path, place / "model.c")
        (place / "run.c").write_text(source(f"run_{kind}.c"), encoding="utf-8")
        program = place / "run"
        defined = ["-DHAS_CASCADE"] if has_cascade(path) else []
        compiled = [*machine.compiler, *defined, str(place / "run.c"), "-o", str(program)]
        _run(compiled, b"", "compiled")
        kind_of_number = np.dtype(np.float64).newbyteorder(machine.order)
        given = X.astype(kind_of_number).tobytes()
        told = _run([*machine.launcher, str(program)], given, "run")
        return _answers(path, model, np.frombuffer(told, kind_of_number).astype(np.float64))


def is_in_integers(path: Path) -> bool:
    """Whether a C file computes with integers only."""
    return path.suffix == ".c" and MARK in path.read_text(encoding="utf-8")


def found_compiler() -> list[str]:
    """The command of a C compiler, with its options."""
    for name in COMPILERS:
        if shutil.which(name):
            return [name, *(["cc"] if name == "zig" else []), *OPTIONS]
    raise ExportError("no C compiler was found: install gcc or clang, or `pip install ziglang`")


def run_javascript(path: Path, model: FittedTerms, X: Values) -> Answers:
    """Run a JavaScript module in Node."""
    node = shutil.which("node")
    if node is None:
        raise ExportError("Node was not found, which runs JavaScript: install Node 18 or later")
    with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
        place = Path(folder)
        shutil.copy(path, place / "model.mjs")
        (place / "run.mjs").write_text(source("run.mjs"), encoding="utf-8")
        told = _run([node, str(place / "run.mjs")], X.astype(np.float64).tobytes(), "run")
        return _answers(path, model, np.frombuffer(told))


def run_onnx(path: Path, model: FittedTerms, X: Values, threads: int = 1) -> Answers:
    """Run an ONNX file in onnxruntime, in this number of threads."""
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise ExportError(
            "ONNX files are run by the package onnxruntime: install rebelboost[onnx]"
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # it warns of inputs with a default
    session = onnxruntime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )
    given = onnx_inputs(evaluator_of(model), X.astype(np.float64))
    if isinstance(model, FittedRegressor):
        scores, predicted = session.run(["scores", "prediction"], given)
        return Answers(scores, predicted[:, np.newaxis], np.empty(0, dtype=np.int64))
    return Answers(*session.run(["scores", "probabilities", "decision"], given))


def _answers(path: Path, model: FittedTerms, told: Floats) -> Answers:
    n = model.ensemble.n_classes
    if isinstance(model, FittedRegressor):
        values = told.reshape(-1, 2)
        return Answers(values[:, :1], values[:, 1:], np.empty(0, dtype=np.int64))
    n_told = n if is_in_integers(path) else 2 * n  # integers have no probabilities
    early = has_cascade(path)
    values = told.reshape(-1, n_told + 1 + 2 * early)
    decided = values[:, n_told].astype(np.int64)
    own = values[:, n_told + 1 :] if early else None
    return Answers(values[:, :n], values[:, n:n_told], decided, own)


def _run(command: Sequence[str], given: bytes, what: str) -> bytes:
    ran = subprocess.run(command, input=given, capture_output=True, check=False, timeout=SECONDS)
    if ran.returncode != 0:
        told = ran.stderr.decode(errors="replace").strip()[:1000]
        raise ExportError(f"the exported model could not be {what}: {told or ran.returncode}")
    return ran.stdout


RUNNERS = {".c": run_c, ".js": run_javascript, ".mjs": run_javascript, ".onnx": run_onnx}
