"""`rebel train`: what it says, what it writes."""

import shlex

import numpy as np
import pytest

from loans import loan_lines
from rebelboost import load

QUICK = ("--rounds", 10, "--learner", "stump")


def test_it_says_what_it_understood_and_what_it_made(loans, rebel):
    done = rebel("train", "loans.csv", "--target", "repaid", *QUICK)
    assert done.exit_code == 0
    for told in (
        "Read loans.csv: 150 rows, 4 columns to predict 'repaid'",
        "CSV, separated by commas, utf-8",
        "2 columns: amount, rate",
        "1 column: since, as days since 1970-01-01, month and weekday",
        "rate (15)",
        "loan: a different text in every row (--keep loan includes it)",
        "accuracy",
        "a random fifth of the table",
        "rebel predict loans.safetensors new.csv",
    ):
        assert told in done.stdout
    assert loans.with_name("loans.safetensors").exists()


def test_nothing_but_the_result_is_written_and_nothing_said_on_stderr(loans, rebel):
    done = rebel("train", "loans.csv", "--target", "repaid", *QUICK)
    assert done.stderr == ""
    assert sorted(p.name for p in loans.parent.iterdir()) == ["loans.csv", "loans.safetensors"]


def test_costs_are_told_and_change_decisions(loans, costs, rebel, records):
    table, model = records(
        "train", "loans.csv", "--target", "repaid", "--costs", "costs.csv", *QUICK
    )
    assert table["costs"] == [[0, 5], [1, 0]]
    assert model["evaluation"]["costs"] == [[0, 5], [1, 0]]
    records("train", "loans.csv", "--target", "repaid", "-o", "plain.safetensors", *QUICK)
    decided = [
        rebel("predict", f"{name}.safetensors", "loans.csv").stdout for name in ("loans", "plain")
    ]
    assert decided[0].count("yes") < decided[1].count("yes")


def test_records_are_lines_of_json(loans, records):
    table, model = records("train", "loans.csv", "--target", "repaid", *QUICK)
    assert (table["record"], model["record"]) == ("table", "model")
    assert table["counts"].keys() == {"no", "yes"}
    most_common = max(table["counts"].values()) / sum(table["counts"].values())
    assert most_common + 0.1 < model["evaluation"]["accuracy"]["value"] <= 1
    assert model["terms"] == 10
    assert model["path"] == "loans.safetensors"


def test_the_file_keeps_what_was_understood(model):
    kept = load(model).metadata_
    assert kept["table"]["target"] == "repaid"
    assert kept["table"]["columns"][2]["categories"] == ["Bern", "Köln", "Łódź"]
    assert kept["evaluation"]["n"] > 0


def test_the_same_command_makes_the_same_model(loans, rebel, records):
    for name in ("a.safetensors", "b.safetensors"):
        records("train", "loans.csv", "--target", "repaid", "-o", name, "--seed", 3, *QUICK)
    decided = [rebel("predict", f"{name}.safetensors", "loans.csv").stdout for name in "ab"]
    assert decided[0] == decided[1]


def test_dialects_make_no_difference(folder, rebel):
    decided = []
    for separator, decimal, encoding in ((",", ".", "utf-8"), (";", ",", "utf-16")):
        text = "\n".join(loan_lines(separator, decimal))
        (folder / "t.csv").write_bytes(text.encode(encoding))
        assert rebel("train", "t.csv", "--target", "repaid", *QUICK).exit_code == 0
        decided.append(rebel("predict", "t.safetensors", "t.csv", "--id", "loan").stdout)
    assert decided[0] == decided[1]
    assert "L0149" in decided[0]


@pytest.mark.parametrize("learner", ["auto", "tree", "stump", "similarity"])
def test_learners_can_be_chosen(loans, rebel, learner):
    done = rebel("train", "loans.csv", "-t", "repaid", "--learner", learner, "--rounds", 5)
    assert done.exit_code == 0, done.stderr


def test_examples_are_named_by_the_column_that_names_rows(loans, rebel):
    done = rebel("train", "loans.csv", "-t", "repaid", "--learner", "similarity", "--rounds", 5)
    assert done.exit_code == 0, done.stderr
    labels = load("loans.safetensors").row_labels_
    assert labels
    assert all(label == f"L{row:04d}" for row, label in labels.items())


def test_a_budget_of_time_ends_training_early(loans, records):
    words = ("train", "loans.csv", "-t", "repaid", "--learner", "tree", "--rounds", 4000)
    _, model = records(*words, "--time-budget", 0.05)
    assert 0 < model["terms"] < 4000


def test_a_model_that_knows_nothing_says_so(folder, rebel, loans):
    lines = [f"{i * 7919 % 101},{'ab'[(i * i // 7) % 2]}" for i in range(60)]
    (folder / "noise.csv").write_text("v,y\n" + "\n".join(lines), encoding="utf-8")
    said = "not clearly better than always making the same decision"
    assert said in rebel("train", "noise.csv", "-t", "y", *QUICK).stdout
    assert said not in rebel("train", "loans.csv", "-t", "repaid", *QUICK).stdout


def test_a_date_that_carries_much_is_said(folder, rebel):
    lines = [
        f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d},{i % 7},{'ab'[i % 12 > 5]}" for i in range(120)
    ]
    (folder / "t.csv").write_text("day,v,y\n" + "\n".join(lines), encoding="utf-8")
    told = " ".join(rebel("train", "t.csv", "-t", "y", *QUICK).stdout.split())
    assert "of the decisions: later dates may differ" in told
    assert "--time day evaluates on later rows" in told


def test_a_budget_of_time_is_kept_while_models_are_compared(folder, records):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6000, 12))
    lines = [",".join(f"{x:.3f}" for x in row) + f",{'ab'[int(row.sum() > 0)]}" for row in rows]
    names = ",".join([*(f"x{i}" for i in range(12)), "y"])
    (folder / "t.csv").write_text(names + "\n" + "\n".join(lines), encoding="utf-8")
    _, model = records("train", "t.csv", "-t", "y", "--time-budget", 1)
    # A full comparison takes more than ten seconds; a round that has begun is finished.
    assert model["seconds"] < 5


def test_long_texts_as_categories_are_saved_and_read_again(folder, rebel, records):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2000)])
    lines = ["note,when,v,y"]
    for i in range(300):
        text = " ".join(rng.choice(words, 600))
        lines.append(f"{text},2024-01-{i % 28 + 1:02d},{rng.normal() + i % 2:.3f},{'ab'[i % 2]}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    train = ("train", "t.csv", "-t", "y", "--keep", "note", "--learner", "stump", "--rounds", 5)
    done = rebel(*train)
    assert done.exit_code == 0, done.stderr
    assert rebel(*train).exit_code == 0  # the same table: no --force needed
    done = rebel("predict", "t.safetensors", "t.csv")
    assert done.stdout.count("\n") == 301
    (told,) = (line for line in done.stderr.splitlines() if "never saw" in line)
    assert "note: 46 cell(s) with categories that training never saw" in told
    assert len(told) < 250
    assert "when = 2024-01-01" in rebel("explain", "t.safetensors", "t.csv", "--rows", 1).stdout
    from rebelboost import load
    from rebelboost.tables.schema import stored_schema

    kept = stored_schema(load("t.safetensors"))
    assert len(kept.columns[0].categories) == 254


def test_descriptions_that_no_file_has_room_for_are_refused_before_training(
    folder, rebel, monkeypatch
):
    from rebelboost.tables import schema

    monkeypatch.setattr(schema, "MOST_PLAIN", 10)
    monkeypatch.setattr(schema, "MOST_PACKED", 10)
    (folder / "t.csv").write_text("v,y\n" + "1,a\n2,b\n" * 20, encoding="utf-8")
    done = rebel("train", "t.csv", "-t", "y")
    assert done.exit_code == 2
    assert "no room for the description of 1 columns" in done.stderr
    assert "Trained" not in done.stdout


def test_lists_of_columns_are_divided_by_commas(folder, records):
    lines = [f"{i},{i % 3},{i % 5},{i % 7},{'ab'[i % 2]}" for i in range(40)]
    (folder / "t.csv").write_text('"a, b",c,d,e,y\n' + "\n".join(lines), encoding="utf-8")
    train = ("train", "t.csv", "-t", "y", *QUICK, "--force")
    for words in (["c,d"], ["c, d"], ["c", "--ignore", "d"]):
        table, _ = records(*train, "--ignore", *words)
        assert [name for name, why in table["ignored"].items() if why == "by --ignore"] == [
            "c",
            "d",
        ]
    for word, ignored in [("a, b", ["a, b"]), ('"a, b",c', ["a, b", "c"])]:
        table, _ = records(*train, "--ignore", word)
        assert [n for n, why in table["ignored"].items() if why == "by --ignore"] == ignored
        command = shlex.split(load("t.safetensors").metadata_["command"])
        assert command[command.index("--ignore") + 1] == word


def test_long_names_of_a_thousand_columns_are_read_and_saved(folder, rebel):
    rng = np.random.default_rng(0)
    names = [
        f"gene_with_a_name_of_some_length_{i:05d}_in_a_table_of_so_many_columns"
        for i in range(1000)
    ]
    assert len(",".join(names)) > 65_536
    y = np.arange(30) % 2
    values = rng.normal(size=(30, 1000)).round(2)
    values[:, 0] += 3 * y
    lines = [",".join(map(str, [*row, "ab"[k]])) for row, k in zip(values, y, strict=True)]
    (folder / "t.csv").write_text(",".join([*names, "y"]) + "\n" + "\n".join(lines), "utf-8")
    done = rebel("train", "t.csv", "-t", "y", *QUICK)
    assert done.exit_code == 0, done.stderr
    assert "1,000 columns" in done.stdout
    assert rebel("predict", "t.safetensors", "t.csv").stdout.count("\n") == 31


def reviews(folder, other=""):
    rng = np.random.default_rng(0)
    usual = np.array(
        [
            "the",
            "a",
            "this",
            "hotel",
            "room",
            "we",
            "was",
            "very",
            "and",
            "it",
            "is",
            "of",
            "on",
            "in",
            "my",
            "with",
            "again",
        ]
    )
    telling = {"good": ["lovely", "warm"], "bad": ["broken", "rude"]}
    lines = [f"review{other and ',v'},stars"]
    for i in range(200):
        stars = ["good", "bad"][rng.integers(2)]
        words = [*rng.choice(usual, 9), rng.choice(telling[stars])]
        lines.append(" ".join(rng.permutation(words)) + f"{other and f',{i % 7}'},{stars}")
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")


def test_text_is_named_and_its_words_are_used_if_asked(folder, rebel):
    reviews(folder, other="v")
    done = rebel("train", "t.csv", "-t", "stars", *QUICK)
    assert "review: free text (--text review uses its words)" in " ".join(done.stdout.split())
    done = rebel("train", "t.csv", "-t", "stars", "--text", "review", "--rounds", 40)
    assert done.exit_code == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "text 1 column: review as 20 words" in said
    assert "accuracy 100.0 %" in said or "accuracy 99" in said
    (folder / "new.csv").write_text("v,review\n1,rude!\n1,WARM and lovely\n1,\n", encoding="utf-8")
    done = rebel("predict", "t.safetensors", "new.csv")
    assert [line.split(",")[0] for line in done.stdout.splitlines()][1:3] == ["bad", "good"]
    assert "review: rude = 1" in rebel("explain", "t.safetensors", "new.csv", "--rows", 1).stdout


def test_a_table_of_nothing_but_text_gets_advice_that_works(folder, rebel):
    reviews(folder)
    done = rebel("train", "t.csv", "-t", "stars")
    assert done.exit_code == 2
    assert done.stderr.endswith("(review: free text): use --text review to predict from words\n")
    assert rebel("train", "t.csv", "-t", "stars", "--text", "review", *QUICK).exit_code == 0
