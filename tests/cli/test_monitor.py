"""`rebel monitor`: new rows beside the counts in the model file."""

from pathlib import Path

from loans import loan_lines


def test_rows_like_those_of_training_raise_no_alarm(model, rebel):
    Path("new.csv").write_text("\n".join(loan_lines(n_rows=200, seed=3)), encoding="utf-8")
    done = rebel("monitor", model, "new.csv")
    assert done.exit_code == 0, done.stdout
    assert "No drift was found" in done.stdout
    assert "A certified cost still stands" in done.stdout


def test_rows_that_have_changed_end_with_another_code(model, rebel, tmp_path):
    lines = loan_lines(n_rows=200, seed=3)
    head, *body = (line.split(",") for line in lines)
    dearer = [head, *([a, str(3 * int(b)), *rest] for a, b, *rest in body)]
    path = tmp_path / "dear.csv"
    path.write_text("\n".join(",".join(row) for row in dearer), encoding="utf-8")
    done = rebel("monitor", model, path, "--json")
    assert done.exit_code == 1
    assert '"of": "amount"' in done.stdout
    assert '"has_drifted": true' in done.stdout


def test_the_training_table_is_said_to_be_it(model, loans, rebel):
    done = rebel("monitor", model, "loans.csv")
    assert "nothing new in it" in done.stderr


def test_an_impossible_alarm_is_refused(model, loans, rebel):
    done = rebel("monitor", model, "loans.csv", "--alarm", 5)
    assert done.exit_code == 2
    assert "alarm is 5" in done.stderr
