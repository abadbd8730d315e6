"""`rebel project …` and `rebel watch`."""

import csv

import pytest

from shops import shop_rows


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def shops(folder):
    return write(folder / "shops.csv", shop_rows(60))


@pytest.fixture
def project(folder, shops, rebel):
    done = rebel("project", "new", "shops.rebel", shops, "--target", "kind")
    assert done.exit_code == 0, done.stderr
    return folder / "shops.rebel"


def hash_in(told):
    return next(word for line in told.splitlines() for word in line.split() if len(word) == 64)


def test_a_project_goes_through_all_commands(project, folder, rebel):
    write(folder / "more.csv", shop_rows(20, seed=1, labelled=False))
    added = rebel("project", "add", project, folder / "more.csv")
    assert "added rows 61 to 80, 0 with a label" in added.stdout
    asked = rebel("project", "ask", project, "-n", "3", "-o", "questions.csv")
    assert "3 rows of 20 without a label" in asked.stdout
    with (folder / "questions.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["row", "label", "worth", "reason"]
    write(folder / "answers.csv", [{**row, "label": "big"} for row in rows])
    labelled = rebel("project", "label", project, "--from", "answers.csv")
    assert "3 rows labelled" in labelled.stdout
    assert hash_in(labelled.stdout) != hash_in(added.stdout)
    status = rebel("project", "status", project)
    assert "80 rows, 63 with a value of 'kind'" in status.stdout
    forgotten = rebel(
        "project", "forget", project, rows[0]["row"], rows[1]["row"], "--receipt", "r.txt"
    )
    assert "2 rows forgotten" in forgotten.stdout
    assert "found 0 times" in (folder / "r.txt").read_text(encoding="utf-8")
    assert rebel("project", "save", project, "-o", "m.safetensors").exit_code == 0
    predicted = rebel("predict", "m.safetensors", "more.csv")
    assert predicted.exit_code == 0
    assert len(predicted.stdout.splitlines()) == 21


def test_labels_are_given_by_row_and_corrected(project, rebel, records):
    told = records("project", "label", project, "1=big", "2=big", "--correct")
    assert [each["record"] for each in told] == ["labels", "fit"]
    assert told[0]["rows"] == ["1", "2"]
    again = rebel("project", "label", project, "1=vast")
    assert again.exit_code == 2
    assert "has the label 'big' already: use `correct`" in again.stderr


def test_costs_of_a_file_are_those_of_the_project(folder, shops, rebel, records):
    (folder / "costs.csv").write_text(",big,small\nbig,0,9\nsmall,1,0\n", encoding="utf-8")
    assert (
        rebel("project", "new", "p.rebel", shops, "-t", "kind", "--costs", "costs.csv").exit_code
        == 0
    )
    from rebelboost.live import Project

    with Project.open("p.rebel") as project:
        assert project.model.costs_.tolist() == [[0, 9], [1, 0]]


def test_a_folder_is_watched_until_nothing_comes(project, folder, rebel, records):
    incoming = folder / "in"
    incoming.mkdir()
    write(incoming / "a.csv", shop_rows(30, seed=2))
    told = records("watch", project, incoming, "--idle", "0")
    assert told[-1]["record"] == "followed"
    assert (told[-1]["n_rows"], told[-1]["n_labelled"]) == (30, 30)
    assert "0 rows, 0 with a label" in rebel("watch", project, incoming, "--idle", "0").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("label", "{}", "x"), "'x' is no label: write ROW=LABEL"),
        (("label", "{}"), "no labels: give some as ROW=LABEL"),
        (("label", "{}", "999=big"), "there is no row '999'"),
        (("forget", "{}", "999"), "there is no row '999'"),
        (("status", "none.rebel"), "there is no file none.rebel"),
        (("new", "{}", "shops.csv", "-t", "kind"), "exists: open it"),
        (("new", "q.rebel", "shops.csv", "-t", "knd"), "did you mean 'kind'"),
    ],
)
def test_mistakes_are_one_line_with_the_remedy(project, rebel, words, message):
    done = rebel("project", *(str(project) if word == "{}" else word for word in words))
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
