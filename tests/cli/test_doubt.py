"""`rebel doubt`: a list of labels to check, and back into the table."""

import csv

import pytest

from loans import loan_lines

OPTIONS = ("--target", "repaid", "--learner", "tree")


@pytest.fixture
def listed(tmp_path, rebel):
    """A table, and the list of its doubted labels."""
    table, to = tmp_path / "loans.csv", tmp_path / "doubts.csv"
    table.write_text("\n".join(loan_lines()), encoding="utf-8")
    done = rebel("doubt", table, *OPTIONS, "-o", to)
    assert done.exit_code == 0, done.stderr
    assert "less probable than another class" in done.stdout
    return table, to


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def answered(to, verdicts):
    rows = read(to)
    for row, verdict in zip(rows, verdicts, strict=False):
        row["verdict"] = verdict
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def test_the_list_names_rows_and_labels_of_the_table(listed):
    table, to = listed
    before, rows = read(table), read(to)
    assert len(rows) >= 3
    for row in rows:
        own = before[int(row["row"]) - 1]
        assert own["repaid"] == row["label"] != row["suggested"]
        assert own["loan"] == row["loan"]
        assert 0 < float(row["probability_wrong"]) < 1


def test_verdicts_go_back_into_the_table_and_nothing_else_changes(listed, tmp_path, rebel):
    table, to = listed
    first, second, *_ = answered(to, [read(to)[0]["suggested"], "drop", "keep"])
    out = tmp_path / "corrected.csv"
    done = rebel("doubt", table, "--target", "repaid", "--corrected", to, "-o", out)
    assert done.exit_code == 0, done.stderr
    assert "1 label changed, 1 row dropped" in done.stdout
    expected = read(table)
    expected[int(first["row"]) - 1]["repaid"] = first["suggested"]
    del expected[int(second["row"]) - 1]
    assert read(out) == expected
    assert rebel("doubt", out, *OPTIONS).exit_code == 0


def test_verdicts_that_cannot_be_meant_are_refused(listed, tmp_path, rebel):
    table, to = listed
    out = tmp_path / "corrected.csv"
    words = ("doubt", table, "--target", "repaid", "--corrected", to)
    assert "add -o corrected.csv" in rebel(*words).stderr
    answered(to, ["perhaps"])
    done = rebel(*words, "-o", out)
    assert done.exit_code == 2
    assert "line 1" in done.stderr
    assert "'perhaps': write a class (no, yes), keep, drop" in done.stderr
    answered(to, [""])
    other = tmp_path / "other.csv"
    other.write_text("\n".join(loan_lines(seed=5)), encoding="utf-8")
    done = rebel("doubt", other, "--target", "repaid", "--corrected", to, "-o", out)
    assert "give the table that the list was made of" in done.stderr
    done = rebel("doubt", table, "--target", "repaid", "--corrected", table, "-o", out)
    assert "it is not a list of `rebel doubt`" in done.stderr
    assert not out.exists()


def test_numbers_have_no_labels_to_doubt(listed, rebel):
    table, _ = listed
    done = rebel("doubt", table, "--target", "amount")
    assert done.exit_code == 2
    assert "only labels can be doubted" in done.stderr
