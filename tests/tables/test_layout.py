"""Tables with titles, comments, second names and footnotes; and sheets of workbooks."""

import polars as pl
import pytest

from rebelboost.exceptions import TableError
from rebelboost.tables import spreadsheets
from rebelboost.tables.files import opened
from rebelboost.tables.layout import Layout

HEADER = "id,age,weight,y\n"
ROWS = "".join(f"P{i},{20 + i % 7},{i * 1.5},{'ab'[i % 2]}\n" for i in range(30))
UNITS = ",(years),(kg),\n"


def read(path, text, encoding="utf-8", **layout):
    path.write_bytes(text.encode(encoding))
    with opened(path, layout=Layout(**layout)) as table:
        return table.names, table.frame.collect().rows(), table.notes


def plain(path):
    return read(path, HEADER + ROWS)


MESSY = {
    "a title": "Report of the clinic, 2024\n" + HEADER + ROWS,
    "a title and a blank line": "Report\n\n" + HEADER + ROWS,
    "a title with empty cells": "Report,,,\n,,,\n" + HEADER + ROWS,
    "a title and a date": "Report,,,\nDate:,2024-01-01,,\n" + HEADER + ROWS,
    "comments": "# made by me, on Monday\n# and saved\n" + HEADER + ROWS,
    "units": HEADER + UNITS + ROWS,
    "units without brackets": HEADER + "-,years,kg,-\n" + ROWS,
    "names of groups of columns": "Patient,,Lab,\n" + HEADER + ROWS,
    "a source": HEADER + ROWS + "Source: the clinic\n",
    "a footnote of two lines": HEADER + ROWS + "\nnot all of\nthe patients\n\n",
    "a total": HEADER + ROWS + "Total,,652,\n",
    "everything": "Report\n# 2024\n" + HEADER + UNITS + ROWS + "Total,,652,\n\n* provisional\n",
}


@pytest.mark.parametrize("kind", MESSY)
def test_lines_around_a_table_are_found_and_said(tmp_path, kind):
    names, rows, notes = read(tmp_path / "t.csv", MESSY[kind])
    assert (names, rows) == plain(tmp_path / "u.csv")[:2]
    assert any(note.startswith("skipped ") for note in notes)
    assert "--skip-rows 0 reads all lines" in " ".join(notes)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_titles_are_found_in_any_encoding(tmp_path, encoding):
    names, rows, _ = read(tmp_path / "t.csv", "Übersicht\n" + HEADER + ROWS, encoding)
    assert (names, rows) == plain(tmp_path / "u.csv")[:2]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_line_that_names_the_separator_is_heeded(tmp_path, mark):
    text = (HEADER + ROWS).replace(",", ";")
    assert read(tmp_path / "t.csv", f"{mark}sep=;\n{text}") == plain(tmp_path / "u.csv")


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        "\n\n" + HEADER + ROWS + "\n\n",
        "#" + HEADER + ROWS,
        HEADER + ROWS + "P31,,,\n",
        HEADER + ROWS + "Ann Lee,,,\n",
        HEADER + "P31,NA,?,a\n" + ROWS,
        HEADER + ROWS + 'P31,3,4,"x\nsecond line: of text"\n',
        "name,y\nann,a\nbob,b\nzoe,\n",
        ",y\n1,a\n2,b\n3,a\n",
        "a,,,y\n1,2,3,a\n4,5,6,b\n",
    ],
)
def test_nothing_is_skipped_that_may_be_a_row(tmp_path, text):
    _, rows, notes = read(tmp_path / "t.csv", text)
    assert notes == ()
    assert len(rows) == pl.read_csv(text.strip().encode(), infer_schema=False).height


def test_the_user_says_how_many_lines_are_skipped(tmp_path):
    text = "1,2,3,4\n5,6,7,8\n" + HEADER + ROWS + "Total,,652,\n"
    names, rows, notes = read(tmp_path / "t.csv", text, skip_rows=2)
    assert (names, len(rows), notes) == (["id", "age", "weight", "y"], 31, ())
    names, rows, _ = read(tmp_path / "t.csv", "Report,,,\n" + HEADER + ROWS, skip_rows=0)
    assert (names[0], len(rows)) == ("Report", 31)


def test_faults_below_a_title_are_counted_in_lines_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Report\n" + HEADER + ROWS + "P31,1,2,a,5,6\n", encoding="utf-8")
    with (
        pytest.raises(TableError, match=r"line 33 of .* has 6 cells"),
        opened(path) as table,
    ):
        table.frame.collect()


# ---- workbooks


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    """A file with sheets; the readers of workbooks are an extra, so what they return is made here."""
    sheets = {}

    def read_excel(path, *, sheet_name, has_header, **_):
        rows = [[cell or None for cell in line.split(",")] for line in sheets[sheet_name]]
        width = max(map(len, rows), default=0)
        rows = [row + [None] * (width - len(row)) for row in rows]
        schema = rows.pop(0) if has_header else [f"column_{i}" for i in range(width)]
        return pl.DataFrame(rows, schema=schema, orient="row")

    monkeypatch.setattr(spreadsheets, "find_spec", lambda _: True)
    monkeypatch.setattr(spreadsheets, "_sheet_names", lambda *_: list(sheets))
    monkeypatch.setattr(pl, "read_excel", read_excel)
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK")

    def opened_sheets(**layout):
        with opened(path, layout=Layout(**layout)) as table:
            return table.names, table.frame.collect().rows(), table.notes

    return sheets, opened_sheets


@pytest.mark.parametrize("kind", MESSY)
def test_cells_around_a_table_in_a_sheet_are_found_and_said(workbook, tmp_path, kind):
    sheets, read_sheets = workbook
    sheets["Data"] = MESSY[kind].splitlines()
    names, rows, notes = read_sheets()
    assert (names, rows) == plain(tmp_path / "u.csv")[:2]
    assert any(note.startswith("skipped ") for note in notes)


def test_sheets_are_chosen_by_name_or_number(workbook):
    sheets, read_sheets = workbook
    sheets |= {"Notes": ["read me"], "Data": (HEADER + ROWS).splitlines()}
    for chosen in ("Data", "2"):
        assert len(read_sheets(sheet=chosen)[1]) == 30
    with pytest.raises(TableError, match="has no sheet 'data'; it has Notes, Data"):
        read_sheets(sheet="data")
    with pytest.raises(TableError) as raised:
        read_sheets()
    assert "sheet 'Notes' of" in str(raised.value)
    assert "its sheets are Notes, Data: choose one with --sheet" in str(raised.value)
    assert "comma" not in str(raised.value)


def test_the_first_of_several_sheets_is_read_and_said(workbook):
    sheets, read_sheets = workbook
    sheets |= {"Data": (HEADER + ROWS).splitlines(), "Notes": ["read me"]}
    _, rows, (note,) = read_sheets()
    assert len(rows) == 30
    assert note == "sheet 'Data' is read, of Data, Notes (--sheet NAME reads another)"
