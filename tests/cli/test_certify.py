"""`rebel certify`: a bound on rows that the model has not seen, or a refusal."""

import json

import pytest

from loans import loan_lines


@pytest.fixture
def new(folder):
    path = folder / "new.csv"
    path.write_text("\n".join(loan_lines(n_rows=300, seed=1)), encoding="utf-8")
    return path


def test_the_bound_is_printed_overall_and_by_class(model, new, rebel):
    done = rebel("certify", model, "new.csv")
    assert done.exit_code == 0, done.stderr
    assert "With 95.0 % confidence, a decision costs at most" in done.stdout
    assert "true class yes" in done.stdout


def test_json_has_the_bound(model, new, records):
    (found,) = records("certify", model, "new.csv")
    assert found["record"] == "certificate"
    assert found["cost"] < found["bound"] < 1


def test_a_cost_that_is_not_proven_ends_with_another_code(model, new, rebel):
    done = rebel("certify", model, "new.csv", "--at-most", 0.001)
    assert done.exit_code == 1
    assert "is not proven" in done.stdout
    assert rebel("certify", model, "new.csv", "--at-most", 0.9).exit_code == 0


def test_other_costs_are_charged(model, new, costs, rebel):
    done = rebel("certify", model, "new.csv", "--costs", "costs.csv", "--json")
    assert json.loads(done.stdout)["greatest"] == 5


def test_rows_that_the_model_was_trained_on_prove_nothing(model, loans, rebel):
    done = rebel("certify", model, "loans.csv")
    assert done.exit_code == 2
    assert "a bound needs rows that it has not seen" in done.stderr


def test_an_impossible_confidence_is_refused(model, new, rebel):
    done = rebel("certify", model, "new.csv", "--confidence", 95)
    assert done.exit_code == 2
    assert "confidence is 95.0: give a probability from 0.5 to below 1" in done.stderr


def test_a_budget_of_abstentions_is_kept_by_predictions_and_evaluations(loans, new, rebel, records):
    words = ["--target", "repaid", "--rounds", 10, "--learner", "tree"]
    assert rebel("train", "loans.csv", *words, "--reject-budget", 0.2).exit_code == 0
    decided = records("predict", "loans.safetensors", "new.csv")
    share = sum(each["decision"] == "abstain" for each in decided) / 300
    assert 0.05 < share < 0.4
    done = rebel("predict", "loans.safetensors", "new.csv", "--reject-budget", 0.5, "-o", "d.csv")
    assert "The model abstains on" in done.stderr
    (told,) = records("evaluate", "loans.safetensors", "new.csv", "--reject-budget", 0.5)
    assert told["n_rejected"] > 300 * share
    assert rebel("evaluate", "loans.safetensors", "new.csv", "--reject-budget", 2).exit_code == 2


def test_without_rows_to_spare_abstentions_limit_the_average_cost(loans, rebel, records):
    words = ["--target", "repaid", "--rounds", 10, "--learner", "tree"]
    assert rebel("train", "loans.csv", *words).exit_code == 0
    asked = ("certify", "loans.safetensors", "loans.csv", "--left-out", "--at-most")
    (found,) = records(*asked, 0.2)
    assert found["record"] == "budget"
    assert found["budget"]["bound"][0] <= 0.2
    done = rebel(*asked, 0.01)
    assert done.exit_code == 1
    assert "It takes 99 folds or more" in done.stdout
    assert rebel("certify", "loans.safetensors", "loans.csv", "--left-out").exit_code == 2


def test_decisions_on_classes_of_numbers_are_text_beside_abstentions(folder, rebel, records):
    lines = [
        "x,y,class",
        *(f"{i % 17},{i % 5},{int(i % 17 + i % 5 + i % 3 > 11)}" for i in range(200)),
    ]
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ["--target", "class", "--rounds", 10, "--learner", "tree", "--reject-budget", 0.2]
    done = rebel("train", "t.csv", *words)
    assert done.exit_code == 0, done.stderr
    assert "always deciding abstain" not in done.stdout
    assert (
        rebel("predict", "t.safetensors", "t.csv", "--batch", 9, "-o", "d.parquet").exit_code == 0
    )
    found = {each["decision"] for each in records("predict", "t.safetensors", "t.csv")}
    assert found == {"0", "1", "abstain"}
