"""`--rows`, `--no-names`, `--no-rows`: what the command keeps of the rows, and what it says of that."""

import re

from rebelboost import load

TRAIN = ("train", "loans.csv", "--target", "repaid", "--rounds", 10)


def test_saving_says_what_the_file_holds(loans, rebel):
    said = " ".join(rebel(*TRAIN, "--learner", "similarity").stdout.split())
    n_rows = len(load("loans.safetensors").ensemble_.example_rows)
    assert f"it holds the values and names of {n_rows} training rows" in said
    assert re.search(rb"L0\d\d\d", loans.with_name("loans.safetensors").read_bytes())
    said = " ".join(rebel(*TRAIN, "--learner", "tree").stdout.split())
    assert "it holds no values of training rows, but a score of each" in said


def test_without_names_rows_are_numbered_as_in_the_file(loans, rebel):
    rebel(*TRAIN, "--learner", "similarity", "--no-names")
    assert re.search(rb"L0\d\d\d", loans.with_name("loans.safetensors").read_bytes()) is None
    model = load("loans.safetensors")
    assert model.row_labels_ == {row: row + 1 for row in model.example_classes_}
    assert "--no-names" in model.metadata_["command"]


def test_without_rows_only_trees_are_trained_and_the_rest_works(loans, rebel):
    done = rebel(*TRAIN, "--rows", "none")
    assert done.exit_code == 0, done.stderr
    assert "it holds no training rows" in " ".join(done.stdout.split())
    stored = loans.with_name("loans.safetensors").read_bytes()
    assert re.search(rb"L0\d\d\d", stored) is None
    model = load("loans.safetensors")
    assert model.ensemble_.example_rows == []
    assert model.metadata_["table"]["readings"] == {}
    assert "--rows none" in model.metadata_["command"]
    assert "amount = " in rebel("explain", "loans.safetensors", "loans.csv", "--rows", "1").stdout
    trained = re.search(r"accuracy +([\d.]+ %)", done.stdout)[1]
    assert trained in rebel("evaluate", "loans.safetensors", "loans.csv").stdout
    assert rebel("report", "loans.safetensors", "loans.csv").exit_code == 0


def test_learners_that_need_rows_and_unknown_choices_are_refused(loans, rebel):
    done = rebel(*TRAIN, "--rows", "none", "--learner", "similarity")
    assert done.exit_code == 2
    assert "--learner similarity compares cases with training rows" in done.stderr
    done = rebel(*TRAIN, "--rows", "some")
    assert done.exit_code == 2
    assert "--rows is 'some': choose one of values, ids, none" in done.stderr
    assert not loans.with_name("loans.safetensors").exists()


def test_reports_say_what_they_show_of_rows(loans, rebel):
    rebel(*TRAIN, "--learner", "similarity")
    report = loans.with_name("report.html")

    def written(*options):
        said = rebel("report", "loans.safetensors", "loans.csv", *options).stdout
        return said, re.search(r"L0\d\d\d", report.read_text("utf-8")) is not None

    said, named = written()
    assert "with their names or numbers and their values; --no-rows leaves them out" in said
    assert named
    said, named = written("--no-names")
    assert "with their values; --no-rows" in said
    assert not named
    said, named = written("--no-rows")
    assert "It shows no single rows" in said
    assert not named
    assert "decisions explained" not in report.read_text("utf-8")


def test_without_rows_numbers_are_predicted_by_trees(loans, rebel):
    lines = loans.read_text(encoding="utf-8").splitlines()
    done = rebel("train", "loans.csv", "-t", "amount", "--rows", "none", "--rounds", 20)
    assert done.exit_code == 0, done.stderr
    assert "it holds no training rows" in " ".join(done.stdout.split())
    done = rebel("predict", "loans.safetensors", "loans.csv", "-o", "out.csv")
    assert f"Wrote {len(lines) - 1:,} predictions" in done.stdout
