"""Requests per second of `rebel serve` beside a LightGBM behind FastAPI, measured by wrk; one process each.

python benchmarks/serving.py [--seconds 5] [--connections 8]

Both models have 400 trees and get the same loans as JSON: one row, or 100 rows, in a request. LightGBM gets
numbers (dates as days, categories as codes), which its clients would have to make; rebelboost reads cells as
they stand.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

import measuring

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from loans import loan_lines

TREES, TRAINED = 400, 2_000
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


def asked(folder: Path, port: int, rows: object, seconds: int, connections: int) -> list[str]:
    """Requests per second, and the latency at the median and at 99 %."""
    script = folder / "ask.lua"
    body = json.dumps(rows, ensure_ascii=False).replace("]]", "] ]")
    script.write_text(
        f'wrk.method = "POST"\nwrk.body = [==[{body}]==]\n'
        'wrk.headers["Content-Type"] = "application/json"\n',
        encoding="utf-8",
    )
    address = f"http://127.0.0.1:{port}/predict"
    words = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(script),
        address,
    ]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in told, told
    found = re.search(r"Requests/sec:\s+([\d.]+)", told)[1]
    latency = {
        share: re.search(rf"^\s+{share}%\s+(\S+)", told, re.MULTILINE)[1] for share in (50, 99)
    }
    return [f"{float(found):,.0f}", latency[50], latency[99]]


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
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=8)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed")
    measuring.limit_threads(1)
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, rows = tables(folder)
        makers = {
            "rebel serve, cells as they stand": (our_server, lambda row: row),
            "LightGBM in FastAPI, numbers": (their_server, numbers),
        }
        for place, (library, (serve, form)) in enumerate(makers.items()):
            port = 8431 + place
            server = subprocess.Popen(serve(folder, path, port), stdout=subprocess.DEVNULL)
            try:
                wait_for(port)
                for n in (1, 100):
                    given = [form(row) for row in rows[:n]]
                    found = asked(folder, port, given, options.seconds, options.connections)
                    table.append([library, str(n), *found])
            finally:
                server.terminate()
                server.wait()
    print(measuring.describe_machine(measuring.machine(), 1), end="\n\n")
    print(measuring.markdown(["", "rows", "requests/s", "median", "99 %"], table))


if __name__ == "__main__":
    main()
