"""How files are read: dialects, encodings, headers, and what columns hold."""

import gzip

import polars as pl
import pytest

from rebelboost.exceptions import TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema import TableSchema, row_name, row_names
from rebelboost.tables.schema_inference import infer_schema
from rebelboost.tables.target import class_labels
from rebelboost.tables.type_detection import detect_types


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def rows(path):
    with opened(path) as table:
        return table.names, table.frame.collect().rows()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_separators_and_line_ends_do_not_matter(tmp_path, separator, end):
    lines = [
        separator.join(cells) for cells in (["a", "b", "c"], ["1", "x", "2.5"], ["2", "y", "3"])
    ]
    path = write(tmp_path / "t.csv", end.join(lines) + end)
    assert rows(path) == (["a", "b", "c"], [("1", "x", "2.5"), ("2", "y", "3")])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_encodings_do_not_matter(tmp_path, encoding):
    path = write(tmp_path / "t.csv", "straße,größe\nKöln,1\nZürich,2\n", encoding)
    assert rows(path) == (["straße", "größe"], [("Köln", "1"), ("Zürich", "2")])


def test_packed_files_are_read(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert rows(path) == (["a", "b"], [("1", "2")])


def test_separators_within_quotes_are_text(tmp_path):
    path = write(tmp_path / "t.csv", 'a,b\n"x, y",1\n"say ""no""",2\n')
    assert rows(path)[1] == [("x, y", "1"), ('say "no"', "2")]


def test_a_table_without_names_gets_numbered_ones_and_says_so(tmp_path):
    path = write(tmp_path / "t.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n")
    with opened(path) as table:
        assert table.names == ["column_1", "column_2", "column_3"]
        assert "column_1 to column_3" in table.notes[0]
        assert len(table.frame.collect()) == 2


@pytest.mark.parametrize("first", ["a,b,c", "2019,2020,kind", "0,1,2", "1990,1991,1992"])
def test_names_may_be_numbers(tmp_path, first):
    path = write(tmp_path / "t.csv", f"{first}\n7,3,5\n5,5,6\n")
    assert rows(path)[0] == first.split(",")
    assert len(rows(path)[1]) == 2


def test_blank_and_repeated_names_become_different_ones(tmp_path):
    path = write(tmp_path / "t.csv", ",a,a\nx,1,2\n")
    assert rows(path)[0] == ["column_1", "a", "a_2"]


def test_a_line_with_too_many_cells_is_named(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 40 + "1,2,3\n")
    with pytest.raises(TableError, match=r"line 42 of .* has 3 cells, but the first has 2"):
        rows(path)


def test_empty_lines_are_no_rows(tmp_path):
    path = write(tmp_path / "t.csv", "\n\na,b\n1,2\n\n3,4\n\n")
    assert rows(path) == (["a", "b"], [("1", "2"), ("3", "4")])


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
    told, _ = understood(write(tmp_path / "t.csv", "day,y\n" + rows), "y")
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


def understood(path, target, **options):
    with opened(path) as table:
        return infer_schema(table, target, ColumnOptions(**options))


def test_a_table_is_understood(loans):
    told, samples = understood(loans, "repaid")
    kinds = {column.name: column.kind for column in told.columns}
    assert kinds == {
        "amount": "number",
        "rate": "number",
        "city": "category",
        "since": "date",
        "since_month": "number",
        "since_weekday": "category",
    }
    assert told.ignored == {
        "loan": "a different text in every row",
        "branch": "constant value main",
    }
    assert sum(told.counts.values()) == told.n_rows == len(samples.y) == 150
    assert told.missing["rate"] == 15
    assert told.columns[2].categories == ("Bern", "Köln", "Łódź")
    assert samples.ids[0] == "loan"
    assert samples.ids[1][:2] == ["L0000", "L0001"]


def test_what_was_understood_survives_a_file(loans):
    told, _ = understood(loans, "repaid")
    assert TableSchema.from_dict(told.to_dict()) == told


def test_csv_and_parquet_are_understood_alike(loans):
    frame = pl.read_csv(loans, null_values="NA", try_parse_dates=True)
    frame.write_parquet(loans.with_suffix(".parquet"))
    told, samples = understood(loans, "repaid")
    typed, again = understood(loans.with_suffix(".parquet"), "repaid")
    assert samples.frame.equals(again.frame)
    assert (samples.y == again.y).all()
    assert told.ignored == typed.ignored


def test_columns_that_look_useless_can_be_kept_and_others_left_out(loans):
    told, _ = understood(loans, "repaid", keep=["branch"], ignore=["rate"])
    origins = dict.fromkeys(column.origin for column in told.columns)
    assert list(origins) == ["amount", "city", "since", "branch"]


def test_numbers_can_be_taken_as_categories(loans):
    told, samples = understood(loans, "repaid", categorical=["amount"])
    assert told.columns[0].kind == "category"
    assert samples.frame["amount"].dtype == pl.String


def test_a_table_of_text_without_names_is_recognised_by_what_recurs(tmp_path):
    text = "n,y,democrat\ny,n,republican\ny,y,democrat\nn,n,republican\n"
    with opened(write(tmp_path / "t.csv", text)) as table:
        assert table.names == ["column_1", "column_2", "column_3"]
    with opened(write(tmp_path / "t.csv", "handicapped,water,party\n" + text)) as table:
        assert table.names == ["handicapped", "water", "party"]


@pytest.mark.parametrize("name", ["PID", "uid", "id_str", "caseid"])
def test_identifiers_are_left_out_though_they_go_with_other_columns(tmp_path, name):
    # The first digit of a patient's number is the clinic.
    lines = [f"{100000 * (1 + i // 15) + i * 7 % 97},{i // 15},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", f"{name},clinic,y\n" + "\n".join(lines))
    told, _ = understood(path, "y")
    assert told.ignored == {name: "identifier, a different number in every row"}


@pytest.mark.parametrize("name", ["n", "id", "customer_id"])
def test_numbers_that_name_rows_are_left_out(tmp_path, name):
    lines = [f"{1000 + i},{i % 7},{'ab'[i % 2]}" for i in range(40)]
    path = write(tmp_path / "t.csv", f"{name},v,y\n" + "\n".join(lines))
    told, _ = understood(path, "y")
    assert list(told.ignored) == [name]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 3"])
def test_a_column_of_distinct_integers_without_a_name_is_an_index(tmp_path, name):
    # Some rows of a longer table, so that the numbers have gaps, in the order of the classes.
    lines = [f"{3 * i},{i * 7919 % 101 / 7:.2f},{'ab'[i // 20]}" for i in range(40)]
    path = write(tmp_path / "t.csv", f"{name},v,y\n" + "\n".join(lines))
    told, _ = understood(path, "y")
    assert list(told.ignored.values()) == ["index without a name, a different number in every row"]
    assert [column.name for column in told.columns] == ["v"]


def test_distinct_integers_that_go_with_nothing_are_left_out_and_named(tmp_path):
    lines = [f"{50 + 3 * i},{i},{i * i},{i / 7:.1f},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", "code,step,area,side,y\n" + "\n".join(lines))
    told, _ = understood(path, "y")
    assert told.ignored["step"] == "row numbers"
    assert [column.name for column in told.columns] == ["code", "area", "side"]
    told, _ = understood(path, "y", ignore=["side"], keep=["area"])
    assert told.ignored["code"].startswith("probably an identifier")
    assert [column.name for column in told.columns] == ["area"]


def test_distinct_integers_that_go_with_the_class_are_measurements(tmp_path):
    lines = [f"{i * 37 % 997 + 500 * (i % 2)},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", "income,v,y\n" + "\n".join(lines))
    told, _ = understood(path, "y")
    assert not told.ignored


def test_rows_without_a_class_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "t.csv", "v,y\n1,a\n2,\n3,b\n4,?\n5,a\n6,b\n")
    told, samples = understood(path, "y")
    assert (told.n_rows, told.n_unlabelled) == (4, 2)
    assert samples.rows.tolist() == [1, 3, 5, 6]
    assert samples.frame["v"].to_list() == [1, 3, 5, 6]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["1", "2", "1", "2"], [1, 2, 1, 2]),
        (["1.0", "0.0", "1.0", "1.0"], [1, 0, 1, 1]),
        (["01", "02", "01", "02"], ["01", "02", "01", "02"]),
        (["a", "1", "a", "1"], ["a", "1", "a", "1"]),
    ],
)
def test_labels_are_numbers_only_where_nothing_is_lost(cells, labels):
    found, counts = class_labels(pl.Series("y", cells))
    assert found.tolist() == labels
    assert sum(counts.values()) == 4


def test_infinite_numbers_are_refused_by_name(tmp_path):
    path = write(tmp_path / "t.csv", "v,y\n1,a\ninf,b\n2,a\n3,b\n")
    with pytest.raises(TableError, match=r"row 2 of .* has an infinite value in column 'v'"):
        understood(path, "y")


def test_rows_are_called_by_what_names_them_but_no_number_stands_alone():
    assert row_name("patient", "P022") == "P022"
    assert row_name("customer_id", 85556) == "customer_id 85556"
    assert row_name("column_1", 85556) == "id 85556"
    assert row_name("rownames", 468) == "id 468"


def test_row_numbers_name_rows_only_where_they_say_something_else():
    assert row_names("rownames", ["1", "2", "3"], [1, 2, 3]) == [1, 2, 3]
    assert row_names("rownames", ["1", "2", "3"], [1, 2, 4]) == ["id 1", "id 2", "id 3"]
    assert row_names("name", ["Ann", None], [1, 2]) == ["Ann", 2]


def test_an_identifier_names_rows_rather_than_row_numbers(tmp_path):
    lines = [f"{i + 1},P{i * 7 % 97},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", "rownames,patient,v,y\n" + "\n".join(lines))
    told, samples = understood(path, "y")
    assert told.naming == "patient"
    assert samples.ids[1][:2] == ["P0", "P7"]
