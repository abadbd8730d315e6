"""`rebel explain`: the reasons of some decisions, or what a model consists of."""

from dataclasses import replace
from pathlib import Path

import polars as pl

from rebelboost.cli.files import load_model
from rebelboost.cli.render import Output
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Table, opened
from rebelboost.tables.matching import Match, understood_by
from rebelboost.tables.understanding import ROW


def explain(model: Path, data: Path | None, *, rows: str, top: int, output: Output) -> None:
    """Print reasons row by row; without data, the model's summary."""
    classifier = load_model(model)
    if data is None:
        summary = classifier.summary()
        output.record("summary", {"text": str(summary), "guarantee": str(classifier.guarantee_)})
        output.text(str(summary))
        return
    wanted = parsed_rows(rows)
    with opened(data) as table:
        match = Match(_only(table, wanted), understood_by(classifier, table))
        frame, _ = match.all()
    for row, each in zip(wanted, classifier.explain(frame, top=top), strict=True):
        told = {"row": row, "text": each.text(), "parts": each.table()}
        output.record("explanation", told)
        output.text(f"Row {row}. {each.text()}\n")
    output.notes(match.tally.notes())


def parsed_rows(rows: str) -> list[int]:
    """Row numbers of a text such as 3,17 or 5-8, in its order."""
    wanted: list[int] = []
    for part in rows.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or int(first) < 1:
            raise TableError(f"--rows is {rows!r}: give numbers from 1, such as 3,17 or 5-8")
        wanted += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(wanted))


def _only(table: Table, wanted: list[int]) -> Table:
    """The wanted rows, in the order wanted."""
    numbered = table.frame.with_row_index(ROW, offset=1)
    found = numbered.filter(pl.col(ROW).is_in(wanted)).collect(engine="streaming")
    if len(found) < len(wanted):
        n_rows = table.frame.select(pl.len()).collect(engine="streaming").item()
        beyond = max(wanted)
        raise TableError(
            f"--rows asks for row {beyond:,}, but {table.path} has {n_rows:,} row(s): "
            "they are counted from 1, without the line of names"
        )
    order = pl.DataFrame({ROW: wanted}, schema={ROW: found.schema[ROW]})
    return replace(table, frame=order.join(found, on=ROW, how="left", maintain_order="left").lazy())
