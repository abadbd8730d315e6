"""Whether two installations give the same results, to the last bit.

python benchmarks/same_bits.py --record before.json    # by the interpreter of one installation
python benchmarks/same_bits.py --compare before.json   # by that of the other

Fits some two hundred small models of every kind, and takes SHA-256 digests of all that they say: scores,
decisions, probabilities, expected costs, explanations, bounds, history, files; then the same of the model
files kept in `tests/models` and of what the command `rebel` writes. Only the public interface is used.

Numbers have to be equal, or the exit code is 1. Words are compared apart, since changing a sentence is no
error. Seconds are left out: nothing else here depends on the clock. Needs pandas, polars, pyarrow and typer.
"""

import argparse
import importlib.util
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import measuring

NEEDED = ("pandas", "polars", "pyarrow", "typer", "rebelboost")
VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "narwhals")
MOST_SHOWN = 40
Record = dict[str, dict[str, str]]
"""Of a case: its "numbers" and its "words", name → digest."""
Records = dict[str, Record]


# ---- recording


def jobs(only: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The name of each case and what records it."""
    from sameness import cases, elsewhere, recording

    every = [(case.name, lambda case=case: recording.record(case)) for case in cases.all_cases()]
    every += [
        (f"kept file {path.stem}", lambda path=path: elsewhere.record_kept(path))
        for path in elsewhere.kept_files()
    ]
    every += [
        (f"command, {name}", lambda options=options: elsewhere.record_command(options))
        for name, options in elsewhere.TRAININGS.items()
    ]
    yield from ((name, job) for name, job in every if only in name)


def record_all(only: str) -> Records:
    found: Records = {}
    for name, job in jobs(only):
        start = time.perf_counter()
        try:
            notes = job()
        except Exception as error:
            raise RuntimeError(f"the case {name!r} cannot be recorded") from error
        found[name] = {"numbers": notes.numbers, "words": notes.words}
        log(f"{time.perf_counter() - start:6.2f} s  {name}")
    return found


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def about() -> dict[str, str]:
    import rebelboost

    return {
        "installation": str(Path(rebelboost.__file__).parent),
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
    }


# ---- comparing


def differences(before: Records, after: Records, field: str) -> dict[str, list[str]]:
    """Case → the quantities that differ, or that only one side has."""
    found = {}
    for name in {**before, **after}:
        old, new = (side.get(name, {}).get(field, {}) for side in (before, after))
        unequal = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        if unequal:
            found[name] = unequal
    return found


def wrong_files(records: Records) -> list[str]:
    """Kept files that do not answer as is written down beside them."""
    return [name for name, record in records.items() if "as written down" in record["numbers"]]


def table(before: Records, after: Records) -> str:
    rows = []
    for field in ("numbers", "words"):
        n = sum(
            len({**record(before, name, field), **record(after, name, field)}) for name in after
        )
        unequal = differences(before, after, field)
        n_unequal = sum(map(len, unequal.values()))
        counts = (len(after), n, n - n_unequal, n_unequal, len(unequal))
        rows.append([field, *(f"{count:,}" for count in counts)])
    header = ["", "cases", "quantities", "equal", "different", "cases that differ"]
    return measuring.markdown(header, rows)


def record(records: Records, name: str, field: str) -> dict[str, str]:
    return records.get(name, {}).get(field, {})


def listed(unequal: dict[str, list[str]]) -> Iterator[str]:
    for name, quantities in list(unequal.items())[:MOST_SHOWN]:
        shown = ", ".join(quantities[:6])
        more = f" and {len(quantities) - 6} more" if len(quantities) > 6 else ""
        yield f"- {name}: {shown}{more}"
    if len(unequal) > MOST_SHOWN:
        yield f"- and {len(unequal) - MOST_SHOWN} more cases"


def by_quantity(unequal: dict[str, list[str]]) -> str:
    counts = Counter(quantity for quantities in unequal.values() for quantity in quantities)
    return ", ".join(f"{quantity} ({n})" for quantity, n in counts.most_common())


def report(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    old, new = before["records"], after["records"]
    for name in ("python", *VERSIONS):
        if before["about"][name] != after["about"][name]:
            yield f"Note: {name} {before['about'][name]} before, {after['about'][name]} after."
    yield table(old, new)
    numbers, words = (differences(old, new, field) for field in ("numbers", "words"))
    if numbers:
        yield "Numbers differ:\n" + "\n".join(listed(numbers))
    if words:
        yield f"Wording differs (not a failure), by quantity: {by_quantity(words)}."
    if wrong_files(new):
        yield f"Files that do not answer as written down: {', '.join(wrong_files(new))}."
    yield raised(new)


def raised(records: Records) -> str:
    """How many answers are exceptions: these prove less than numbers do."""
    answers = [each for record in records.values() for each in record["numbers"].values()]
    errors = [answer for answer in answers if answer.startswith("raises ")]
    return f"{len(errors)} of the {len(answers):,} answers are exceptions, compared by type."


# ---- the script


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--record", type=Path, metavar="FILE", help="write this side's digests here")
    mode.add_argument(
        "--compare", type=Path, metavar="FILE", help="with the digests of another run"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name has this text")
    return parser.parse_args()


def limit_to_one_core() -> None:
    """BLAS may sum in another order with more threads; set before NumPy is imported."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"


def check_needed() -> None:
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        sys.exit(
            f"{sys.executable} lacks {', '.join(absent)}: install them, so that both sides run all cases"
        )


def chosen(before: dict[str, Any], only: str) -> dict[str, Any]:
    return before | {"records": {n: r for n, r in before["records"].items() if only in n}}


def show(lines: Iterable[str]) -> None:
    print("\n\n".join(lines))


def main() -> None:
    options = parse_arguments()
    limit_to_one_core()
    check_needed()
    before = None if options.compare is None else json.loads(options.compare.read_text())
    now = {"about": about(), "records": record_all(options.only)}
    if before is None:
        options.record.write_text(json.dumps(now, indent=1))
        show(
            [
                f"{len(now['records'])} cases of {now['about']['installation']}",
                raised(now["records"]),
            ]
        )
        failed = bool(wrong_files(now["records"]))
    else:
        before = chosen(before, options.only)
        show(report(before, now))
        unequal = differences(before["records"], now["records"], "numbers")
        failed = bool(unequal or wrong_files(now["records"]))
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
