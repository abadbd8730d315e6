"""What DESIGN says of the shape of the package, held by tests."""

import ast
import graphlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "rebelboost"

# A module imports from packages that stand before its own, or from its own.
PACKAGES = [
    "exceptions",
    "base",
    "kernels",
    "losses",
    "data",
    "costs",
    "model",
    "rows",
    "learners",
    "boosting",
    "selection",
    "cascade",
    "theory",
    "tasks",
    "explain",
    "files",
    "export",
    "tables",
    "estimators",
    "onnx",
    "distributed",
    "dask",
    "vision",
    "datasets",
    "metrics",
    "evaluation",
    "plots",
    "report",
    "live",
    "__init__",
    "serve",
    "widget",
    "cli",
]
PLACE = {package: i for i, package in enumerate(PACKAGES)}

# Everything else is NumPy and SciPy. `Binary` clones estimators; whitening shrinks a covariance.
MAY_IMPORT_SKLEARN = {
    "widget",
    "estimators",
    "vision",
    "datasets",
    "metrics",
    "evaluation",
    "report",
}
MODULES_THAT_MAY_TOO = {"learners.binary"}

# Documented in spite of their underscore: https://docs.python.org/3/library/collections.html
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}

# What the compiled core has and the NumPy kernels have not.
ONLY_COMPILED = {"parallel", "module"}

LAZY = ["matplotlib", "PIL", "typer", "polars", "dask", "rich", "onnx", "onnxruntime",
        "starlette", "uvicorn", "anywidget"]  # fmt: skip
TEXT = {".py", ".cpp", ".hpp", ".md", ".toml", ".txt", ".json", ".cff", ".cfg", ""}
FOLDERS = ["src", "cpp", "tests", "examples", "benchmarks", "docs", ".ci"]


def module_name(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def imports(node):
    """Absolute names that the code under `node` imports, those for the type checker left out."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute here"
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        yield from imports(child)


SOURCES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}
IMPORTS = {name: set(imports(tree)) for name, tree in TREES.items()}


def package_imports(name):
    """Modules of this package that module `name` imports."""
    for imported in IMPORTS[name]:
        if imported.partition(".")[0] != "rebelboost":
            continue
        target = imported.removeprefix("rebelboost").removeprefix(".")
        while target not in SOURCES and "." in target:
            target = target.rpartition(".")[0]
        yield target if target in SOURCES else "__init__"


def files(suffixes):
    # In a git worktree .git is a file, and not one of ours.
    found = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in found if path.suffix in suffixes and "__pycache__" not in path.parts]


@pytest.mark.parametrize("name", SOURCES)
def test_a_module_imports_only_from_packages_that_stand_earlier(name):
    own = name.partition(".")[0]
    assert own in PLACE, f"give {own} a place in PACKAGES"
    for imported in package_imports(name):
        other = imported.partition(".")[0]
        assert other == own or PLACE[other] < PLACE[own], f"{name} imports {imported}"


def test_modules_do_not_import_one_another_in_circles():
    # A package's __init__ and its own modules may know one another.
    graph = {
        name: {i for i in package_imports(name) if not f"{name}.".startswith(f"{i}.")}
        for name in SOURCES
    }
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", SOURCES)
def test_scikit_learn_is_imported_only_where_the_design_names_it(name):
    if name.partition(".")[0] not in MAY_IMPORT_SKLEARN and name not in MODULES_THAT_MAY_TOO:
        assert not [i for i in IMPORTS[name] if i.partition(".")[0] == "sklearn"]


def private_accesses(tree):
    """`x._name` where x is neither self nor cls."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr in OF_NAMED_TUPLES:
            continue
        private = node.attr.startswith("_") and not node.attr.startswith("__")
        own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        if private and not own:
            yield ast.unparse(node)


@pytest.mark.parametrize("name", SOURCES)
def test_no_module_reaches_into_private_names_of_another_object(name):
    assert not list(private_accesses(TREES[name]))


@pytest.mark.parametrize("name", SOURCES)
def test_no_module_imports_a_private_name_of_another(name):
    imported = [i for i in IMPORTS[name] if i.partition(".")[0] == "rebelboost"]
    private = [i for i in imported if re.search(r"\._[a-z]", i) and not i.endswith("._compiled")]
    assert not private


def test_every_compiled_kernel_has_its_numpy_reference():
    compiled = {path.stem for path in (ROOT / "cpp").glob("*.cpp")} - ONLY_COMPILED
    reference = {path.stem for path in (PACKAGE / "kernels" / "reference").glob("*.py")}
    assert compiled == reference - {"__init__"}


def test_importing_the_package_loads_no_heavy_or_optional_library():
    code = f"import sys, rebelboost; print(*sorted(set(sys.modules) & set({LAZY})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_no_file_names_a_path_of_somebodys_machine():
    rooted = r"(?<![\w.~$}/])/(?:home|root|Users|work|opt|mnt|srv)/\w|[A-Z]:\\Users|file://"
    registry = r"index-url|/simple/|find-links"
    personal = re.compile(f"{rooted}|{registry}")
    ours = Path(__file__)
    found = {
        str(path.relative_to(ROOT)): personal.search(path.read_text(encoding="utf-8"))
        for path in files(TEXT)
        if path != ours
    }
    assert not {name: match[0] for name, match in found.items() if match}
