"""Which kind and format columns have."""

import pytest

from rebelboost.tables.files import opened
from rebelboost.tables.type_detection import detect_types
from written_tables import inferred, write


def columns_of(path):
    with opened(path) as table:
        columns, odd, *_ = detect_types(table, table.names)
        frame = table.frame.select(c.read(table.types[c.origin]) for c in columns).collect()
    return {c.name: c for c in columns}, odd, frame


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", " 2.5 ", "-3e2"], [1, 2.5, -300]),
        (["1,5", "2", "1.000,25"], [1.5, 2, 1000.25]),
        (["1,200", "3,400,000.5", "7"], [1200, 3400000.5, 7]),
        (["1", "", "2"], [1, None, 2]),
        (["1", "?", "NaN"], [1, None, None]),
        (["-", "4", "none"], [None, 4, None]),
    ],
)
def test_numbers_are_read_in_the_forms_that_people_use(tmp_path, cells, numbers):
    path = write(tmp_path / "t.csv", "k;v\n" + "".join(f"a;{cell}\n" for cell in cells))
    columns, odd, frame = columns_of(path)
    assert columns["v"].kind == "number"
    assert frame["v"].to_list() == numbers
    assert not odd


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["1970-01-02", "1971-01-01"], [1, 365]),
        (["02.01.1970", "NA"], [1, None]),
        (["01/31/1970", "01/02/1970"], [30, 1]),
        (["31/01/1970", "01/02/1970"], [30, 31]),
        (["1970-01-01 12:00", "1970-01-02 06:00"], [0.5, 1.25]),
        (["1970-01-01T00:00:00Z", "1970-01-02T01:00:00+01:00"], [0, 1]),
    ],
)
def test_dates_become_days_since_1970(tmp_path, cells, days):
    path = write(tmp_path / "t.csv", "k,v\n" + "".join(f"a,{cell}\n" for cell in cells))
    columns, _, frame = columns_of(path)
    assert columns["v"].kind == "date"
    assert frame["v"].to_list() == days


def test_dates_also_become_months_and_weekdays(tmp_path):
    columns, _, frame = columns_of(
        write(tmp_path / "t.csv", "k,v\na,31.01.2024\nb,NA\nc,01.03.2024\n")
    )
    assert {name: column.part for name, column in columns.items()} == {
        "k": "",
        "v": "",
        "v_month": "month",
        "v_weekday": "weekday",
    }
    assert frame["v_month"].to_list() == [1, None, 3]
    assert frame["v_weekday"].to_list() == ["Wednesday", None, "Friday"]


def test_a_month_that_never_changes_is_no_feature(tmp_path):
    rows = "".join(f"2024-05-{i % 28 + 1:02d},{'ab'[i * i // 7 % 2]}\n" for i in range(60))
    told, _ = inferred(write(tmp_path / "t.csv", "day,y\n" + rows), "y")
    assert [column.name for column in told.columns] == ["day", "day_weekday"]
    assert not told.ignored


def test_times_become_hours(tmp_path):
    columns, _, frame = columns_of(write(tmp_path / "t.csv", "k,v\na,06:30\nb,18:00\n"))
    assert columns["v"].kind == "time"
    assert frame["v"].to_list() == [6.5, 18]


def test_words_that_mean_missing_among_numbers_may_be_categories(tmp_path):
    columns, _, frame = columns_of(write(tmp_path / "t.csv", "k,v\na,none\nb,some\nc,?\n"))
    assert columns["v"].kind == "category"
    assert frame["v"].to_list() == ["none", "some", None]


def test_a_few_words_among_numbers_count_as_missing_and_are_told(tmp_path):
    cells = [*map(str, range(100)), "ill", "ill"]
    path = write(tmp_path / "t.csv", "k,v\n" + "".join(f"a,{cell}\n" for cell in cells))
    columns, odd, frame = columns_of(path)
    assert columns["v"].kind == "number"
    assert frame["v"].null_count() == 2
    assert [tuple(o) for o in odd] == [("v", 2, "ill")]


def test_what_the_first_thousand_rows_say_is_checked_by_the_others(tmp_path):
    cells = ["1"] * 1500 + ["red", "blue"] * 300
    path = write(tmp_path / "t.csv", "k,v\n" + "".join(f"a,{cell}\n" for cell in cells))
    assert columns_of(path)[0]["v"].kind == "category"
