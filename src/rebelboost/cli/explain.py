"""`rebel explain`: the reasons of some decisions, or a summary of the model."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from rebelboost.base.findings import as_json
from rebelboost.cli.inputs import costs_of_rows, model_input, predicts_numbers, with_costs
from rebelboost.cli.model_files import load_model
from rebelboost.cli.output import Output
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Source, Table, opened_source
from rebelboost.tables.schema import ROW, Match, row_names, schema_of


class Personal(NamedTuple):
    """What is asked for the person concerned."""

    codes: Path | None
    """File with codes and sentences by column."""
    wanted: str | None
    fixed: tuple[str, ...]
    columns: int
    """Number of columns that change together, at most."""


def run_explanation(
    model: Path,
    data: Source | None,
    *,
    costs: Path | None = None,
    rows: str,
    top: int,
    personal: Personal | None = None,
    output: Output,
) -> None:
    """Print the reasons for each row or, without data, a summary of the model."""
    classifier = with_costs(load_model(model), costs)
    if personal is not None and (data is None or predicts_numbers(classifier)):
        what = "the model predicts numbers" if data is not None else "no table is given"
        raise TableError(
            f"--reasons, --wanted and --fixed are about decisions on rows, but {what}: leave them out"
        )
    if data is None:
        _summarise(classifier, output)
        return
    wanted = parsed_rows(rows)
    with opened_source(data) as table:
        schema = schema_of(classifier, table)
        naming = [name for name in [schema.naming] if name in table.types]
        match = Match(_only(table, wanted), schema, naming)
        frame, aside = match.all()
        if not predicts_numbers(classifier):  # refuses missing and negative costs
            costs_of_rows(classifier, frame, lambda row: table.place(wanted[row]))
    named = row_names(naming[0], aside[naming[0]].to_list(), wanted) if naming else wanted
    names = ["" if name == row else f" ({name})" for name, row in zip(named, wanted, strict=True)]
    kind, explained = "explanation", _explained(classifier, frame, top, personal)
    if personal is not None:
        kind = "reasons"
    for row, name, each in zip(wanted, names, explained, strict=True):
        output.record(kind, {"row": row, **as_json(each.document())})
        output.text(f"Row {row}{name}. {each}\n")
    output.notes(match.tally.notes())


def _explained(classifier: Any, frame: pl.DataFrame, top: int, personal: Personal | None) -> Any:
    given = model_input(classifier, frame)
    if personal is None:
        return classifier.explain(given, top=top)
    return classifier.reasons(
        given,
        top,
        wanted=personal.wanted,
        codes=personal.codes,
        fixed=personal.fixed,
        columns=personal.columns,
    )


def _summarise(classifier: Any, output: Output) -> None:
    summary = classifier.summary()
    guarantee = None if predicts_numbers(classifier) else classifier.guarantee_
    bounds = None if guarantee is None else guarantee.to_dict()
    output.record("summary", {**as_json(summary.document()), "guarantee": bounds})
    output.text(str(summary) if guarantee is None else f"{summary}\n\nGuarantees\n{guarantee}")


def parsed_rows(rows: str) -> list[int]:
    """Parse row numbers such as 3,17 or 5-8; the order is kept."""
    wanted: list[int] = []
    for part in rows.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit() or int(first) < 1:
            raise TableError(f"--rows is {rows!r}: give row numbers from 1, such as 3,17 or 5-8")
        wanted += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(wanted))


def _only(table: Table, wanted: list[int]) -> Table:
    """Select the rows, in the order requested."""
    numbered = table.frame.with_row_index(ROW, offset=1)
    found = numbered.filter(pl.col(ROW).is_in(wanted)).collect(engine="streaming")
    if len(found) < len(wanted):
        n_rows = table.frame.select(pl.len()).collect(engine="streaming").item()
        beyond = max(wanted)
        raise TableError(
            f"--rows asks for row {beyond:,}, but {table.path} has {n_rows:,} row(s): "
            "rows are numbered from 1, without the header"
        )
    order = pl.DataFrame({ROW: wanted}, schema={ROW: found.schema[ROW]})
    chosen = order.join(found, on=ROW, how="left", maintain_order="left").lazy()
    return replace(table, frame=chosen, parts=())
