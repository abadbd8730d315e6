"""Rows that belong together: found or named, left out together, and said so."""

import re

import numpy as np
import pytest

QUICK = ("--rounds", 20, "--learner", "tree")


def visits(path, *, name="patient", text=True, seed=0, order=None):
    """Write 120 patients × 6 visits; the outcome of each patient is random."""
    rng = np.random.default_rng(seed)
    lines = [f"{name},visit,pressure,weight,outcome"]
    outcomes = rng.choice(["died", "lived"], 120)
    if order is not None:
        outcomes = np.sort(outcomes)
    for patient in range(120):
        weight = rng.uniform(50, 90)
        for visit in range(6):
            called = f"P{patient:03d}" if text else str(7 * patient + 1000)
            pressure = rng.normal(130, 10)
            cells = [called, str(visit), f"{pressure:.1f}", f"{weight:.1f}", outcomes[patient]]
            lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def accuracy(record):
    return record["evaluation"]["accuracy"]["value"]


@pytest.mark.parametrize("text", [True, False])
def test_visits_of_patients_are_judged_by_patient(folder, records, text):
    visits(folder / "t.csv", text=text)
    table, model = records("train", "t.csv", "-t", "outcome", "--rounds", 30)
    assert table["group"] == "patient"
    assert 0.45 <= accuracy(model) <= 0.57
    assert "patient" not in {column["name"] for column in table["columns"]}
    assert "--group patient" in table["warnings"][0]


def test_patients_sorted_by_outcome_are_found_too(folder, records):
    visits(folder / "t.csv", text=False, order="sorted")
    table, model = records("train", "t.csv", "-t", "outcome", *QUICK)
    assert table["group"] == "patient"
    assert accuracy(model) < 0.7


def test_an_ignored_column_is_not_used_for_anything_but_a_warning(folder, records):
    visits(folder / "t.csv")
    table, _ = records("train", "t.csv", "-t", "outcome", "--ignore", "patient", *QUICK)
    assert table["group"] == ""
    assert table["ignored"] == {"patient": "by --ignore"}
    assert "patient is ignored, but several rows have the same value" in table["warnings"][0]
    assert "--group patient" in table["warnings"][0]


def test_an_ignored_measurement_does_not_group_the_rows(folder, records):
    # As in the data of Michalowicz et al.: the age of the pregnancy at its outcome decides the outcome.
    rng = np.random.default_rng(0)
    lines = ["days_at_outcome,weight,outcome"]
    for _ in range(800):
        early = rng.random() < 0.3
        days = rng.integers(140, 259) if early else rng.integers(259, 290)
        lines.append(f"{days},{rng.normal():.2f},{'early' if early else 'term'}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    train = ("train", "t.csv", "-t", "outcome", *QUICK)
    table, _ = records(*train)
    assert table["group"] == ""
    assert "use --ignore days_at_outcome" in table["warnings"][0]
    table, _ = records(*train, "--ignore", "days_at_outcome", "--force")
    assert (table["group"], table["warnings"]) == ("", [])


def test_groups_that_are_named_are_used_without_a_warning(folder, rebel):
    visits(folder / "t.csv")
    done = rebel("train", "t.csv", "-t", "outcome", "--group", "patient", "--rounds", 20)
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "WARNING" not in told
    assert "each with fits that saw no row with the same patient" in told
    assert "patient: groups the rows" in told


def test_rows_can_be_declared_independent(folder, records):
    visits(folder / "t.csv")
    table, model = records("train", "t.csv", "-t", "outcome", "--group", "none", *QUICK)
    assert table["group"] == ""
    assert accuracy(model) > 0.9


def test_measurements_and_random_groups_are_no_groups(folder, records):
    rng = np.random.default_rng(0)
    lines = ["age,town,sick"]
    for _ in range(400):
        age = rng.integers(20, 80)
        lines.append(f"{age},T{rng.integers(60)},{'yes' if age > 50 else 'no'}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    table, _ = records("train", "t.csv", "-t", "sick", *QUICK)
    assert table["group"] == ""
    assert [column["name"] for column in table["columns"]] == ["age", "town"]


@pytest.mark.parametrize(
    ("learner", "told"), [("stump", "the latest fifth by day"), ("auto", "are earlier by day")]
)
def test_rows_in_time_are_judged_by_later_ones(folder, rebel, records, learner, told):
    rng = np.random.default_rng(0)
    lines = ["day,v,y"]
    for i in range(200):
        v = rng.normal()
        # What v says turns round after three quarters of the time.
        says = v > 0 if i < 150 else v < 0
        lines.append(f"2024-01-{1 + i // 10:02d},{v:.3f},{'yes' if says else 'no'}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ("train", "t.csv", "-t", "y", "--rounds", 20, "--learner", learner)
    _, mixed = records(*words, "-o", "a.safetensors")
    table, timed = records(*words, "--time", "day", "-o", "b.safetensors")
    assert table["time"] == "day"
    assert accuracy(timed) < accuracy(mixed) - 0.1
    assert {column["name"] for column in table["columns"]} == {"v"}
    done = rebel(*words, "--time", "day", "-o", "c.safetensors")
    assert told in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--group", "q"), "--group: t.csv has no column 'q'"),
        (("--time", "name"), "'name' of t.csv holds neither dates nor numbers"),
        (("--time", "day"), "'day' of t.csv is empty or unreadable in 1 row(s)"),
        (("--group", "one"), "'one' of t.csv has fewer than two different values"),
        (("--group", "name", "--time", "v"), "cannot be used together"),
    ],
)
def test_columns_that_cannot_order_or_group_are_refused(folder, rebel, options, told):
    lines = [f"{i},n{i % 5},{'' if i == 3 else i},x,{'ab'[i % 2]}" for i in range(30)]
    (folder / "t.csv").write_text("v,name,day,one,y\n" + "\n".join(lines), encoding="utf-8")
    done = rebel("train", "t.csv", "-t", "y", *QUICK, *options)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_column_that_decides_alone_is_asked_about(folder, rebel):
    rng = np.random.default_rng(0)
    lines = ["v,follow_up,outcome"]
    for _ in range(80):
        died = rng.random() < 0.4
        lines.append(
            f"{rng.normal():.2f},{rng.integers(1, 99) + 365 * (not died)},{'no' if died else 'yes'}"
        )
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    told = " ".join(rebel("train", "t.csv", "-t", "outcome", *QUICK).stdout.split())
    assert "follow_up nearly decides 'outcome' alone" in told
    assert "is it known beforehand? If not, use --ignore follow_up" in told


def test_columns_that_decide_together_are_asked_about(folder, rebel):
    rng = np.random.default_rng(0)
    lines = ["v,low,high,answer"]
    for _ in range(700):
        low, high = rng.integers(0, 2, 2)
        lines.append(f"{rng.normal():.2f},{low},{high},{'ny'[low ^ high]}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    told = " ".join(rebel("train", "t.csv", "-t", "answer").stdout.split())
    assert "nearly decides" not in told
    assert "nearly every row is decided correctly." in told
    assert re.search(r"Are (low and high|high and low) known before answer is\?", told)
    told = " ".join(
        rebel("train", "t.csv", "-t", "v", "-o", "v.safetensors", *QUICK).stdout.split()
    )
    assert "nearly every row" not in told


def test_a_column_that_decides_as_much_as_the_model_is_asked_about(folder, rebel):
    # As in the tests for Covid: a value for negative, low ones for positive, none for most invalid tests.
    rng = np.random.default_rng(0)
    result = rng.choice(["negative", "positive", "invalid"], 1500, p=[0.92, 0.06, 0.02])
    lines = ["cycles,age,result"]
    for each in result:
        cycles = {"negative": "45", "positive": f"{rng.uniform(15, 40):.1f}"}.get(each, "45")
        lines.append(f"{cycles},{rng.integers(1, 99)},{each}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    done = rebel("train", "t.csv", "-t", "result", *QUICK)
    told = " ".join(done.stdout.split())
    assert "cycles alone decides 97.8 %" in told
    assert "is it known before result is? If not, use --ignore cycles" in told


def test_an_attribute_of_the_group_is_no_leak(folder, records):
    # The age of a patient identifies the patient, and so "decides" the outcome of all visits.
    rng = np.random.default_rng(0)
    lines = ["patient,age,pressure,outcome"]
    for patient in range(120):
        age, outcome = rng.uniform(20, 80), "ab"[rng.integers(2)]
        lines += [f"{patient},{age:.4f},{rng.normal():.2f},{outcome}" for _ in range(6)]
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    table, _ = records("train", "t.csv", "-t", "outcome", *QUICK)
    assert table["group"] == "patient"
    assert not any("age nearly decides" in warning for warning in table["warnings"])
