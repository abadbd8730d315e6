"""Tables that tests write, and what is inferred from them."""

from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.schema_inference import infer_schema


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def inferred(path, target, **options):
    """The schema of a table, and its training rows."""
    with opened(path) as table:
        return infer_schema(table, target, ColumnOptions(**options))
