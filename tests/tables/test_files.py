"""How files are read: separators, encodings, headers."""

import gzip

import pytest

from rebelboost.exceptions import TableError
from rebelboost.tables.files import opened
from written_tables import write


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
