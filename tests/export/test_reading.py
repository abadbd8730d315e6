"""Cells of text are read as the command reads them."""

import csv
import datetime as dt
import random

import numpy as np
import polars as pl
import pytest

from export.programs import NODE, read_by_c, read_by_node, written
from rebelboost import RebelClassifier
from rebelboost.cli.inputs import model_input
from rebelboost.estimators.base import encode_table
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened_source, source_of
from rebelboost.tables.layout import Layout
from rebelboost.tables.schema import Match
from rebelboost.tables.schema_inference import infer_schema

COLOURS = ["rot", "grün", '"bl"au', "a</script>", "*/ x", "None", "back\\slash", "??/", "a\tb"]
ODD = """
?|unknown|12x|1e3|-5|+5|1.5|1,5|1.234.5|1.234,5|1,234.5| 7 |1 234|12.34.56|31.02.2021|00:00|24:00|7/|/7|1/2/3
1/2|-|5 Tage|€ 5|<7|<= 7|≥7,5|5 €|12,5 €|-1.234,00|nan|inf|0x10|1_000|.5|5.|1e|e5|Rot|29.2.2021|1.1.2021|NA
""".replace("\n", "|").split("|")


def written_table(path, texts=()):
    """A table with all forms of cells, and odd ones."""
    rng = random.Random(0)
    names = [
        "amount",
        "price",
        "age",
        "term",
        "bp",
        "day",
        "moment",
        "time",
        "colour",
        "limit",
        *texts,
        "y",
    ]
    rows = []
    for _ in range(400):
        amount, price = rng.gauss(1000, 900), rng.expovariate(1 / 50)
        moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=rng.randrange(10**8))
        german = f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))
        row = {
            "amount": german,
            "price": f"{price:.2f} €".replace(".", ","),
            "age": str(rng.randrange(18, 90)),
            "term": f"{rng.randrange(1, 40)} Tage",
            "bp": f"{rng.randrange(90, 180)}/{rng.randrange(50, 110)}",
            "day": moment.strftime("%d.%m.%Y"),
            "moment": moment.strftime("%Y-%m-%dT%H:%M:%S"),
            "time": moment.strftime("%H:%M"),
            "colour": rng.choice(COLOURS),
            "limit": rng.choice(["<5", *(str(rng.randrange(5, 90)) for _ in range(2))]),
            **{
                name: " ".join(rng.choices(["gut", "Lage", "See", "Straße", "äpfel"], k=4))
                for name in texts
            },
            "y": "yes" if amount + 20 * price > 1500 else "no",
        }
        rows.append(row)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names, delimiter=";")
        table.writeheader()
        table.writerows(rows)
    return rows


def trained(folder, **options):
    """A model that the command's reading rules belong to, the schema, and the rows as texts."""
    path = folder / "table.csv"
    texts = options.get("text", ())
    rows = written_table(path, texts)
    with opened_source(source_of([path], Layout(None, ""))) as table:
        schema, training = infer_schema(table, "y", ColumnOptions(**options))
    model = RebelClassifier("tree", n_rounds=5, cross_fit=None).fit(training.frame, training.y)
    return model, schema, rows


def read_by_command(model, schema, rows, folder):
    """(N, d) what the command makes of the rows."""
    frame = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
    path = folder / "read.csv"
    frame.write_csv(path, separator=";")
    with opened_source(source_of([path], Layout(None, ""))) as table:
        found, _ = Match(table, schema).all()
    return encode_table(model, model_input(model, found))


def with_odd_cells(rows):
    """Rows with one odd cell each, in every column."""
    columns = [name for name in rows[0] if name not in ("y", "words")]
    return rows[:50] + [rows[i] | {c: odd} for c in columns for i, odd in enumerate(ODD)]


def assert_same(found, expected, rows, model):
    differing = np.argwhere((found != expected) & ~(np.isnan(found) & np.isnan(expected)))
    names = model.feature_names_in_
    told = [(names[f], found[n, f], expected[n, f], rows[n]) for n, f in differing]
    assert not told, f"{len(told)} differ, such as {told[0]}"


@pytest.mark.filterwarnings("ignore::rebelboost.UnknownCategoryWarning")
def test_c_reads_cells_as_the_command_does(tmp_path):
    model, schema, rows = trained(tmp_path)
    rows = with_odd_cells(rows)
    expected = read_by_command(model, schema, rows, tmp_path)
    told = [column.to_dict() for column in schema.columns]
    path = written(model.model_, tmp_path, "c", told)
    columns = list(dict.fromkeys(column.origin for column in schema.columns))
    found = read_by_c(path, rows, columns, model.n_features_in_)
    assert_same(found, expected, rows, model)


@NODE
@pytest.mark.filterwarnings("ignore::rebelboost.UnknownCategoryWarning")
def test_javascript_reads_cells_as_the_command_does(tmp_path):
    model, schema, rows = trained(tmp_path, text=("words",))
    rows = with_odd_cells(rows)
    expected = read_by_command(model, schema, rows, tmp_path)
    path = written(model.model_, tmp_path, "js", [column.to_dict() for column in schema.columns])
    assert_same(read_by_node(path, rows), expected, rows, model)
