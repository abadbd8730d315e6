"""Numbers as people write them: what a cell is read as, and what is said of it."""

import pytest

from rebelboost.exceptions import TableError
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema import Match, TableSchema
from rebelboost.tables.schema_inference import infer_schema


def inferred(path, columns, separator=";", **options):
    """Write a table with these columns and a target; return its schema and what was read."""
    n = max(map(len, columns.values()))
    columns = {name: [*cells, *cells * n][:n] for name, cells in columns.items()}
    names = [*columns, "y"]
    lines = [separator.join(names)]
    for i, cells in enumerate(zip(*columns.values(), strict=True)):
        quoted = [f'"{cell}"' if separator in cell else cell for cell in cells]
        lines.append(separator.join([*quoted, "ab"[(i * i // 7 if i > 3 else i) % 2]]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with opened(path) as table:
        told, samples = infer_schema(table, "y", ColumnOptions(**options))
    return told, samples.frame


@pytest.mark.parametrize("elsewhere", [["3,5", "2"], ["0,5", "12,25"]])
def test_thousands_points_are_recognised_by_decimal_commas_elsewhere(tmp_path, elsewhere):
    columns = {"v": ["378", "918", "1.423"], "w": elsewhere}
    told, frame = inferred(tmp_path / "t.csv", columns)
    assert frame["v"].to_list()[:3] == [378, 918, 1423]
    assert told.readings["v"] == ("1.423", "1423")
    assert not any("--decimal" in note for note in told.notes)


def test_a_semicolon_file_with_nothing_else_to_go_by_has_thousands_and_says_so(tmp_path):
    told, frame = inferred(tmp_path / "t.csv", {"v": ["378", "918", "1.423"]})
    assert frame["v"].to_list() == [378, 918, 1423]
    (note,) = (note for note in told.notes if note.startswith("v:"))
    assert "read as thousands separators" in note
    assert "--decimal ." in note


def test_decimal_points_elsewhere_do_not_make_a_decimal_of_a_thousand(tmp_path):
    columns = {"v": ["378", "918", "1.423"], "w": ["2.5", "3.75"]}
    told, frame = inferred(tmp_path / "t.csv", columns)
    assert frame["v"].to_list() == [378, 918, 1423]
    assert any("--decimal ." in note for note in told.notes)


def test_the_user_decides_where_the_file_does_not(tmp_path):
    told, frame = inferred(tmp_path / "t.csv", {"v": ["378", "918", "1.423"]}, decimal=".")
    assert frame["v"].to_list() == [378, 918, 1.423]
    assert not told.readings
    with pytest.raises(TableError, match="--decimal is 'x'"):
        inferred(tmp_path / "t.csv", {"v": ["1", "2"]}, decimal="x")


@pytest.mark.parametrize(
    ("cells", "separator", "numbers"),
    [
        (["1.423.000", "2.500"], ",", [1423000, 2500]),
        (["1.423", "0.918"], ";", [1.423, 0.918]),
        (["1.423", "2.5"], ";", [1.423, 2.5]),
        (["1.423", "12345"], ";", [1.423, 12345]),
        (["1.423", "2.918"], ",", [1.423, 2.918]),
        (["1,423", "2,918"], ";", [1.423, 2.918]),
        (["1,423", "918"], ",", [1423, 918]),
        (["1,423", "0,918"], ";", [1.423, 0.918]),
        (["20 089", "1 200,5"], ";", [20089, 1200.5]),
        (["20'089", "1'200.5"], ";", [20089, 1200.5]),
        (["$20,089", "$1,200"], ";", [20089, 1200]),
        (["20.089 €", "1.200,50 €"], ";", [20089, 1200.5]),
        (["-$20", "$15"], ",", [-20, 15]),
        (["7.5%", "12%"], ",", [7.5, 12]),
        (["37.6 °C", "38 °C"], ",", [37.6, 38]),
        (["58 y", "61 y"], ",", [58, 61]),
        (["120 mm Hg", "135 mm Hg"], ",", [120, 135]),
        (["<5", "7", "12.5", "8"], ",", [5, 7, 12.5, 8]),
    ],
)
def test_cells_are_read_as_they_are_meant(tmp_path, cells, separator, numbers):
    told, frame = inferred(tmp_path / "t.csv", {"v": cells, "w": ["1", "2"]}, separator)
    assert frame["v"].to_list()[: len(cells)] == numbers
    assert told.columns[0].kind == "number"


def test_two_numbers_in_a_cell_become_two_columns(tmp_path):
    told, frame = inferred(tmp_path / "t.csv", {"bp": ["137/72", "120 / 80", "", "141/91"]}, ",")
    assert frame.columns == ["bp_1", "bp_2"]
    assert frame.rows() == [(137, 72), (120, 80), (None, None), (141, 91)]
    assert told.readings["bp"] == ("137/72", "137 and 72")


@pytest.mark.parametrize(
    "cells",
    [["<50K", ">50K"], ["A1", "A2", "B1"], ["1st", "2nd", "3rd"], ["3B", "4A"], ["20-30", "30-40"]],
)
def test_categories_with_digits_stay_categories(tmp_path, cells):
    told, frame = inferred(tmp_path / "t.csv", {"v": cells * 3, "w": ["1", "2"]}, ",")
    assert told.columns[0].kind == "category"
    assert frame["v"].to_list()[: len(cells)] == cells


def test_a_column_of_numbers_in_several_units_is_warned_of(tmp_path):
    cells = [f"{i} y" for i in range(30)] + [f"{i} months" for i in range(30)]
    told, _ = inferred(tmp_path / "t.csv", {"age": cells * 3, "w": ["1", "2"]}, ",")
    (warning,) = told.warnings
    assert "age: most cells look like numbers, such as '0 y'" in warning


def test_thousands_after_the_first_rows_are_seen(tmp_path):
    cells = [str(i % 900) for i in range(1500)] + ["1.423", "2.000"]
    _, frame = inferred(tmp_path / "t.csv", {"v": cells, "w": ["3,5", "2,1"]})
    assert frame["v"].to_list()[-2:] == [1423, 2000]


def test_a_table_to_predict_may_have_thousands_where_training_had_none(tmp_path):
    columns = {"v": ["378", "918"], "w": ["3,5", "2,1"]}
    told, _ = inferred(tmp_path / "t.csv", columns)
    path = tmp_path / "new.csv"
    path.write_text("v;w\n1.423;1,5\n", encoding="utf-8")
    with opened(path) as table:
        frame, _ = Match(table, told).all()
    assert frame.rows() == [(1423, 1.5)]


def test_decimal_points_beside_decimal_commas_stay_points(tmp_path):
    cells = [str(i % 9) for i in range(1200)] + ["2.5"]
    _, frame = inferred(tmp_path / "t.csv", {"v": cells, "w": ["3,5", "2,1"]})
    assert frame["v"].to_list()[-1] == 2.5


def test_a_decimal_point_is_never_taken_for_a_thousands_point(tmp_path):
    told, _ = inferred(tmp_path / "t.csv", {"v": ["1,5", "2,25"], "w": ["1", "2"]})
    path = tmp_path / "new.csv"
    path.write_text("v;w\n1.5;1\n2,5;2\n", encoding="utf-8")
    with opened(path) as table:
        match = Match(table, told)
        frame, _ = match.all()
    assert frame["v"].to_list() == [None, 2.5]
    assert "v: 1 cell(s) in another format" in match.tally.notes()[0]


def test_units_and_pairs_survive_a_file(tmp_path):
    columns = {"t": ["37.6 °C", "38 °C"], "bp": ["137/72", "120/80"], "n": ["<5", "6", "7"]}
    told, _ = inferred(tmp_path / "t.csv", columns, ",")
    assert TableSchema.from_dict(told.to_dict()) == told
    path = tmp_path / "new.csv"
    path.write_text("bp,n,t\n111/66,<2,39.5 °C\n", encoding="utf-8")
    with opened(path) as table:
        frame, _ = Match(table, told).all()
    assert frame.to_dicts() == [{"t": 39.5, "bp_1": 111, "bp_2": 66, "n": 2}]


def test_commas_of_thousands_are_read_where_every_cell_has_decimals_too(tmp_path):
    amounts = [200 + 37.13 * i for i in range(200)]
    told, frame = inferred(tmp_path / "t.csv", {"price": [f"{a:,.2f}" for a in amounts]})
    assert frame["price"].to_list() == [round(a, 2) for a in amounts]
    assert told.readings["price"] == ("1,016.86", "1016.86")
    assert not told.notes


@pytest.mark.parametrize(("later", "number"), [("1,349.84", 1349.84), ("€ 7.50", 7.5)])
def test_a_format_that_begins_after_the_first_thousand_rows_loses_no_cell(tmp_path, later, number):
    cells = [f"{i / 4:.2f}" for i in range(1500)] + [later] * 60
    _, frame = inferred(tmp_path / "t.csv", {"v": cells, "w": ["1", "2"]})
    assert frame["v"].null_count() == 0
    assert frame["v"][-1] == number


def test_a_suffix_that_tells_values_apart_is_no_unit(tmp_path):
    cells = ["0_no"] * 97 + ["1_yes"] * 3
    told, frame = inferred(tmp_path / "t.csv", {"x_acute": cells * 4, "w": ["1", "2"]})
    assert told.columns[0].kind == "category"
    assert frame["x_acute"].to_list() == cells * 4


@pytest.mark.parametrize(("n_odd", "kind"), [(10, "number"), (11, "category")])
def test_numbers_of_which_more_than_a_hundredth_would_be_lost_are_no_numbers(tmp_path, n_odd, kind):
    cells = [f"{i} y" for i in range(1000 - n_odd)] + ["5 months"] * n_odd
    told, _ = inferred(tmp_path / "t.csv", {"age": cells, "w": ["1", "2"]}, keep=["age"])
    assert told.columns[0].kind == kind
    warned = any("age: most cells look like numbers" in w for w in told.warnings)
    assert warned == (kind == "category")


def test_each_of_a_few_values_counts_however_rare_it_is(tmp_path):
    cells = ["1", "2", "3"] * 500 + ["3+"]
    _, frame = inferred(tmp_path / "t.csv", {"v": cells, "w": ["1", "2"]})
    assert frame["v"].to_list()[-1] == 3
    assert frame["v"].null_count() == 0
