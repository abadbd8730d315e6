"""Tables to be read."""

import pytest

from loans import loan_lines
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema_inference import infer_schema


@pytest.fixture
def loans(tmp_path):
    return write(tmp_path / "loans.csv", "\n".join(loan_lines()) + "\n")


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def inferred(path, target, **options):
    """The schema of a table, and its training rows."""
    with opened(path) as table:
        return infer_schema(table, target, ColumnOptions(**options))
