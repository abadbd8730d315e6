"""The service says what Python says, and refuses in JSON what it cannot answer."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import httpx
import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from cli.conftest import run_rebel
from loans import loan_lines
from rebelboost import RebelClassifier, RebelRegressor, load
from rebelboost.serve import Limits, app_of
from rebelboost.serve.answers import Service

ROW = {"amount": "61", "rate": "3,25", "city": "Bern", "since": "2019-07-30"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The file of a model of the command, of a table with decimal commas."""
    folder = tmp_path_factory.mktemp("served")
    table, path = folder / "loans.csv", folder / "loans.safetensors"
    table.write_text("\n".join(loan_lines(";", ",")) + "\n", encoding="utf-8")
    (folder / "costs.csv").write_text(",no,yes\nno,0,5\nyes,1,0\n", encoding="utf-8")
    options = ["--learner", "tree", "--rounds", 10, "--costs", folder / "costs.csv", "-o", path]
    done = run_rebel("train", table, "--target", "repaid", *options)
    assert done.exit_code == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def client(model):
    return TestClient(app_of(model, limits=Limits(20_000, 50, 5.0)), raise_server_exceptions=False)


def told(response):
    assert response.headers["content-type"] == "application/json"
    return response.json()


def test_predictions_are_those_of_python_to_the_bit(client, model):
    clf = load(model)
    rows = [ROW | {"amount": str(n)} for n in range(1, 50)]
    for given in (ROW, [ROW], rows[:3], rows):
        found = client.post("/predict", json=given)
        assert found.status_code == 200
        each, wanted = told(found)["rows"], given if isinstance(given, list) else [given]
        assert [row["decision"] for row in each] == clf.predict(wanted).tolist()
        posterior, costs = clf.predict_proba(wanted), clf.expected_cost(wanted)
        assert [list(row["probabilities"].values()) for row in each] == posterior.tolist()
        assert [list(row["expected_costs"].values()) for row in each] == costs.tolist()
        assert told(found)["notes"] == []


def test_reasons_are_those_of_the_command(client, model):
    clf = load(model)
    found = told(client.post("/explain?top=2", json=[ROW, ROW]))["rows"]
    why = clf.explain(ROW, top=2)[0]
    assert [each["decision"] for each in found] == [why.decision] * 2
    assert found[0]["text"] == why.text()
    assert found[0]["parts"]["name"] == why.table()["name"]


def test_cells_that_count_as_missing_are_noted(client):
    found = told(client.post("/predict", json=ROW | {"city": "Rome", "since": "soon"}))
    assert any("city" in note and "Rome" in note for note in found["notes"])
    assert any("since" in note and "soon" in note for note in found["notes"])
    assert told(client.post("/predict", json=ROW | {"city": None, "rate": ""}))["notes"] == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "not JSON"),
        (b"[" * 15_000, 400, "not JSON"),
        (b"", 400, "not JSON"),
        (b"[]", 422, "send an object"),
        (b"3", 422, "send an object"),
        (b"[3]", 422, "row 1 is a int, not a dict"),
        (b'{"amount": 3}', 422, "row 1 lacks 3 of the 4 column"),
        (json.dumps(ROW | {"amount": [1]}).encode(), 422, "'amount': it is a list"),
        (json.dumps(ROW | {"amount": 1e400}).encode(), 422, "infinite value in column 'amount'"),
        (json.dumps([ROW] * 51).encode(), 413, "51 rows are too many: send 50 at most"),
        (b" " * 20_001, 413, "send 20,000 bytes at most"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_json(client, body, status, message):
    found = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert found.status_code == status
    assert message in told(found)["error"]["message"]


def test_a_body_without_a_length_is_limited_too(client):
    def parts():
        for _ in range(100):
            yield b" " * 1000

    found = client.post("/predict", content=parts(), headers={"content-type": "application/json"})
    assert found.status_code == 413
    assert "too large" in told(found)["error"]["message"]


def test_pages_of_other_sites_cannot_ask(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        found = client.post("/predict", content=json.dumps(ROW), headers={"content-type": kind})
        assert found.status_code == 415
        assert kind in told(found)["error"]["message"]
    asked = {"origin": "https://example.org", "access-control-request-method": "POST"}
    found = client.options("/predict", headers=asked)
    assert "access-control-allow-origin" not in found.headers


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/../../etc/passwd", 404),
        ("GET", "/predict", 405),
        ("POST", "/health", 405),
        ("POST", "/explain?top=0", 422),
        ("POST", "/explain?top=x", 422),
    ],
)
def test_other_requests_are_refused_in_json(client, method, path, status):
    found = client.request(method, path, json=ROW if method == "POST" else None)
    assert found.status_code == status
    assert told(found)["error"]["message"]


def test_an_answer_that_takes_too_long_is_given_up(model, monkeypatch):
    monkeypatch.setattr(Service, "explain", lambda *_, **__: time.sleep(1.0))
    client = TestClient(app_of(model, limits=Limits(seconds=0.05)))
    found = client.post("/explain", json=ROW)
    assert found.status_code == 503
    assert "longer than 0.05 seconds" in told(found)["error"]["message"]


def test_a_failure_of_our_own_says_nothing_of_itself(model, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr(Service, "predict", fail)
    client = TestClient(app_of(model), raise_server_exceptions=False)
    found = client.post("/predict", json=ROW)
    assert found.status_code == 500
    assert "secret" not in found.text
    assert told(found)["error"]["message"]


def test_health_and_the_description_fit_the_answers(client):
    import jsonschema

    assert told(client.get("/health"))["status"] == "ok"
    described = told(client.get("/openapi.json"))
    schemas = described["components"]["schemas"]
    assert list(schemas["Row"]["properties"]) == list(ROW)
    assert set(described["paths"]) == {"/predict", "/explain", "/health", "/openapi.json"} - {
        "/openapi.json"
    }
    for path, name in [("/predict", "Predictions"), ("/explain", "Explanations")]:
        answer = told(client.post(path, json=ROW))
        schema = json.loads(json.dumps(schemas[name]).replace("#/components/schemas/", "#/$defs/"))
        jsonschema.validate(answer, schema | {"$defs": schemas})
        assert set(schemas[name]["properties"]) == set(answer)


def test_models_that_were_trained_in_python_are_served_too():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.random(60) < 0.5})
    clf = RebelClassifier("stump", n_rounds=5).fit(X, np.where(X.a > 0, "u", "v"))
    reg = RebelRegressor("stump", n_rounds=5).fit(X, X.a)
    row = {"a": 0.25, "b": True}
    found = told(TestClient(app_of(clf)).post("/predict", json=row))["rows"][0]
    assert list(found["probabilities"].values()) == clf.predict_proba(row)[0].tolist()
    found = told(TestClient(app_of(reg)).post("/predict", json=row))["rows"][0]
    assert found == {"prediction": reg.predict(row)[0]}
    assert told(TestClient(app_of(reg)).post("/explain", json=row))["rows"][0]["text"]


def test_the_command_serves_until_it_is_stopped(model):
    words = [sys.executable, "-m", "rebelboost.cli", "serve", str(model), "--port", "0", "--json"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = json.loads(server.stdout.readline())["address"]
        found = httpx.post(f"{address}/predict", json=ROW, timeout=30)
        assert found.json()["rows"][0]["decision"] == load(model).predict(ROW)[0]
        with urllib.request.urlopen(f"{address}/health", timeout=30) as answer:
            assert json.load(answer)["model"] == "loans"
        port = address.rpartition(":")[2]
        taken = run_rebel("serve", model, "--port", port)
        assert taken.exit_code == 2
        assert (
            f"cannot listen on 127.0.0.1, port {port} (Address already in use): choose another"
            in taken.stderr
        )
    finally:
        os.kill(server.pid, signal.SIGINT)
        _, stderr = server.communicate(timeout=30)
    assert server.returncode in (0, 130, -signal.SIGINT), stderr
    assert "Traceback" not in stderr
