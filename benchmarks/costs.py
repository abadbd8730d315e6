"""What mistakes cost: ours beside calibrated rivals, reductions, and the papers' own way.

python benchmarks/costs.py [--only a,b,c,d,e] [--quick] [--probabilities] [--docs] [--methods ours,LightGBM]

Results are kept in .benchmarks/costs until the method's code or version changes, so that a run
that was stopped goes on where it was, and a change of ours does not run the rivals again.
`--docs` writes the results into docs/costs.md: of parts (a) to (d) and all methods, or with `--only e` of
part (e), costs that differ from sample to sample; its tables and methods are in `pricing/by_sample.py`.
"""

import argparse
import multiprocessing
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed

import measuring
from pricing import amounts, page, records, tables, trials
from pricing.methods import METHODS
from pricing.records import Record
from pricing.tables import Records
from pricing.trials import PARTS, Problem

N_PROCESSES = 2
BY_SAMPLE = "e"
"""The part with costs by sample, which are no matrices."""
ABOUT = """\
Costs of random guessing are about 1. Each set of a part counts the same, however many trials it
has. A method that is left out of some sets has its mean over the others; ratio and share compare it
with ours on those. "ours lower" is the share of trials, ties counting half. Seconds are of one
thread, two methods running at a time, all trials of the part together; a method whose posterior does
not depend on the costs is fitted once for all matrices of a split. Integer-coded categories
are numbers for all methods alike. Calibration is isotonic, in 5 folds, also where a class has
fewer than 5 samples."""

Unit = tuple[Problem, str]


def units(parts: list[str], titles: list[str], *, quick: bool) -> list[Unit]:
    """Large problems first, so that no process is left alone with one at the end."""
    ordered = sorted(parts, key="cdab".index)
    return [
        (problem, title)
        for part in ordered
        for problem in trials.problems(part, quick=quick)
        for title in titles
        if part in METHODS[title].parts
    ]


def run_all(wanted: list[Unit]) -> Records:
    """What is kept, and the rest in two processes; variants of ours that are one are run once."""
    found: Records = {}
    missing: dict[str, list[Unit]] = {}
    for unit in wanted:
        kept = records.find(*unit)
        if kept is None:
            missing.setdefault(records.path(*unit).name, []).append(unit)
        else:
            found[unit] = kept
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(N_PROCESSES, mp_context=spawn) as pool:
        running = {pool.submit(records.measure, *same[0]): same for same in missing.values()}
        for i, future in enumerate(as_completed(running), 1):
            same = running[future]
            found |= dict.fromkeys(same, outcome(future, same[0]))
            log(f"{i} of {len(running)}: {describe(same[0], found[same[0]])}")
    return {unit: found[unit] for unit in wanted}


def outcome(future: Future[Record], unit: Unit) -> Record:
    """What was measured, and kept; or the problem: a rival that fails must not stop the others."""
    error = future.exception()
    if error is None:
        record = future.result()
        records.keep(*unit, record)
        return record
    what = "absent" if isinstance(error, ImportError) else "failed"
    return {"left_out": f"{what}: {type(error).__name__}: {error}"}


def describe(unit: Unit, record: Record) -> str:
    problem, title = unit
    done = f"{record['seconds']:.1f} s" if "seconds" in record else record["left_out"]
    return f"({problem.part}) {problem.name} {problem.split}, {title}: {done}"


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def report(found: Records, options: argparse.Namespace) -> Iterable[str]:
    parts = [part for part in options.only if part in PARTS]
    yield measuring.describe_machine(measuring.machine(), 1)
    yield ABOUT
    if options.quick:
        yield "**A quick run**: a few trials of each part, far too few to judge by."
    for part in parts:
        yield f"## {PARTS[part]}"
        yield tables.part_table(found, part)
        if len({problem.name for problem, _ in found if problem.part == part}) > 1:
            yield tables.set_table(found, part)
        yield "\n".join(tables.left_out(found, part))
    if options.probabilities:
        yield "## Probabilities"
        yield tables.probability_table(found)
    if BY_SAMPLE in options.only:
        yield f"## {amounts.TITLE}"
        yield amounts.report(amounts.run(amounts.QUICK if options.quick else amounts.SPLITS))
    if not parts:
        return
    yield "## Goals"
    goals = [line for part in parts for line in tables.cost_goals(found, part)]
    goals += tables.papers_claim(found)
    goals += tables.probability_goals(found) if options.probabilities else []
    yield "\n".join(goals) or "Nothing to judge: ours was not run beside a rival."


def parse_arguments() -> argparse.Namespace:
    def parts(text: str) -> list[str]:
        unknown = set(text.split(",")) - {*PARTS, BY_SAMPLE}
        if unknown:
            raise argparse.ArgumentTypeError(f"no {unknown} among {[*PARTS, BY_SAMPLE]}")
        return sorted(text.split(","))

    def methods(text: str) -> list[str]:
        return [t for t in METHODS if any(t.startswith(each) for each in text.split(","))]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=parts, default=[*PARTS, BY_SAMPLE], help="parts, as in a,d")
    parser.add_argument("--quick", action="store_true", help="a few trials of each part")
    parser.add_argument("--probabilities", action="store_true", help="also log-loss and ECE")
    parser.add_argument("--methods", type=methods, default=list(METHODS), help="how they begin")
    parser.add_argument("--docs", action="store_true", help="also write docs/costs.md")
    options = parser.parse_args()
    parts_run = [part for part in options.only if part in PARTS]
    whole = parts_run in ([], list(PARTS)) and options.methods == list(METHODS)
    if options.docs and (options.quick or not whole):
        parser.error("--docs is for a whole run: only `--only e` may be given with it")
    return options


def main() -> None:
    options = parse_arguments()
    parts = [part for part in options.only if part in PARTS]
    wanted = units(parts, options.methods, quick=options.quick)
    if options.probabilities:
        wanted += units(["d"], list(tables.PROBABILITIES.values()), quick=options.quick)
    measuring.limit_threads(1)
    found = run_all(list(dict.fromkeys(wanted)))
    print("\n\n".join(line for line in report(found, options) if line))
    if options.docs and parts:
        log(f"Written: {page.write(found)}")
    if options.docs and BY_SAMPLE in options.only:
        amounts.write(amounts.run())
        log(f"Written: {amounts.FIGURES}; readme_table.py puts it into docs/costs.md")


if __name__ == "__main__":
    main()
