"""What is inferred of a table: its features, the rows that count, their names."""

import polars as pl
import pytest

from rebelboost.exceptions import TableError
from rebelboost.tables.files import opened
from rebelboost.tables.schema import TableSchema, row_name, row_names
from rebelboost.tables.target import class_labels
from written_tables import inferred, write


def test_a_table_is_inferred(loans):
    told, samples = inferred(loans, "repaid")
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


def test_a_schema_survives_a_file(loans):
    told, _ = inferred(loans, "repaid")
    assert TableSchema.from_dict(told.to_dict()) == told


def test_csv_and_parquet_have_the_same_schema(loans):
    frame = pl.read_csv(loans, null_values="NA", try_parse_dates=True)
    frame.write_parquet(loans.with_suffix(".parquet"))
    told, samples = inferred(loans, "repaid")
    typed, again = inferred(loans.with_suffix(".parquet"), "repaid")
    assert samples.frame.equals(again.frame)
    assert (samples.y == again.y).all()
    assert told.ignored == typed.ignored


def test_columns_that_look_useless_can_be_kept_and_others_left_out(loans):
    told, _ = inferred(loans, "repaid", keep=["branch"], ignore=["rate"])
    origins = dict.fromkeys(column.origin for column in told.columns)
    assert list(origins) == ["amount", "city", "since", "branch"]


def test_numbers_can_be_taken_as_categories(loans):
    told, samples = inferred(loans, "repaid", categorical=["amount"])
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
    told, _ = inferred(path, "y")
    assert told.ignored == {name: "identifier, a different number in every row"}


@pytest.mark.parametrize("name", ["n", "id", "customer_id"])
def test_numbers_that_name_rows_are_left_out(tmp_path, name):
    lines = [f"{1000 + i},{i % 7},{'ab'[i % 2]}" for i in range(40)]
    path = write(tmp_path / "t.csv", f"{name},v,y\n" + "\n".join(lines))
    told, _ = inferred(path, "y")
    assert list(told.ignored) == [name]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 3"])
def test_a_column_of_distinct_integers_without_a_name_is_an_index(tmp_path, name):
    # Some rows of a longer table, so that the numbers have gaps, in the order of the classes.
    lines = [f"{3 * i},{i * 7919 % 101 / 7:.2f},{'ab'[i // 20]}" for i in range(40)]
    path = write(tmp_path / "t.csv", f"{name},v,y\n" + "\n".join(lines))
    told, _ = inferred(path, "y")
    assert list(told.ignored.values()) == ["index without a name, a different number in every row"]
    assert [column.name for column in told.columns] == ["v"]


def test_distinct_integers_that_go_with_nothing_are_left_out_and_named(tmp_path):
    lines = [f"{50 + 3 * i},{i},{i * i},{i / 7:.1f},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", "code,step,area,side,y\n" + "\n".join(lines))
    told, _ = inferred(path, "y")
    assert told.ignored["step"] == "row numbers"
    assert [column.name for column in told.columns] == ["code", "area", "side"]
    told, _ = inferred(path, "y", ignore=["side"], keep=["area"])
    assert told.ignored["code"].startswith("probably an identifier")
    assert [column.name for column in told.columns] == ["area"]


def test_distinct_integers_that_go_with_the_class_are_measurements(tmp_path):
    lines = [f"{i * 37 % 997 + 500 * (i % 2)},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    path = write(tmp_path / "t.csv", "income,v,y\n" + "\n".join(lines))
    told, _ = inferred(path, "y")
    assert not told.ignored


def test_rows_without_a_class_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "t.csv", "v,y\n1,a\n2,\n3,b\n4,?\n5,a\n6,b\n")
    told, samples = inferred(path, "y")
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
        inferred(path, "y")


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
    told, samples = inferred(path, "y")
    assert told.naming == "patient"
    assert samples.ids[1][:2] == ["P0", "P7"]
