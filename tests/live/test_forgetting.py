"""Forgetting: nothing of a row is left, and the model equals one that never saw it."""

from rebelboost.live import Project
from shops import shop_rows


def secret_rows(n=3):
    rows = shop_rows(n, seed=11)
    return [
        {**row, "town": f"Secretville {i}", "noise": 0.123456 + i, "kind": "secret kind"}
        for i, row in enumerate(rows)
    ]


def test_the_model_equals_one_that_never_saw_the_rows(tmp_path, rows):
    with Project.create(tmp_path / "p.rebel", rows, "kind") as project:
        never = project.fit().hash
        added = project.add(secret_rows())
        before = project.fit().hash
        receipt = project.forget(added.ids)
        assert receipt.hash_before == before != never
        assert receipt.hash_after == never
        assert project.verify()


def test_no_byte_of_the_rows_is_left_in_the_file(tmp_path, rows):
    path = tmp_path / "p.rebel"
    named = [{"shop": f"shop number {i}", **row} for i, row in enumerate([*rows, *secret_rows()])]
    with Project.create(path, named, "kind", identifier="shop") as project:
        project.fit()
        project.correct("shop number 82", "a corrected kind")
        project.fit()
        ids = [row.id for row in project.rows()][-3:]
        assert b"Secretville 1" in path.read_bytes()
        receipt = project.forget(ids)
        contents = path.read_bytes()
        for text in (
            "Secretville",
            "0.123456",
            "secret kind",
            "shop number 82",
            "a corrected kind",
        ):
            assert text.encode() not in contents, text
        assert receipt.n_searched >= 9
        assert receipt.n_found == 0
        assert b"Bern" in contents
    assert not list(tmp_path.glob("*-journal"))


def test_saved_models_that_hold_the_rows_are_named(project, tmp_path):
    project.save(tmp_path / "before.safetensors")
    added = project.add(secret_rows())
    project.save(tmp_path / "holding.safetensors")
    receipt = project.forget(added.ids)
    assert [path for path, _ in receipt.files] == [str(tmp_path / "holding.safetensors")]
    assert "delete them" in str(receipt)


def test_rows_without_a_label_are_forgotten_too(project):
    before = project.fit().hash
    added = project.add([{**row, "colour": "red"} for row in shop_rows(2, seed=4, labelled=False)])
    assert project.fit().hash == before  # rows without a label, and their columns, change nothing
    receipt = project.forget(added.ids)
    assert (receipt.n_labelled, receipt.hash_after) == (0, before)
    assert receipt.files == ()


def test_the_receipt_stays_and_has_numbers_only(project):
    added = project.add(secret_rows())
    project.forget(added.ids[:2])
    (told,) = project.receipts
    assert told["ids"] == added.ids[:2]
    assert "Secretville" not in str(told)
    assert [change.kind for change in project.history()][-1] == "forget"


def test_too_few_rows_are_left_for_a_model(tmp_path, rows):
    with Project.create(tmp_path / "p.rebel", rows, "kind") as project:
        project.fit()
        big = [row.id for row in project.rows() if row.label == "big"]
        receipt = project.forget(big)
        assert receipt.hash_after is None
        assert project.models.latest() is None
