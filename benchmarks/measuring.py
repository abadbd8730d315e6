"""What the benchmarks share: fresh processes, peak memory, the machine, Markdown tables."""

import ctypes
import gc
import multiprocessing
import os
import platform
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

MB = 1e6
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """The function's result or exception, from an interpreter that has done nothing else."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        return pool.submit(function, *arguments)


def limit_threads(n_threads: int) -> None:
    """Limits OpenMP and BLAS in the processes started from here on, for all rivals alike."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(n_threads)


def peak_memory() -> float | None:
    """The most memory this process held, in bytes, since its start or `forget_peak`."""
    return _status("VmHWM")


def resident_memory() -> float | None:
    return _status("VmRSS")


def forget_peak() -> None:
    """Makes the present size the peak, so that the next peak is that of what follows.

    The kernel's mark misses nothing, as a sampling thread would. But it counts from the start of
    the process, and so does ru_maxrss, which cannot be reset: where loading the data took more
    than the fit, the difference would be zero. Writing 5 to clear_refs resets the mark.
    Memory that was freed but kept by malloc is given back first: a fit that reused it would seem
    to take none.
    """
    gc.collect()
    if STATUS.exists():
        getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)(0)
        CLEAR_REFS.write_text("5")


def _status(field: str) -> float | None:
    """A size from Linux' account of this process; None on other systems."""
    if not STATUS.exists():
        return None
    fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return float(fields[field].split()[0]) * 1024


def machine() -> dict[str, Any]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "the default"),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def describe_machine(machine: dict[str, Any], n_threads: int) -> str:
    load = machine["load_average"]
    busy = f", load {load[0]:.1f} at the start" if load else ""
    return (
        f"{machine['cpu']}, {machine['cores']} cores{busy}; "
        f"Python {machine['python']}; {n_threads} threads, "
        f"OpenMP wait policy: {machine['omp_wait_policy']}"
    )


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def block(mark: str = "") -> re.Pattern[str]:
    """What is between a page's marks for results; `mark` tells them apart where a page has several."""
    named = f"results {mark}".strip()
    return re.compile(rf"(?<=<!-- {named} -->\n).*?(?=<!-- /{named} -->)", flags=re.DOTALL)


def with_results(page: Path, results: str, mark: str = "") -> str:
    """The page's text, with what is between its marks written anew."""
    return block(mark).sub(lambda _: f"\n{results}\n\n", page.read_text(encoding="utf-8"))
