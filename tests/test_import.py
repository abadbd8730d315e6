"""Importing the package costs next to nothing, and loads no library that it may not need."""

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "rebelboost"
ALLOWED = 0.1
"""Seconds beyond scikit-learn's own."""
RUNS = 7

OPTIONAL = {"matplotlib", "typer", "polars", "pandas", "pyarrow", "dask", "rich"}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def modules_of_others(path):
    """Modules of NumPy, SciPy, joblib and scikit-learn that a file of ours imports at once."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        yield from (n for n in names if n.split(".")[0] in {"numpy", "scipy", "joblib", "sklearn"})


def seconds(before, timed):
    """Processor time of an import in a fresh process, after other imports."""
    code = f"{before}\nfrom time import process_time as now; t = now()\n{timed}\nprint(now() - t)"
    return float(run(code))


THEIRS = sorted({module for path in PACKAGE.rglob("*.py") for module in modules_of_others(path)})
BEFORE = "import sys, sklearn, " + ", ".join(THEIRS)


def test_importing_costs_at_most_a_tenth_of_a_second_beyond_scikit_learn():
    # Other work on the machine only ever adds: the least of some runs is the cost.
    assert any(seconds(BEFORE, "import rebelboost") <= ALLOWED for _ in range(RUNS))


def test_importing_loads_no_optional_library():
    # Some that are installed scikit-learn loads itself.
    loaded = [
        set(run(f"{BEFORE}{more}; print(*sys.modules)").split()) for more in ("", ", rebelboost")
    ]
    assert not (loaded[1] - loaded[0]) & OPTIONAL


def test_public_modules_are_attributes_that_are_loaded_when_they_are_used():
    code = "import sys, rebelboost; before = 'rebelboost.metrics' in sys.modules; "
    code += "print(before, rebelboost.metrics.mean_cost([0, 1], [0, 0], None), 'metrics' in dir(rebelboost))"
    assert run(code).split() == ["False", "0.5", "True"]
    code = "import rebelboost; print(hasattr(rebelboost, 'nonsense'))"
    assert run(code).strip() == "False"
