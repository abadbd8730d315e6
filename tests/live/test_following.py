"""Streams: files that grow, folders, limits, changes."""

import csv

import numpy as np
import pytest

from rebelboost.exceptions import ProjectError
from rebelboost.live import Project
from rebelboost.live.changes import PATIENCE, Watch
from rebelboost.live.store import Row
from rebelboost.live.thinning import thinned, worth_of
from shops import shop_rows


@pytest.fixture
def empty(tmp_path):
    with Project.create(tmp_path / "p.rebel", None, "kind") as project:
        yield project


def write(path, rows, mode="w"):
    with path.open(mode, newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        if mode == "w":
            writer.writeheader()
        writer.writerows(rows)


def test_each_row_is_predicted_before_its_label_is_learned(empty):
    found = empty.follow(iter(shop_rows(60)), at_once=1)
    assert (found.n_rows, found.n_labelled, found.n_judged) == (60, 60, 59)
    assert found.n_wrong == found.errors[-1][1] < 30
    assert found.n_fits >= 3
    assert empty.model.provisional_ is None


def test_batches_change_nothing_of_the_exact_model(tmp_path):
    hashes = set()
    for at_once in (1, 7, 60):
        path = tmp_path / f"{at_once}" / "p.rebel"
        path.parent.mkdir()
        with Project.create(path, None, "kind") as project:
            project.follow(iter(shop_rows(60)), at_once=at_once)
            hashes.add(project.fit().hash)
    assert len(hashes) == 1


def test_a_file_that_grows_is_read_once(empty, tmp_path):
    path = tmp_path / "stream.csv"
    write(path, shop_rows(20))
    assert empty.follow(path).n_rows == 20
    write(path, shop_rows(10, seed=1), "a")
    with path.open("a") as file:
        file.write("9.5,Ber")  # a line that is not complete yet
    assert empty.follow(path).n_rows == 10
    with path.open("a") as file:
        file.write("n,2024-01-10,0.1,small\n")
    assert empty.follow(path).n_rows == 1
    assert empty.status.n_rows == 31


def test_files_of_a_folder_are_read_once(empty, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder / "a.csv", shop_rows(20))
    assert empty.follow(folder).n_rows == 20
    write(folder / "b.csv", shop_rows(15, seed=1))
    assert empty.follow(folder).n_rows == 15
    assert empty.follow(folder).n_rows == 0


def test_a_stream_that_was_stopped_goes_on_where_it_was(empty, tmp_path):
    path = tmp_path / "stream.csv"
    write(path, shop_rows(30))

    def stop(so_far):
        if so_far.n_rows >= 13:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        empty.follow(path, at_once=1, on_batch=stop)
    assert empty.follow(path, at_once=1).n_rows == 17
    assert empty.status.n_rows == 30


def test_rows_without_a_label_are_predicted_and_not_kept(empty):
    empty.follow(iter(shop_rows(20)))
    found = empty.follow(iter(shop_rows(5, seed=1, labelled=False)))
    assert (found.n_rows, found.n_labelled) == (5, 0)
    assert empty.status.n_rows == 20


def test_a_change_is_noticed_and_left_behind(empty):
    other = {"big": "small", "small": "big"}
    rows = shop_rows(150)
    changed = [{**row, "kind": other[row["kind"]]} for row in shop_rows(80, seed=1)]
    found = empty.follow(iter([*rows, *changed]), at_once=1)
    assert any(150 < at < 190 for at, *_ in found.changes)
    wrong = np.diff([n for _, n in found.errors])
    assert wrong[-40:].mean() < 0.25
    assert "The stream changed" in str(found)


def test_a_stream_that_does_not_change_raises_no_alarm(empty):
    assert empty.follow(iter(shop_rows(200)), at_once=5).changes == []


def test_false_alarms_are_rarer_than_promised():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(20):
        watch = Watch(0.1, 400)
        alarms += any(watch.add(wrong=bool(w)) is not None for w in rng.random(1000) < 0.1)
    # 20 × 1,000 results at the expected rate: 2 are promised at most on average, and 7 or more would have a
    # probability below 0.5 %.
    assert alarms < 7 * 10_000 / PATIENCE


def test_the_beginning_of_a_change_is_found():
    rng = np.random.default_rng(1)
    watch, since = Watch(0.05, 1000), None
    results = [*(rng.random(300) < 0.05), *(rng.random(100) < 0.6)]
    n = 0
    while since is None:
        since = watch.add(wrong=bool(results[n]))
        n += 1
    assert 300 < n < 330
    assert abs((n - since) - 300) <= 5


def test_old_rows_are_deleted(empty):
    found = empty.follow(iter(shop_rows(100)), forget_after=40, at_once=10)
    assert empty.status.n_rows == 40
    assert found.n_removed == 60
    assert min(row.id for row in empty.rows()) == 61


def test_the_number_of_rows_is_limited(empty):
    found = empty.follow(iter(shop_rows(200)), max_rows=50, at_once=20)
    assert empty.status.n_rows == 50
    assert found.n_removed == 150
    assert empty.fit().n_rows == 50


def test_a_half_life_makes_old_rows_count_less(empty):
    from rebelboost.live.exact import weights_of

    empty.follow(iter(shop_rows(60)), half_life=20)
    task, rows, _ = empty.models.training_rows()
    weight = weights_of(rows, task)
    assert weight[-1] == 1.0
    assert weight[-21] == pytest.approx(0.5)
    assert (np.diff(weight) > 0).all()


def stored(n, worth):
    return [Row(i, None, (), "a", i, w) for i, w in zip(range(1, n + 1), worth, strict=True)]


def test_kept_rows_stand_for_all_on_average():
    # Over many tables of rows, the sum of the weights of a part is that of its rows.
    rng = np.random.default_rng(0)
    kept_mass, true_mass, first = 0.0, 0.0, 1
    for _ in range(200):
        worth = rng.choice([0.15, 0.5, 1.0], 100)
        rows = [Row(first + i, None, (), "a", i + 1, w) for i, w in enumerate(worth)]
        first += 100
        found = thinned(rows, 30, 0.0, None)
        gone = set(found.removed)
        part = [row for row in rows if row.worth == 0.15]
        true_mass += len(part)
        kept_mass += sum(
            max(1.0, found.threshold / row.worth) for row in part if row.id not in gone
        )
    # About 33 of 100 rows are in the part; the standard error of the sum over 200 tables is below 4 %.
    assert kept_mass == pytest.approx(true_mass, rel=0.12)


def test_rows_that_teach_more_are_kept_more_often():
    rows = stored(400, [worth_of(0.99)] * 200 + [worth_of(0.1)] * 200)
    gone = set(thinned(rows, 100, 0.0, None).removed)
    certain = sum(row.id not in gone for row in rows[:200])
    surprising = sum(row.id not in gone for row in rows[200:])
    assert surprising > 3 * certain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_life": 0}, "half_life is 0"),
        ({"max_rows": 0}, "max_rows is 0"),
        ({"forget_after": -1}, "forget_after is -1"),
    ],
)
def test_bad_options_are_refused(empty, options, message):
    with pytest.raises(ProjectError, match=message):
        empty.follow(iter(shop_rows(3)), **options)


def test_bad_sources_are_refused(empty, tmp_path):
    with pytest.raises(ProjectError, match="the source is a int"):
        empty.follow(7)
    with pytest.raises(ProjectError, match="there is no file"):
        empty.follow(tmp_path / "none.csv")
    empty.add(shop_rows(3))
    with pytest.raises(ProjectError, match="none of the project's columns"):
        empty.follow(iter([{"a": 1, "b": 2}]))
