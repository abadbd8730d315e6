"""`rebel explain --reasons`: reasons for the person concerned."""

import pytest


@pytest.fixture
def codes(folder):
    path = folder / "codes.csv"
    path.write_text("column,code,sentence\namount,R1,Amount\n", encoding="utf-8")
    return path


def test_reasons_carry_the_codes_of_the_file(model, loans, codes, records, rebel):
    found = records("explain", model, "loans.csv", "--rows", "1-20", "--reasons", "codes.csv")
    assert all(each["record"] == "reasons" for each in found)
    told = [
        (column, code, sentence)
        for each in found
        for column, code, sentence in zip(
            *(each.get("reasons", {}).get(key, []) for key in ("column", "code", "sentence")), strict=True
        )
    ]  # fmt: skip
    assert ("amount", "R1", "Amount") in told
    assert all((code == "R1") == (column == "amount") for column, code, _ in told)


def test_fixed_columns_do_not_change(model, loans, records):
    words = ("explain", model, "loans.csv", "--rows", "1-20", "--wanted", "yes")
    changed = [text for each in records(*words) for text in each.get("changes", {}).get("text", [])]
    assert any(text.startswith("amount from ") for text in changed)
    kept = records(*words, "--fixed", "amount")
    assert not any("amount" in t for each in kept for t in each.get("changes", {}).get("text", []))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fixed", "salary"), "fixed names 'salary': the columns are"),
        (("--wanted", "maybe"), "wanted is 'maybe': choose from"),
        (("--reasons", "nowhere.csv"), "cannot read the reason codes in nowhere.csv"),
    ],
)
def test_mistakes_are_one_line(model, loans, rebel, words, message):
    done = rebel("explain", model, "loans.csv", *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_reasons_need_rows(model, loans, rebel):
    done = rebel("explain", model, "--wanted", "yes")
    assert done.exit_code == 2
    assert "no table is given: leave them out" in done.stderr
