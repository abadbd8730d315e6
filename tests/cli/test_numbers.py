"""Targets that are numbers: a regressor, or two classes by --cut-at."""

import csv
from pathlib import Path

import numpy as np
import pytest

from rebelboost import RebelRegressor, load


@pytest.fixture
def houses(folder):
    """Prices that grow with the area, with a thousands point and a currency."""
    rng = np.random.default_rng(0)
    lines = ["area;garden;price"]
    for _ in range(200):
        area, garden = rng.integers(40, 200), rng.integers(2)
        price = round(1500 * area + 20_000 * garden + rng.normal(0, 5000))
        lines.append(f"{area};{'yes' if garden else 'no'};{price:,} €".replace(",", "."))
    path = folder / "houses.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


QUICK = ("--rounds", 40, "--time-budget", 20)


@pytest.fixture
def priced(houses, rebel):
    done = rebel("train", "houses.csv", "-t", "price", *QUICK)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_a_target_of_amounts_trains_a_regressor_and_says_so(priced):
    assert isinstance(load("houses.safetensors"), RebelRegressor)
    told = " ".join(priced.split())
    assert "predicts numbers from" in told
    assert "price: '" in told
    assert "is read as" in told
    assert "always" in told
    assert "accuracy" not in told
    assert "rebel report" in told


def test_numbers_are_evaluated_predicted_and_explained(priced, rebel, records):
    (found,) = records("evaluate", "houses.safetensors", "houses.csv")
    assert found["explained"] > 0.9
    assert 3000 < found["error"]["value"] < 15_000
    assert found["error"]["low"] < found["error"]["value"] < found["error"]["high"]
    assert found["constant_error"] > 3 * found["error"]["value"]
    rows = list(
        csv.DictReader(rebel("predict", "houses.safetensors", "houses.csv").stdout.splitlines())
    )
    assert len(rows) == 200
    assert 50_000 < float(rows[0]["prediction"]) < 350_000
    assert "area" in rebel("explain", "houses.safetensors", "houses.csv", "--rows", 1).stdout
    assert "area" in rebel("explain", "houses.safetensors").stdout


def test_a_report_on_numbers_is_written(priced, rebel):
    done = rebel("report", "houses.safetensors", "houses.csv", "-o", "houses.html")
    assert done.exit_code == 0, done.stderr
    page = Path("houses.html").read_text(encoding="utf-8")
    assert "Predictions of new cases like these are off by" in page
    assert rebel("report", "houses.safetensors", "houses.csv", "--no-names").exit_code == 0


def test_unseen_rows_with_numbers_in_the_same_format_are_evaluated(priced, folder, records):
    (folder / "new.csv").write_text(
        "area;garden;price\n100;no;150.000 €\n60;yes;110.000 €\n80;no;\n", encoding="utf-8"
    )
    (found,) = records("evaluate", "houses.safetensors", "new.csv")
    assert found["n"] == 2
    assert found["error"]["value"] < 20_000


def test_costs_and_similarities_of_numbers_are_refused_with_the_remedy(priced, folder, rebel):
    (folder / "costs.csv").write_text(",a,b\na,0,1\nb,1,0\n", encoding="utf-8")
    done = rebel("report", "houses.safetensors", "houses.csv", "--costs", "costs.csv")
    assert done.exit_code == 2
    assert "numbers" in done.stderr
    words = ("train", "houses.csv", "-t", "price", "-o", "other.safetensors")
    done = rebel(*words, "--costs", "costs.csv")
    assert done.exit_code == 2
    assert "'price' consists of numbers" in done.stderr
    done = rebel(*words, "--learner", "similarity")
    assert done.exit_code == 2
    assert "--learner tree" in done.stderr


def test_numbers_are_cut_into_two_classes(houses, rebel, records):
    words = ("train", "houses.csv", "-t", "price", "--cut-at", 200_000, "--learner", "stump")
    table, model = records(*words, "--rounds", 20)
    assert list(table["counts"]) == ["< 200000", "≥ 200000"]
    assert sum(table["counts"].values()) == 200
    assert model["evaluation"]["accuracy"]["value"] > 0.8
    (found,) = records("evaluate", "houses.safetensors", "houses.csv")
    assert found["classes"] == ["< 200000", "≥ 200000"]
    told = rebel("predict", "houses.safetensors", "houses.csv").stdout
    assert "probability_≥ 200000" in told.splitlines()[0]
    assert "--cut-at 200000" in load("houses.safetensors").metadata_["command"]


@pytest.mark.parametrize(
    ("target", "words", "told"),
    [
        ("price", ("--cut-at", 5), "leaves one side empty: 'price' has values from"),
        ("garden", ("--cut-at", 5), "--cut-at: column 'garden' of houses.csv does not consist of"),
        ("garden", ("--task", "numbers"), "--task numbers: column 'garden'"),
        ("price", ("--task", "x"), "--task is 'x': use classes or numbers"),
        ("price", ("--task", "classes", "--cut-at", 5), "leave --task out"),
    ],
)
def test_impossible_cuts_and_tasks_are_refused(houses, rebel, target, words, told):
    done = rebel("train", "houses.csv", "-t", target, *words)
    assert done.exit_code == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    ("values", "is_numbers"),
    [
        ([str(i % 10) for i in range(90)], False),
        ([str(i % 45) for i in range(90)], True),
        ([f"{i % 12 / 8}" for i in range(90)], True),
        ([f"{i % 4 / 2}" for i in range(90)], False),
        (["a", "b", "c"] * 30, False),
    ],
)
def test_codes_are_classes_and_amounts_are_numbers(folder, records, values, is_numbers):
    lines = [f"{i * 7919 % 101},{value}" for i, value in enumerate(values)]
    (folder / "t.csv").write_text("v,y\n" + "\n".join(lines), encoding="utf-8")
    table, _ = records("train", "t.csv", "-t", "y", "--rounds", 2, "--learner", "stump")
    assert (not table["counts"]) == is_numbers


def test_codes_are_predicted_as_numbers_when_asked(folder, records):
    lines = [f"{i % 10 + i % 3},{i % 10}" for i in range(90)]
    (folder / "t.csv").write_text("v,y\n" + "\n".join(lines), encoding="utf-8")
    table, model = records("train", "t.csv", "-t", "y", "--task", "numbers", "--rounds", 30)
    assert table["spread"] == [0, 4.5, 9]
    assert model["evaluation"]["explained"] > 0.7
