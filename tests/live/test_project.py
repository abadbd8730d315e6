"""Projects: rows, labels and their history, exact fits."""

import sqlite3
import threading

import numpy as np
import polars as pl
import pytest

from rebelboost import RebelClassifier, load
from rebelboost.exceptions import ProjectError
from rebelboost.live import Project
from rebelboost.tables.columns import ColumnOptions
from shops import shop_rows


def unlabelled(row):
    return {name: cell for name, cell in row.items() if name != "kind"}


def test_a_table_is_read_as_the_command_reads_it(tmp_path, rows):
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "shops.csv")
    hashes = set()
    for name, table in {
        "a": rows,
        "b": frame,
        "c": frame.to_pandas(),
        "d": tmp_path / "shops.csv",
    }.items():
        with Project.create(tmp_path / f"{name}.rebel", table, "kind") as project:
            hashes.add(project.fit().hash)
    assert len(hashes) == 1


def test_an_exact_fit_is_that_of_the_estimator(project):
    from rebelboost.estimators.base import table_scores
    from rebelboost.live.reading import table_of
    from rebelboost.tables.schema_inference import infer_schema

    fit = project.fit()
    task, stored, _ = project.models.training_rows()
    table = table_of(stored, task.columns, task.target, task.source)
    samples = infer_schema(table, "kind", ColumnOptions(task="classes"))[1]
    own = RebelClassifier(random_state=0).fit(samples.frame, samples.y)
    ours = table_scores(fit.estimator, samples.frame)
    assert np.array_equal(ours, table_scores(own, samples.frame))


def test_the_hash_depends_on_rows_and_labels_only_not_on_how_they_came(tmp_path, rows):
    with Project.create(tmp_path / "at_once.rebel", rows, "kind") as project:
        at_once = project.fit().hash
    with Project.create(tmp_path / "slowly.rebel", rows[:40], "kind") as project:
        project.fit()
        added = project.add([unlabelled(row) for row in rows[40:]])
        project.label(added.ids, ["small"] * len(added.ids))
        project.fit()
        wrong = [i for i, row in zip(added.ids, rows[40:], strict=True) if row["kind"] == "big"]
        project.correct(wrong, ["big"] * len(wrong))
        assert project.fit().hash == at_once
        assert project.verify()


def test_the_hash_is_kept_when_a_project_is_opened_again(project):
    told = project.fit().hash
    project.close()
    with Project.open(project.path) as again:
        assert again.fit().hash == told
        assert again.model.exact.hash == told
        assert again.verify()


def test_labels_keep_their_history(project):
    first, other = (kind := project.rows(1)[0].label), {"big": "small", "small": "big"}[kind]
    project.correct(1, other)
    project.correct([1], [first])
    changes = project.history(1)
    assert [(c.kind, c.who) for c in changes] == [("label", "ada"), *[("correct", "ada")] * 2]
    assert [c.after for c in changes] == [first, other, first]
    assert changes[2].before == other
    assert changes[0].at.startswith("20")


def test_a_label_that_is_taken_away_leaves_the_fit(project):
    n = project.fit().n_rows
    project.correct(5, None)
    assert project.fit().n_rows == n - 1
    project.label(5, "big")
    assert project.fit().n_rows == n


def test_a_new_class_is_a_class_at_once_and_after_the_fit(project, rows):
    project.fit()
    ids = project.add([{**unlabelled(row), "size": 500 + i} for i, row in enumerate(rows[:9])]).ids
    project.label(ids, ["vast"] * 9)
    model = project.model
    assert model.classes_.tolist() == ["big", "small", "vast"]
    assert model.predict({**unlabelled(rows[0]), "size": 504.5}).tolist() == ["vast"]
    project.fit()
    assert project.model.provisional_ is None
    assert project.model.classes_.tolist() == ["big", "small", "vast"]


def test_identifiers_name_rows(tmp_path, rows):
    named = [{"shop": f"s{i}", **row} for i, row in enumerate(rows)]
    with Project.create(tmp_path / "p.rebel", named, "kind", identifier="shop") as project:
        project.correct("s3", "small")
        assert project.rows("s3")[0].label == "small"
        assert "shop" not in project.columns
        with pytest.raises(ProjectError, match="'s3' is in the project already"):
            project.add(named[3])
        with pytest.raises(ProjectError, match="no row 's999'"):
            project.label("s999", "big")


def test_new_columns_wait_for_the_next_exact_fit(project, rows):
    project.fit()
    added = project.add([{**row, "colour": "red"} for row in shop_rows(5, seed=3)])
    assert "new columns are left out until the next exact fit" in added.notes[0]
    assert project.model.provisional_.behind == 5
    assert project.columns[-1] == "colour"
    assert "colour" not in project.model.estimator.feature_names_in_
    project.add(
        [
            {**row, "colour": "blue" if row["kind"] == "big" else "red"}
            for row in shop_rows(30, seed=4)
        ]
    )
    assert "colour" in project.fit().estimator.feature_names_in_


def test_columns_that_are_missing_are_empty_and_said(project):
    added = project.add({"size": 3, "kind": "small"})
    assert "missing columns are empty in these rows: town" in added.notes[0]


def test_numbers_are_learned_too(tmp_path, rows):
    table = [{**unlabelled(row), "price": 3 * (row["size"] or 10.0) + 0.5} for row in rows]
    with Project.create(tmp_path / "p.rebel", table[:60], "price") as project:
        fit = project.fit()
        assert not hasattr(fit.estimator, "classes_")
        exact = project.model.predict(unlabelled(table[70]) | {"price": None})[0]
        project.add({**table[70], "price": 1000.0})
        assert project.model.provisional_.behind == 1
        assert project.model.predict(table[70])[0] > exact
        with pytest.raises(ProjectError, match="'dear' is no number"):
            project.correct(1, "dear")


def test_costs_decide_also_for_provisional_answers(tmp_path, rows):
    costs = {("big", "small"): 1000}
    with Project.create(tmp_path / "p.rebel", rows, "kind", costs=costs) as project:
        project.fit()
        assert (project.model.predict(rows) == "big").mean() > 0.5
        project.add({**rows[0], "kind": "small"})
        assert project.model.provisional_
        assert project.model.costs_.tolist() == [[0, 1000], [1, 0]]
        cheap = project.model.predict(rows)
        project.set_costs({})
        project.fit()
        assert (cheap == "big").sum() > (project.model.predict(rows) == "big").sum()


def test_a_fit_that_runs_beside_replaces_the_model(project):
    project.fit()
    project.correct(1, "vast")
    assert project.model.provisional_.behind == 1
    assert project.fit(wait=False) is None
    project.wait()
    assert project.model.provisional_ is None
    assert project.verify()


def test_a_fit_that_was_begun_before_rows_were_forgotten_is_not_kept(project):
    task, rows, number = project.models.training_rows()
    from rebelboost.live.exact import fit_exactly

    late = fit_exactly(task, rows, number)
    after = project.forget([1, 2]).hash_after
    project.models.keep(late)
    assert project.model.exact.hash == after


def test_saved_models_answer_alike(project, rows, tmp_path):
    project.save(tmp_path / "m.safetensors")
    saved = load(tmp_path / "m.safetensors")
    assert np.array_equal(saved.predict_proba(rows), project.model.predict_proba(rows))


def test_two_threads_share_a_project(project):
    def correct(first):
        for i in range(first, first + 10):
            project.correct(i, "big")
            project.correct(i, "small")

    threads = [threading.Thread(target=correct, args=(first,)) for first in (1, 11, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(row.label == "small" for row in project.rows(list(range(1, 31))))


def test_a_second_process_that_writes_waits_and_is_refused(project, monkeypatch):
    from rebelboost.live import store

    monkeypatch.setattr(store, "PATIENCE", 0.1)
    with Project.open(project.path) as other:
        blocking = sqlite3.connect(project.path, isolation_level=None)
        blocking.execute("BEGIN IMMEDIATE")
        with pytest.raises(ProjectError, match="another process is changing it"):
            other.correct(1, "small")
        blocking.execute("ROLLBACK")
        blocking.close()
        other.correct(1, "small")
    assert project.rows(1)[0].label == "small"


def test_status_counts_rows_labels_and_fits(project):
    project.fit()
    project.add(shop_rows(3, seed=5, labelled=False))
    project.correct(1, "vast")
    status = project.status
    assert (status.n_rows, status.n_labelled, status.behind) == (83, 80, 1)
    assert "83 rows, 80 with a value of 'kind'" in str(status)
    assert "all but 1 label" in str(status)
    assert status.fits[0]["accuracy"] > 0.7


BAD = {
    "no such column": (lambda p, rows: Project.create(p, rows, "knd"), "did you mean 'kind'"),
    "task": (lambda p, rows: Project.create(p, rows, "kind", task="words"), "task is 'words'"),
    "setting": (lambda p, rows: Project.create(p, rows, "kind", settings={"lerner": 1}), "no parameter"),
    "time": (lambda p, rows: Project.create(p, rows, "kind", settings={"time_budget": 1.0}), "cannot be set"),
    "costs": (lambda p, rows: Project.create(p, rows, "kind", costs={("big", "small"): -1}), "0 or more"),
    "folder": (lambda p, rows: Project.create(p / "none" / "p", rows, "kind"), "no folder"),
    "absent": (lambda p, _: Project.open(p / "absent"), "no file"),
    "rows": (lambda p, _: Project.create(p / "q", 7, "kind"), "rows are a int"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_and_leaves_no_file(name, tmp_path, rows):
    act, message = BAD[name]
    place = tmp_path if name in ("folder", "absent", "rows") else tmp_path / "p.rebel"
    with pytest.raises((ProjectError, ValueError), match=message):
        act(place, rows)
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_not_opened(tmp_path):
    (tmp_path / "text").write_text("a,b\n1,2\n" * 500)
    with pytest.raises(ProjectError, match="not a project"):
        Project.open(tmp_path / "text")
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(ProjectError, match="not a project of rebelboost"):
        Project.open(tmp_path / "other")


def test_a_newer_version_is_refused(project):
    project._store.execute("PRAGMA user_version = 99")
    with pytest.raises(ProjectError, match="install a newer rebelboost"):
        Project.open(project.path)


def test_wrong_labels_of_rows_are_refused_whole(project):
    with pytest.raises(ProjectError, match=r"has the label '(small|big)' already"):
        project.label([1, 2], ["vast", "vast"])
    with pytest.raises(ProjectError, match="no row 999"):
        project.correct([1, 999], ["vast", "vast"])
    with pytest.raises(ProjectError, match="give one label for each row"):
        project.correct([1, 2], ["vast"])
    added = project.add(shop_rows(1, labelled=False))
    with pytest.raises(ProjectError, match="has no label yet"):
        project.correct(added.ids, ["big"])
    assert not any(row.label == "vast" for row in project.rows())
