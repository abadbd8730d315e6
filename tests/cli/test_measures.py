"""`rebel evaluate --by` and `--json`: results by group of rows, and curves."""

import json

from loans import loan_lines


def test_results_are_given_by_the_values_of_a_column(rebel, tmp_path):
    table = tmp_path / "loans.csv"
    table.write_text("\n".join(loan_lines()), encoding="utf-8")
    model = tmp_path / "m.safetensors"
    options = ["--target", "repaid", "--learner", "stump", "--rounds", 5, "-o", model]
    assert rebel("train", table, *options, "--ignore", "city").exit_code == 0
    new = tmp_path / "new.csv"
    new.write_text("\n".join(loan_lines(seed=1)), encoding="utf-8")
    done = rebel("evaluate", model, new, "--by", "city")  # which the model does not use
    assert done.exit_code == 0
    assert "(missing)" in done.stdout
    assert "Łódź" in done.stdout
    told = json.loads(rebel("evaluate", model, new, "--by", "amount", "--json").stdout)
    assert len(told["by"]["parts"]) == 4
    assert told["by"]["column"] == "amount"
    assert len(told["curves"]["net_benefit"]["x"]) == 99
    page = tmp_path / "r.html"
    assert rebel("report", model, new, "--by", "city", "-o", page).exit_code == 0
    assert "Results by city" in page.read_text(encoding="utf-8")
    wrong = rebel("evaluate", model, new, "--by", "town")
    assert wrong.exit_code == 2
    assert "no column 'town' (--by)" in wrong.stderr


def test_reports_follow_guidelines_and_cards_are_markdown(model, loans, rebel, tmp_path):
    for guideline in ("clinic", "credit", "eu"):
        page = tmp_path / f"{guideline}.html"
        done = rebel("report", model, "loans.csv", "--for", guideline, "-o", page)
        assert done.exit_code == 0, done.stderr
        assert "To be filled in by a person" in page.read_text(encoding="utf-8")
    card = tmp_path / "card.md"
    assert rebel("report", model, "loans.csv", "-o", card).exit_code == 0
    assert "## 2 Intended use" in card.read_text(encoding="utf-8")
    wrong = rebel("report", model, "loans.csv", "--for", "mars")
    assert wrong.exit_code == 2
    assert "--for is 'mars': choose one of card, clinic, credit, eu" in wrong.stderr
