"""The shape of a source tree: sizes, imports between its parts, hops of a fit, twins, families, type tests.

python benchmarks/structure.py [--src src] [--python .venv/bin/python] [--list]

These things are counted, so that two trees can be compared:

- Sizes: modules and lines of each package, and in all.
- Imports: which module or package directly below `rebelboost` imports which; whether there is a cycle; an
  order in which each part comes after all that it imports. Lazy imports, inside functions, count; those
  for the type checker are shown, and looked at apart.
- Hops: in how many functions of another module than their caller's a reader lands who follows the code
  from `fit` to the first round, which is the first `propose` or `go_ahead` of a learner. A function counts
  once however often it is called, for it is read once. Beside it: all such pairs of caller and callee, the
  pairs of modules among them, all modules, how often a call changes the module, and how deep the stack is
  in the end. `layout/hops.py` says what is left out.
- Twins: classes, public functions and modules whose names begin with Spread or Number (`layout/sizes.py`).
- Families: the files that a new loss, learner, term kind, decision rule, export format or candidate of the
  race has to be added to, because they name the present ones (`layout/families.py` says how).
- Type tests: `isinstance` and `match` on kinds of terms (`--kinds` gives other names or patterns).
- Private accesses: `x._name` where x is not self, cls or super().
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measuring
from layout import families, imports, sites, sizes
from layout.imports import Kind

ROOT = Path(__file__).resolve().parents[1]
HOPS = Path(__file__).with_name("layout") / "hops.py"
MARKS = {Kind.LOADING: "{}", Kind.LAZY: "({})", Kind.TYPING: "[{}]"}

# ---- sizes and twins


def size_report(package: Path) -> Iterator[str]:
    found = sizes.sizes(package)
    yield "## Sizes"
    rows = [[part or "(alone)", *map(_whole, size)] for part, size in sorted(found.items())]
    total = [sum(size[i] for size in found.values()) for i in range(2)]
    rows.append(["**all**", *map(_whole, total)])
    yield measuring.markdown(["package", "modules", "lines"], rows)


def _whole(n: int) -> str:
    return f"{n:,}"


def twin_report(package: Path, *, all_listed: bool) -> Iterator[str]:
    found = sizes.twins(package)
    yield "## Twins"
    yield ", ".join(f"{pattern}: {len(names)}" for pattern, names in found.items())
    if all_listed:
        yield "\n".join(f"- {name}" for names in found.values() for name in names)


def family_report(package: Path, *, all_listed: bool) -> Iterator[str]:
    found = families.namings(package)
    yield "## Files that name members of a family"
    rows = [
        [family, str(len(naming.several)), str(naming.fewest), _by_member(naming)]
        for family, naming in found.items()
    ]
    yield measuring.markdown(["family", "several members", "one, at least", "by member"], rows)
    if all_listed:
        yield "\n".join(
            f"- {family}: {', '.join(naming.several)}" for family, naming in found.items()
        )


def _by_member(naming: families.Naming) -> str:
    return ", ".join(f"{member} {len(files)}" for member, files in naming.by_member.items())


# ---- what imports what


def import_report(package: Path) -> Iterator[str]:
    found = imports.graph(package)
    yield f"## Imports between the {len(found)} parts of the package"
    yield "(lazy), [for the type checker only]"
    yield "\n".join(f"- {unit}: {_imported(to_all) or '–'}" for unit, to_all in found.items())
    for kind, what in (
        (Kind.LOADING, "Imports at loading"),
        (Kind.LAZY, "With lazy imports"),
        (Kind.TYPING, "With those for the type checker"),
    ):
        edges = imports.limited(found, kind)
        n = sum(map(len, edges.values()))
        yield f"{what}: {n} edges, {_cycles(imports.cycles(edges))}."
    order = imports.order(imports.limited(found, Kind.LAZY))
    yield "In order, each after what it imports (lazily too): " + ", ".join(order)


def _imported(to_all: dict[str, Kind]) -> str:
    ranked = sorted(to_all.items(), key=lambda item: (item[1], item[0]))
    return ", ".join(MARKS[kind].format(to) for to, kind in ranked)


def _cycles(groups: list[list[str]]) -> str:
    if not groups:
        return "no cycle"
    return f"{len(groups)} cycle(s): " + "; ".join(" + ".join(group) for group in groups)


# ---- hops


def traced(src: Path, python: Path) -> dict[str, Any]:
    """The traces of two fits, by the interpreter of the tree's own installation."""
    done = subprocess.run([python, HOPS], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{python} cannot trace a fit: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    if Path(found["package"]).resolve() != (src / imports.PACKAGE).resolve():
        sys.exit(
            f"{python} runs the package in {found['package']}: give with --python the interpreter "
            f"of an installation of {src}"
        )
    return found["traces"]


def hop_report(traces: dict[str, Any], *, all_listed: bool) -> Iterator[str]:
    yield "## From `fit` to the first round"
    header = [
        "fit of",
        "hops",
        "pairs of functions",
        "pairs of modules",
        "modules",
        "changes",
        "stack",
    ]
    rows = [[f"`{name}`", *_hop_counts(trace)] for name, trace in traces.items()]
    yield measuring.markdown([*header, "modules on it"], rows)
    for name, trace in traces.items():
        stack = " → ".join(f"{_short(module)}:{function}" for module, function in trace["stack"])
        yield f"`{name}`: {stack}"
        if all_listed:
            yield "\n".join(_hops(trace))


def _hop_counts(trace: dict[str, Any]) -> list[str]:
    hops, stack = list(map(tuple, trace["hops"])), trace["stack"]
    counted = (
        {hop[2:] for hop in hops},
        set(hops),
        {(hop[0], hop[2]) for hop in hops},
        {module for hop in hops for module in (hop[0], hop[2])},
        hops,
        stack,
        {module for module, _ in stack},
    )
    return [str(len(each)) for each in counted]


def _hops(trace: dict[str, Any]) -> Iterator[str]:
    seen = set()
    for caller, calling, callee, called in trace["hops"]:
        if (callee, called) not in seen:
            seen.add((callee, called))
            yield f"{len(seen):4} {_short(caller)}:{calling} → {_short(callee)}:{called}"


def _short(module: str) -> str:
    return module.removeprefix(f"{imports.PACKAGE}.")


# ---- sites


def type_test_report(
    package: Path, patterns: tuple[str, ...], *, all_listed: bool
) -> Iterator[str]:
    found = sites.type_tests(package, patterns)
    yield "## Type tests on kinds of terms"
    by_name = Counter(name for site in found for name in site.names)
    names = ", ".join(f"{name} {n}" for name, n in by_name.most_common())
    yield f"{len(found)} sites in {len({site.file for site in found})} files: {names or 'none'}."
    yield from _listed(found, all_listed=all_listed)


def private_report(package: Path, *, all_listed: bool) -> Iterator[str]:
    found = sites.private_accesses(package)
    yield "## Private accesses from outside"
    yield f"{len(found)} in {len({site.file for site in found})} files."
    yield from _listed(found, all_listed=all_listed)


def _listed(found: list[sites.Site], *, all_listed: bool) -> Iterator[str]:
    """By file, or every site."""
    if not found:
        return
    by_file = Counter(site.file for site in found)
    lines = [f"- {file}: {n}" for file, n in by_file.most_common()]
    if all_listed:
        lines = [f"- {site.file}:{site.line}: {', '.join(site.names)}" for site in found]
    yield "\n".join(lines)


# ---- the script


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--src", type=Path, default=ROOT / "src", help="holds the package")
    parser.add_argument(
        "--python", type=Path, help="default: the .venv beside --src, else this one"
    )
    parser.add_argument("--kinds", default=",".join(sites.KINDS), help="names or patterns, a,b*")
    parser.add_argument("--list", action="store_true", help="every hop and every site")
    options = parser.parse_args()
    if not (options.src / imports.PACKAGE).is_dir():
        parser.error(f"{options.src} holds no folder {imports.PACKAGE}")
    beside = options.src.resolve().parent / ".venv" / "bin" / "python"
    options.python = options.python or (beside if beside.exists() else Path(sys.executable))
    return options


def main() -> None:
    options = parse_arguments()
    package, patterns = options.src / imports.PACKAGE, tuple(options.kinds.split(","))
    parts = [
        *size_report(package),
        *twin_report(package, all_listed=options.list),
        *family_report(package, all_listed=options.list),
        *import_report(package),
        *hop_report(traced(options.src, options.python), all_listed=options.list),
        *type_test_report(package, patterns, all_listed=options.list),
        *private_report(package, all_listed=options.list),
    ]
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
