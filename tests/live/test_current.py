"""Provisional answers: newer labels count at once."""

import numpy as np
import pytest

from rebelboost.exceptions import ProjectError
from rebelboost.live import Project
from rebelboost.live.first import FEWEST, FirstRows
from shops import shop_rows


def test_without_newer_labels_the_answer_is_the_exact_models(project, rows):
    fit = project.fit()
    model = project.model
    assert model.provisional_ is None
    assert np.array_equal(model.predict_proba(rows), fit.estimator.predict_proba(rows))
    assert np.array_equal(model.predict(rows), fit.estimator.predict(rows))


def test_it_says_how_many_labels_behind_it_is(project):
    project.fit()
    project.add(shop_rows(3, seed=9))
    told = project.model.provisional_
    assert told.behind == 3
    assert str(told) == "provisional: 3 labels newer than the exact model of 80 rows"


def test_a_label_pulls_its_own_row_and_hardly_a_far_one(project, rows):
    project.fit()
    before = project.model.predict_proba(rows)
    row = rows[0] | {"kind": None}
    own = "small" if rows[0]["kind"] == "big" else "big"
    project.add([row | {"kind": own}] * 3)
    after = project.model.predict_proba(rows)
    k = project.model.classes_.tolist().index(own)
    change = after[:, k] - before[:, k]
    assert change[0] == change.max()
    assert change[0] > 0.2


def test_the_answer_is_what_the_formula_says(project, rows):
    project.fit()
    exact = project.model.predict_proba(rows)
    project.add([{**rows[7], "kind": "big"}, {**rows[8], "kind": "vast"}])
    model = project.model
    near, encoded = model.neighbourhood, model.encoded(model.cells(rows))
    points = near.place(encoded)
    newer = points[[7, 8]]

    def kernel(a, b):
        return np.exp(-np.sqrt(((a - b) ** 2).sum()) / near.width)

    code = {"big": 0, "small": 1, "vast": 2}
    for n, point in enumerate(points):
        seen = sum(kernel(point, each) for each in near.points)
        new = [kernel(point, each) for each in newer]
        p = np.append(exact[n], 0.0)
        for i, (row, label) in enumerate(((7, "big"), (8, "vast"))):
            mistake = np.eye(3)[code[label]] - np.append(exact[row], 0.0)
            p += new[i] * mistake / (seen + sum(new))
        p = np.maximum(p, 0)
        np.testing.assert_allclose(model.predict_proba(rows[n]), [p / p.sum()], atol=1e-6)


def test_a_label_that_was_certain_changes_nothing(project, rows):
    project.fit()
    exact = project.model.predict_proba(rows)
    n = int(exact.max(axis=1).argmax())
    project.add({**rows[n], "kind": project.model.classes_[exact[n].argmax()]})
    now = project.model.predict_proba(rows)
    assert np.abs(now - exact).max() <= 2 * (1 - exact[n].max())


def test_probabilities_sum_to_one_also_with_new_classes_and_corrections(project, rows):
    project.fit()
    largest = np.argsort([-(row["size"] or 0) for row in rows])[:15]
    project.correct((largest + 1).tolist(), ["vast"] * 15)
    model = project.model
    found = model.predict_proba(rows)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert (found >= 0).all()
    k = model.classes_.tolist().index("vast")
    assert found[largest, k].mean() > 3 * np.delete(found[:, k], largest).mean()


def test_the_newer_rows_that_matter_are_named(project, rows):
    project.fit()
    added = project.add([shop_rows(1, seed=3)[0], {**rows[4], "kind": "vast"}])
    (number, label, share), *_ = project.model.newer_rows(rows[4])
    assert (number, label) == (added.ids[1], "vast")
    assert 0 < share < 1


def test_before_there_is_a_model_the_nearest_rows_decide(tmp_path, rows):
    with Project.create(tmp_path / "p.rebel", rows[: FEWEST - 1], "kind") as project:
        model = project.model
        assert model.exact is None
        assert str(model.provisional_) == "provisional: no exact model yet, 11 labels so far"
        assert model.predict(rows[:5]).tolist() == [row["kind"] for row in rows[:5]]
        assert project.models.fit_if_enough() is None
        project.add(rows[FEWEST - 1 : FEWEST + 10])
        assert project.models.fit_if_enough() is not None


def test_a_project_without_labels_says_what_to_do(tmp_path):
    with Project.create(tmp_path / "p.rebel", None, "kind") as project:
        with pytest.raises(ProjectError, match="no row has a label yet"):
            _ = project.model
        with pytest.raises(ProjectError, match="no row has a label yet"):
            project.fit()


def test_first_rows_share_out_all_of_the_answer(rows):
    import polars as pl

    frame = pl.DataFrame(rows).drop("kind").cast(pl.String)
    first = FirstRows(frame[:10])
    shares = first.shares(frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares[:10].argmax(axis=1) == np.arange(10)).all()
