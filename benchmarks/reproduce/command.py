"""`python -m benchmarks.reproduce`: run the papers' experiments, and judge what the papers state."""

import argparse
import shlex
import subprocess
import time
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any

import data
import measuring
from reproduce import harness
from reproduce.results import write_results

# Name → module, in the order of the page.
EXPERIMENTS = {
    "quick_subsets": "reproduce.subsets",
    "quick_heuristics": "reproduce.heuristics",
    "rebel_costs": "reproduce.planar_costs",
    "rebel_planar": "reproduce.planar",
    "rebel_uci": "reproduce.uci",
    "rebel_taxonomies": "reproduce.taxonomies",
    "local_spirals": "reproduce.local_spirals",
    "local_curves": "reproduce.local_curves",
    "local_fig8": "reproduce.fig8",
    "local_official": "reproduce.local_official",
    "ada_bound": "reproduce.ada_bound",
    "ada_faces": "reproduce.detectors",
}


def module(name: str) -> Any:
    return import_module(EXPERIMENTS[name])


def known() -> list[str]:
    """Experiments whose file is here."""
    return [name for name, path in EXPERIMENTS.items() if find_spec(path)]


def run(name: str, *, quick: bool, **parts: tuple[str, ...]) -> None:
    """Run an experiment, or the parts of it that are named, where it has such parts."""
    experiment = module(name)
    chosen = {p: v for p, v in parts.items() if v and p in signature(experiment.run).parameters}
    print(f"\n## {experiment.TITLE}\n", flush=True)
    about = {
        "command": f"python -m benchmarks.reproduce {name}"
        + " --quick" * quick
        + "".join(f" --{part} {quoted(part, values)}" for part, values in chosen.items()),
        "machine": measuring.describe_machine(measuring.machine(), 2),
        "commit": commit(),
    }
    began = time.perf_counter()
    report = experiment.run(quick=quick, **chosen)
    kept_as = name + ("_part" if chosen else "_quick" * quick)
    harness.write(kept_as, experiment.TITLE, report, about)
    print(harness.markdown(report), flush=True)
    print(f"\n{name}: {time.perf_counter() - began:.0f} s, kept results included", flush=True)


def quoted(part: str, values: tuple[str, ...]) -> str:
    return shlex.quote((";" if part == "methods" else ",").join(values))


def commit() -> str:
    """Of the checkout; empty where Git cannot tell."""
    words = ["git", "-C", str(harness.ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description="The papers' experiments: do their statements hold here?",
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(EXPERIMENTS))
    parser.add_argument("--all", action="store_true", help="every experiment")
    parser.add_argument("--quick", action="store_true", help="fewer sets, splits and rounds")
    parser.add_argument(
        "--sets",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="these only, where an experiment has several",
    )
    parser.add_argument(
        "--methods",
        type=lambda text: tuple(text.split(";")),
        default=(),
        help="these only, separated by semicolons, where an experiment compares several",
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=harness.N_PROCESSES,
        help="units that are measured at a time, of one thread each",
    )
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    parser.add_argument(
        "--docs", action="store_true", help="write docs/results.md from what was run"
    )
    options = parser.parse_args(arguments)
    harness.N_PROCESSES = options.processes
    unknown = set(options.names) - set(known())
    if unknown:
        parser.error(f"no experiment {sorted(unknown)} among {known()}")
    if options.list:
        print("\n".join(f"{name:18} {module(name).TITLE}" for name in known()))
    elif not (options.names or options.all or options.quick or options.docs):
        parser.error("name experiments, or give --all, --quick, --list or --docs")
    names = options.names or (known() if options.all or options.quick else [])
    missing = 0
    for name in names if not options.list else []:
        try:
            run(name, quick=options.quick, sets=options.sets, methods=options.methods)
        except data.MissingDataError as error:  # the others may have theirs
            missing += 1
            print(f"{name}: not run: {error}", flush=True)
    if options.docs:
        print(f"Written: {write_results({name: module(name).TITLE for name in known()})}")
    return 1 if missing else 0
