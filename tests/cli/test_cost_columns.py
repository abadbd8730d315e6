"""Cost files whose cells name a column: each row is priced by its own amount."""

import io

import numpy as np
import polars as pl
import pytest

from rebelboost import RebelClassifier

QUICK = ("--rounds", 15, "--learner", "tree")
COSTS = ",fraud,ok\nfraud,0,amount\nok,5,0\n"


@pytest.fixture
def payments(folder):
    rng = np.random.default_rng(0)
    lines = ["amount,hour,shop,kind"]
    for _ in range(200):
        hour = rng.integers(24)
        fraud = rng.random() < (0.5 if hour < 6 else 0.1)
        shop = rng.choice(["a", "b"])
        lines.append(f"{rng.integers(1, 10_000)},{hour},{shop},{'fraud' if fraud else 'ok'}")
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "costs.csv").write_text(COSTS, encoding="utf-8")
    return path


@pytest.fixture
def trained(payments, rebel):
    done = rebel("train", "t.csv", "-t", "kind", "--costs", "costs.csv", *QUICK)
    assert done.exit_code == 0, done.stderr
    assert "fraud decided as ok costs 'amount' of its row; ok decided as fraud costs 5" in " ".join(
        done.stdout.split()
    )
    return "t.safetensors"


def test_each_row_is_trained_on_and_decided_by_its_own_amount(trained, rebel):
    frame = pl.read_csv("t.csv")
    clf = RebelClassifier(
        "tree", n_rounds=15, n_jobs=-1, costs={("fraud", "ok"): "amount", ("ok", "fraud"): 5.0}
    ).fit(frame.drop("kind"), frame["kind"].to_numpy())
    decided = pl.read_csv(io.StringIO(rebel("predict", trained, "t.csv").stdout))
    assert decided["decision"].to_list() == clf.predict(frame.drop("kind")).tolist()
    least = clf.expected_cost(frame.drop("kind")).min(axis=1)
    assert decided["expected_cost"].to_numpy() == pytest.approx(least, abs=1e-5)


def test_evaluations_add_up_the_amounts(trained, folder, rebel, records):
    frame = pl.read_csv("t.csv").with_columns(pl.col("amount") * 2)  # another file, not seen
    frame.write_csv("new.csv")
    (judged,) = records("evaluate", trained, "new.csv")
    decided = pl.read_csv(io.StringIO(rebel("predict", trained, "new.csv").stdout))["decision"]
    both = frame.with_columns(decided)
    missed = both.filter((pl.col("kind") == "fraud") & (pl.col("decision") == "ok"))["amount"].sum()
    false = 5 * len(both.filter((pl.col("kind") == "ok") & (pl.col("decision") == "fraud")))
    assert judged["cost"]["value"] == pytest.approx((missed + false) / 200)
    always = min(
        frame.filter(pl.col("kind") == "fraud")["amount"].sum(), 5 * sum(frame["kind"] == "ok")
    )
    assert judged["constant_cost"] == pytest.approx(always / 200)


@pytest.mark.parametrize("command", [("report", "-o", "r.html"), ("explain",), ("evaluate",)])
def test_other_commands_take_them(payments, rebel, command):
    done = rebel("train", "t.csv", "-t", "kind", *QUICK)
    assert done.exit_code == 0, done.stderr
    name, *options = command
    done = rebel(name, "t.safetensors", "t.csv", "--costs", "costs.csv", *options)
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        (COSTS.replace("amount", "amout"), "'fraud' decided as 'ok' is 'amout', neither a number"),
        (COSTS.replace("amount", "shop"), "the column 'shop', which holds no numbers"),
        (",fraud,ok\nfraud,amount,1\nok,5,0\n", "right decisions cost 0"),
    ],
)
@pytest.mark.parametrize("command", ["train", "predict"])
def test_cells_that_name_no_amount_are_refused(payments, folder, rebel, costs, told, command):
    assert rebel("train", "t.csv", "-t", "kind", *QUICK).exit_code == 0
    (folder / "costs.csv").write_text(costs, encoding="utf-8")
    words = {
        "train": ("train", "t.csv", "-t", "kind", "-o", "other.safetensors", *QUICK),
        "predict": ("predict", "t.safetensors", "t.csv"),
    }
    done = rebel(*words[command], "--costs", "costs.csv")
    assert done.exit_code == 2
    assert "costs.csv" in done.stderr
    assert told in done.stderr


@pytest.mark.parametrize(("cell", "told"), [("-7", "is -7"), ("", "is missing")])
def test_amounts_that_cannot_be_costs_are_named(trained, payments, rebel, cell, told):
    lines = payments.read_text(encoding="utf-8").splitlines()
    lines[4] = f"{cell},{lines[4].partition(',')[2]}"
    payments.write_text("\n".join(lines), encoding="utf-8")
    words = ("train", "t.csv", "-t", "kind", "-o", "o.safetensors", "--costs", "costs.csv")
    for done in (rebel(*words, *QUICK), rebel("predict", trained, "t.csv", "--batch", 2)):
        assert done.exit_code == 2
        assert f"row 4 of t.csv: the cost in column 'amount' {told}" in done.stderr
