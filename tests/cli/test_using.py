"""`predict`, `evaluate`, `explain`, `report`: what they do with a model."""

import html
import io
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from loans import loan_lines
from rebelboost import load
from rebelboost.base.text import percent
from rebelboost.tables.held_out import row_hashes, seen_rows


@pytest.fixture
def new(folder):
    """Loans that the model has not seen, among them a city that it does not know."""
    text = "\n".join(loan_lines(n_rows=60, seed=1)).replace("Köln", "Rome")
    path = folder / "new.csv"
    path.write_text(text, encoding="utf-8")
    return path


def read(text):
    return pl.read_csv(io.StringIO(text))


def test_predictions_are_those_of_the_model(model, loans, rebel):
    done = rebel("predict", model, "loans.csv")
    assert done.exit_code == 0
    assert done.stderr == ""
    decided = read(done.stdout)
    figures = ["probability_no", "probability_yes", "expected_cost"]
    assert decided.columns == ["loan", "decision", *figures]  # with the identifier of rows
    from rebelboost.tables.files import opened
    from rebelboost.tables.schema_inference import infer_schema

    with opened(loans) as table:
        _, samples = infer_schema(table, "repaid")
    clf = load(model)
    assert decided["decision"].to_list() == clf.predict(samples.frame).tolist()
    written = decided.select("probability_no", "probability_yes").to_numpy()
    # Six digits are written.
    assert np.abs(written - clf.predict_proba(samples.frame)).max() <= 5.1e-7
    least = clf.expected_cost(samples.frame).min(axis=1)
    assert np.abs(decided["expected_cost"].to_numpy() - least).max() <= 5.1e-7


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_batches_change_nothing(model, loans, rebel, batch):
    whole = rebel("predict", model, "loans.csv", "--id", "loan").stdout
    assert rebel("predict", model, "loans.csv", "--id", "loan", "--batch", batch).stdout == whole
    assert read(whole)["loan"].to_list() == [f"L{i:04d}" for i in range(150)]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_predictions_are_written_in_the_form_of_the_files_name(model, loans, rebel, name):
    done = rebel("predict", model, "loans.csv", "-o", name)
    assert done.exit_code == 0
    assert f"Wrote 150 decisions to {name}" in done.stdout
    if name.endswith("parquet"):
        decided = pl.read_parquet(name)
    else:
        decided = pl.read_csv(name, separator="\t" if name.endswith("tsv") else ",")
    assert decided.shape == (150, 5)


def test_the_target_is_not_needed_and_columns_may_come_in_any_order(model, loans, rebel):
    frame = pl.read_csv(loans, infer_schema=False)
    order = ["since", "city", "rate", "loan", "amount"]
    frame.select(order).write_csv("other.csv", separator=";")
    frame.select(order).write_parquet("other.parquet")
    expected = rebel("predict", model, "loans.csv").stdout
    assert rebel("predict", model, "other.csv").stdout == expected
    assert rebel("predict", model, "other.parquet").stdout == expected


def test_what_does_not_fit_is_counted_and_told(model, new, rebel):
    text = new.read_text(encoding="utf-8").replace("amount,", "amount,colour,", 1)
    lines = text.splitlines()
    cells = [line.split(",") for line in lines[1:]]
    for row in cells:
        row.insert(2, "red")
    cells[0][1] = "plenty"
    new.write_text("\n".join([lines[0], *(",".join(row) for row in cells)]), encoding="utf-8")
    n_rome = sum(row[4] == "Rome" for row in cells)
    done = rebel("predict", model, "new.csv")
    assert done.exit_code == 0
    assert (
        f"city: {n_rome} cell(s) with categories that training never saw, such as 'Rome'"
        in done.stderr
    )
    assert "amount: 1 cell(s) in another format" in done.stderr
    assert "not used by the model: colour" in done.stderr


def test_pooled_categories_are_not_called_unseen(folder, rebel):
    rng = np.random.default_rng(0)
    towns = [f"T{i}" for i in [*range(300), *range(253), *range(253)]] + ["Bern"] * 100
    lines = [f"{town},{rng.integers(9)},{rng.choice(['a', 'b'])}" for town in towns]
    (folder / "t.csv").write_text("town,v,y\n" + "\n".join(lines), encoding="utf-8")
    done = rebel("train", "t.csv", "-t", "y", "--rounds", 5, "--learner", "tree")
    assert "has 301 categories; the 254 most frequent are used" in " ".join(done.stdout.split())
    rows = "\n".join([*(f"T{i},1,a" for i in range(300)), "Rome,2,b", "Bern,3,b"])
    (folder / "new.csv").write_text(f"town,v,y\n{rows}\n", encoding="utf-8")
    told = rebel("predict", "t.safetensors", "new.csv").stderr
    assert "town: 1 cell(s) with categories that training never saw, such as 'Rome'" in told
    assert "town: 47 cell(s) with categories that were pooled in training" in told


def test_decisions_as_records(model, loans, records):
    decided = records("predict", model, "loans.csv", "--id", "loan")
    assert len(decided) == 150
    assert decided[0].keys() == {
        *("record", "loan", "decision", "probability_no", "probability_yes", "expected_cost")
    }


def test_other_costs_change_decisions_without_training(model, loans, folder, rebel):
    (folder / "c.csv").write_text(",no,yes\nno,0,1e12\nyes,1,0\n", encoding="utf-8")
    before = read(rebel("predict", model, "loans.csv").stdout)["decision"].to_list()
    after = read(rebel("predict", model, "loans.csv", "--costs", "c.csv").stdout)[
        "decision"
    ].to_list()
    assert after.count("yes") < before.count("yes")


def test_a_model_is_judged_by_rows_that_it_has_not_seen(model, new, rebel, records):
    (judged,) = records("evaluate", model, "new.csv")
    assert judged["n"] == 60
    assert not judged["seen_in_training"]
    done = rebel("evaluate", model, "new.csv")
    assert percent(judged["accuracy"]["value"]) in done.stdout
    decided = read(rebel("predict", model, "new.csv").stdout)["decision"].to_list()
    true = pl.read_csv("new.csv")["repaid"].to_list()
    right = sum(a == b for a, b in zip(decided, true, strict=True))
    assert judged["accuracy"]["value"] == pytest.approx(right / 60, abs=1e-12)


def test_figures_of_the_training_file_come_with_a_warning(model, loans, rebel):
    assert "was trained on this file" in rebel("evaluate", model, "loans.csv").stderr


def test_the_training_file_is_judged_by_left_out_rows(loans, rebel, records):
    _, trained = records("train", "loans.csv", "-t", "repaid", "--rounds", 20)
    (judged,) = records("evaluate", "loans.safetensors", "loans.csv")
    assert judged["seen_in_training"]
    assert judged["accuracy"] == trained["evaluation"]["accuracy"]
    done = rebel("evaluate", "loans.safetensors", "loans.csv")
    assert "each row is evaluated by fits that did not see it" in done.stderr


@pytest.mark.parametrize("rows", ["values", "none"])
def test_rows_that_were_trained_on_are_noticed_in_another_file(loans, rebel, records, rows):
    train = ("train", "loans.csv", "-t", "repaid", "--rounds", 5, "--learner", "stump")
    assert rebel(*train, "--rows", rows).exit_code == 0
    header, *lines = loans.read_text(encoding="utf-8").splitlines()
    # In another order, with other columns, and with rows that are new.
    changed = [line.replace("L", "M", 1).replace("main", "side") for line in lines[90:20:-1]]
    new = [line.replace(",20", ",19", 1) for line in lines[:30]]
    loans.with_name("part.csv").write_text("\n".join([header, *changed, *new]), encoding="utf-8")
    done = rebel("evaluate", "loans.safetensors", "part.csv")
    (record,) = records("evaluate", "loans.safetensors", "part.csv")
    if rows == "none":
        assert "trained on" not in done.stderr
        return
    assert "70 of these 100 rows equal rows that the model was trained on" in done.stderr
    assert record["seen_rows"] == 70
    report = rebel("report", "loans.safetensors", "part.csv", "-o", "part.html")
    assert "70 of these 100 rows equal rows that the model was trained on" in report.stderr
    page = loans.with_name("part.html").read_text(encoding="utf-8")
    assert "rows equal rows that the model was trained on" in page


def test_rows_that_are_equal_by_chance_are_not_called_seen(folder, rebel):
    rng = np.random.default_rng(0)
    for name, n in (("t.csv", 600), ("new.csv", 300)):
        lines = [f"{rng.integers(5)},{rng.integers(4)},{'ab'[rng.integers(2)]}" for _ in range(n)]
        (folder / name).write_text("v,w,y\n" + "\n".join(lines), encoding="utf-8")
    assert rebel("train", "t.csv", "-t", "y", "--rounds", 5, "--learner", "stump").exit_code == 0
    assert "trained on" not in rebel("evaluate", "t.safetensors", "new.csv").stderr


@pytest.mark.parametrize("n_seen", [0, 300])
def test_rows_of_a_large_table_are_noticed_by_some_hashes(n_seen):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"v": rng.normal(size=20_000), "w": rng.normal(size=20_000)})
    y = rng.choice(["a", "b"], 20_000)
    told = row_hashes(frame, y)
    assert len(told["hashes"]) < 50_000
    new = pl.concat([frame[:n_seen], pl.DataFrame({"v": rng.normal(size=700), "w": [0.0] * 700})])
    found = seen_rows(told, new, np.concatenate([y[:n_seen], ["a"] * 700]))
    assert (found is None) == (n_seen == 0)
    # A fifth of the hashes is kept: of 300 rows, 60 ± 7 are found.
    assert found is None or abs(found.n - n_seen) < 150


def test_two_classes_are_judged_by_the_figures_that_clinicians_know(model, new, rebel, records):
    from sklearn.metrics import roc_auc_score

    (by_default,) = records("evaluate", model, "new.csv")
    (judged,) = records("evaluate", model, "new.csv", "--positive", "yes")
    assert (by_default["positive"], judged["positive"]) == ("no", "yes")
    assert by_default["sensitivity"] == judged["specificity"]
    decided = read(rebel("predict", model, "new.csv").stdout)
    true = pl.read_csv("new.csv")["repaid"].to_numpy() == "yes"
    said = decided["decision"].to_numpy() == "yes"
    expected = {
        "sensitivity": said[true].mean(),
        "specificity": (~said[~true]).mean(),
        "positive_predictive_value": true[said].mean(),
        "negative_predictive_value": (~true[~said]).mean(),
    }
    for name, value in expected.items():
        assert judged[name]["value"] == pytest.approx(value)
        assert name.replace("_", " ") in rebel("evaluate", model, "new.csv").stdout
    assert judged["auc"] == pytest.approx(roc_auc_score(true, decided["probability_yes"]), abs=1e-3)


def test_a_positive_class_that_is_none_is_refused_before_anything_is_trained(loans, rebel):
    done = rebel("train", loans, "--target", "repaid", "--positive", "maybe")
    assert done.exit_code == 2
    assert "--positive 'maybe' is not a class: choose from no, yes" in done.stderr
    assert not Path("loans.safetensors").exists()


def test_the_positive_class_of_the_training_is_that_of_every_later_command(loans, rebel, records):
    *_, trained = records(
        "train", loans, "--target", "repaid", "--positive", "yes", "--learner", "tree"
    )
    assert trained["evaluation"]["positive"] == "yes"
    (judged,) = records("evaluate", "loans.safetensors", loans)
    assert judged["positive"] == "yes"
    rebel("report", "loans.safetensors", loans, "-o", "r.html")
    page = Path("r.html").read_text()
    assert "sensitivity (recall of 'yes')" in html.unescape(re.sub("<[^>]+>", "", page))
    assert "stated probability of “yes”" in page


def test_rows_are_read_from_standard_input(model, loans):
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    given = loans.read_bytes()
    done = CliRunner().invoke(app, ["predict", str(model), "-"], input=given)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == CliRunner().invoke(app, ["predict", str(model), "loans.csv"]).stdout
    empty = CliRunner().invoke(app, ["predict", str(model), "-"], input=b"")
    assert empty.exit_code == 2
    assert "standard input" in empty.stderr


def test_tables_of_other_programs_are_read(model, loans, rebel, monkeypatch):
    import rebelboost.tables.spreadsheets as reading

    frame = pl.read_csv(loans, null_values="NA", try_parse_dates=True)
    frame.write_csv("loans.tsv", separator="\t")
    expected = rebel("predict", model, "loans.csv").stdout
    assert rebel("predict", model, "loans.tsv").stdout == expected
    # The readers are an extra; what they return is a frame with types.
    monkeypatch.setattr(reading, "find_spec", lambda _: True)
    monkeypatch.setattr(reading, "_sheet_names", lambda *_: ["Sheet1"])
    # All cells as text, without names of columns, have the names in their first row.
    rows = [frame.columns, *frame.select(pl.all().cast(pl.String)).rows()]
    cells = pl.DataFrame(rows, schema=[f"c{i}" for i in range(frame.width)], orient="row")
    monkeypatch.setattr(
        pl, "read_excel", lambda *_, has_header, **__: frame if has_header else cells
    )
    loans.with_name("loans.xlsx").write_bytes(b"PK")
    assert rebel("predict", model, "loans.xlsx").stdout == expected


def test_rows_without_a_class_are_not_judged(model, new, rebel):
    new.write_text(new.read_text(encoding="utf-8") + "\nL9999,5,5,Bern,2020-01-01,main,\n", "utf-8")
    assert "1 row(s) without a value of 'repaid'" in rebel("evaluate", model, "new.csv").stderr


def test_reasons_name_the_features_and_sum_to_the_scores(model, loans, rebel, records):
    first, second = records("explain", model, "loans.csv", "--rows", "3,1")
    assert (first["row"], second["row"]) == (3, 1)
    assert "amount" in first["text"]
    clf = load(model)
    decided = read(rebel("predict", model, "loans.csv").stdout)["decision"]
    for told in (first, second):
        assert f"Decided: {decided[told['row'] - 1]}" in told["text"]
        lead = sum(told["parts"]["for yes"]) - sum(told["parts"]["for no"])
        assert (lead > 0) == (decided[told["row"] - 1] == "yes")
    assert rebel("explain", model, "loans.csv", "--rows", "3,1").stdout.startswith(
        "Row 3 (L0002). "
    )
    assert len(clf.ensemble_) == 10


def test_dates_in_reasons_are_dates(loans, rebel):
    model = "dated.safetensors"
    words = ("--rounds", 30, "--learner", "tree", "-o", model)
    assert rebel("train", "loans.csv", "--target", "repaid", *words).exit_code == 0
    text = rebel("explain", model, "loans.csv", "--rows", "1-50", "--top", 9).stdout
    since = pl.read_csv(loans)["since"].to_list()
    assert any(f"since = {date}" in text for date in since[:50])
    whole = rebel("explain", model).stdout
    rebel("report", model, "loans.csv", "-o", "r.html")
    page = loans.with_name("r.html").read_text(encoding="utf-8")
    assert re.search(r"since (≤|>|=) 20\d\d-\d\d-\d\d", text)
    for told in (text, whole, page):
        assert not re.search(r"since (≤|>|&gt;|=) \d{5}|\d{5}(\.\d+)? (<|&lt;) since", told)


def test_without_data_the_model_is_told_of(model, rebel, records):
    (told,) = records("explain", model)
    assert set(told["features"]["name"]) <= {
        *("amount", "rate", "city", "since", "since_month", "since_weekday")
    }
    assert told["text"] in rebel("explain", model).stdout


@pytest.mark.parametrize("data", ["loans.csv", "new.csv"])
def test_a_report_is_one_page_with_the_figures(model, new, folder, rebel, data):
    before = {p.name for p in folder.iterdir()}
    done = rebel("report", model, data, "-o", "r.html")
    assert done.exit_code == 0, done.stderr
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "rebel train loans.csv --target repaid" in page
    assert {p.name for p in folder.iterdir()} == before | {"r.html"}


def test_models_trained_in_python_decide_too(folder, rebel):
    from sklearn.datasets import load_iris

    from rebelboost import RebelClassifier

    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame(dict(zip("abcd", X.T, strict=True)))
    RebelClassifier("tree", n_rounds=5).fit(frame, y).save("named.safetensors")
    RebelClassifier("tree", n_rounds=5).fit(X, y).save("bare.safetensors")
    frame.write_csv("iris.csv")
    named = rebel("predict", "named.safetensors", "iris.csv")
    assert named.exit_code == 0, named.stderr
    assert named.stdout == rebel("predict", "bare.safetensors", "iris.csv").stdout
    assert "in Python" in rebel("evaluate", "named.safetensors", "iris.csv").stderr


@pytest.mark.parametrize("column", ["loan_id", "branch"])
def test_predictions_keep_the_identifier_that_was_detected(folder, rebel, column):
    given = ["--id", column] if column == "branch" else []
    lines = [f"L{i * 7 % 97},{i % 3},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    (folder / "t.csv").write_text("loan_id,branch,v,y\n" + "\n".join(lines), encoding="utf-8")
    assert rebel("train", "t.csv", "-t", "y", "--rounds", 5, "--learner", "stump").exit_code == 0
    rebel("predict", "t.safetensors", "t.csv", "-o", "out.csv", *given)
    out = pl.read_csv("out.csv", infer_schema=False)
    assert out.columns[:2] == [column, "decision"]
    assert out[column].to_list() == [line.split(",")[column == "branch"] for line in lines]


def test_predictions_keep_the_column_that_groups_the_rows(folder, rebel):
    lines = [f"{i // 4},{i % 5},{'ab'[i % 2]}" for i in range(200)]
    (folder / "t.csv").write_text("patient,v,y\n" + "\n".join(lines), encoding="utf-8")
    assert rebel("train", "t.csv", "-t", "y", "--rounds", 5, "--learner", "stump").exit_code == 0
    assert rebel("predict", "t.safetensors", "t.csv").stdout.startswith("patient,decision,")
    (folder / "new.csv").write_text("v\n1\n", encoding="utf-8")
    assert rebel("predict", "t.safetensors", "new.csv").exit_code == 2  # one column
    (folder / "new.csv").write_text("v,w\n1,2\n", encoding="utf-8")
    assert rebel("predict", "t.safetensors", "new.csv").stdout.startswith("decision,")
