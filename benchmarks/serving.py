"""Requests per second of `rebel serve` beside a LightGBM behind FastAPI, measured by wrk; one process each.

python benchmarks/serving.py [--seconds 3] [--connections 8] [--repeats 3]

Both servers run, and are asked by turns; the best of the repeats counts. The processor time of a server for a
request says more than the rate where other work shares the machine. Both models have 400 trees and get the same
loans as JSON: one row, or 100 rows, in a request. LightGBM gets numbers (dates as days, categories as codes),
which its clients would have to make; rebelboost reads cells as they stand.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import measuring

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from loans import loan_lines

TREES, TRAINED, PORT = 400, 2_000, 8431


class Options(NamedTuple):
    """How servers are asked."""

    seconds: int
    connections: int


THEIRS = """
import sys
from typing import Any
import lightgbm, numpy, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

booster = lightgbm.Booster(model_file=sys.argv[1])

class Row(BaseModel):
    amount: float
    rate: float | None
    city: int
    since: float

app = FastAPI()

@app.post("/predict")
async def predict(rows: list[Row]) -> Any:
    X = numpy.array([[r.amount, numpy.nan if r.rate is None else r.rate, r.city, r.since] for r in rows])
    p = booster.predict(X, num_threads=1).tolist()
    return {"rows": [{"decision": int(y > 0.5), "probabilities": {"no": 1 - y, "yes": y}} for y in p]}

uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


def tables(folder: Path) -> tuple[Path, list[dict[str, str]]]:
    lines = loan_lines(n_rows=TRAINED)
    path = folder / "loans.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines[1:101]]
    return path, [{n: row[n] for n in ("amount", "rate", "city", "since")} for row in rows]


def our_server(folder: Path, table: Path, port: int) -> list[str]:
    from rebelboost import RebelClassifier, Tree
    from rebelboost.tables.columns import ColumnOptions
    from rebelboost.tables.files import opened
    from rebelboost.tables.schema import packed_schema
    from rebelboost.tables.schema_inference import infer_schema

    with opened(table) as opened_table:
        schema, training = infer_schema(opened_table, "repaid", ColumnOptions())
    clf = RebelClassifier(Tree(depth=6), n_rounds=TREES, cross_fit=None)
    clf.fit(training.frame, training.y)
    clf.metadata_ = {"table": packed_schema(schema)}
    clf.save(folder / "ours.safetensors")
    serve = [sys.executable, "-m", "rebelboost.cli", "serve", str(folder / "ours.safetensors")]
    return [*serve, "--port", str(port)]


def numbers(row: dict[str, str]) -> dict[str, object]:
    days = (np.datetime64(row["since"]) - np.datetime64("1970-01-01")).astype(int)
    cities = ["Bern", "Köln", "Łódź", ""]
    rate = None if row["rate"] == "NA" else float(row["rate"])
    return {
        "amount": float(row["amount"]),
        "rate": rate,
        "city": cities.index(row["city"]),
        "since": float(days),
    }


def their_server(folder: Path, table: Path, port: int) -> list[str]:
    import lightgbm

    lines = table.read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines[1:]]
    X = np.array(
        [[np.nan if v is None else v for v in numbers(row).values()] for row in rows], float
    )
    y = np.array([row["repaid"] == "yes" for row in rows])
    fitted = lightgbm.LGBMClassifier(n_estimators=TREES, num_leaves=64, max_depth=6, verbosity=-1)
    fitted.fit(X, y, categorical_feature=[2]).booster_.save_model(folder / "theirs.txt")
    (folder / "theirs.py").write_text(THEIRS)
    return [sys.executable, str(folder / "theirs.py"), str(folder / "theirs.txt"), str(port)]


class Asked(NamedTuple):
    """What wrk says of a server, and what the system says."""

    rate: float
    """Requests a second."""
    processor: float
    """Microseconds of the server for a request."""
    median: str
    """Latency."""
    slow: str
    """Latency at 99 %."""


def processor_time(process: subprocess.Popen[bytes]) -> float:
    """Seconds that a process has used."""
    told = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def asked(server: subprocess.Popen[bytes], script: Path, port: int, options: Options) -> Asked:
    """Ask for some seconds."""
    address = f"http://127.0.0.1:{port}/predict"
    words = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--latency"]
    before = processor_time(server)
    told = subprocess.run(
        [*words, "-s", str(script), address], capture_output=True, text=True, check=True
    ).stdout
    used = processor_time(server) - before
    assert "Non-2xx" not in told, told

    def found(pattern: str) -> str:
        return re.search(pattern, told, re.MULTILINE)[1]

    n = int(found(r"(\d+) requests in"))
    rate, median, slow = map(
        found, (r"Requests/sec:\s+([\d.]+)", *(rf"^\s+{s}%\s+(\S+)" for s in (50, 99)))
    )
    return Asked(float(rate), 1e6 * used / n, median, slow)


def written(folder: Path, name: str, rows: object) -> Path:
    """The script that makes wrk send these rows."""
    script = folder / f"{name}.lua"
    body = json.dumps(rows, ensure_ascii=False).replace("]]", "] ]")
    script.write_text(
        f'wrk.method = "POST"\nwrk.body = [==[{body}]==]\n'
        'wrk.headers["Content-Type"] = "application/json"\n',
        encoding="utf-8",
    )
    return script


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json", timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"nothing answers on port {port}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    options = Options(given.seconds, given.connections)
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed")
    measuring.limit_threads(1)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        path, rows = tables(folder)
        makers = {
            "rebel serve, cells as they stand": (our_server, lambda row: row),
            "LightGBM in FastAPI, numbers": (their_server, numbers),
        }
        calls = {}
        for place, (library, (serve, form)) in enumerate(makers.items()):
            port = PORT + place
            server = subprocess.Popen(serve(folder, path, port), stdout=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.terminate)
            wait_for(port)
            for n in (1, 100):
                script = written(folder, f"{place}-{n}", [form(row) for row in rows[:n]])
                calls[n, library] = partial(asked, server, script, port, options)
        found = {key: [] for key in calls}
        for _ in range(given.repeats):
            for key in sorted(calls):
                found[key].append(calls[key]())
    table = []
    for (n, library), own in found.items():
        best = max(own)
        least = min(each.processor for each in own)
        table.append(
            [library, str(n), f"{best.rate:,.0f}", f"{least:,.0f}", best.median, best.slow]
        )
    print(measuring.describe_machine(measuring.machine(), 1), end="\n\n")
    columns = ["", "rows", "requests/s", "processor µs a request", "median", "99 %"]
    print(measuring.markdown(columns, table))


if __name__ == "__main__":
    main()
