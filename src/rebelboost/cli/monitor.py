"""`rebel monitor`: whether new rows look as the training rows did."""

from pathlib import Path

import polars as pl

from rebelboost.cli.inputs import AT_ONCE, MOST_JUDGED, model_input, predicts_numbers
from rebelboost.cli.model_files import fingerprints, load_model
from rebelboost.cli.output import Output
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Source, opened_source
from rebelboost.tables.held_out import drawn_rows
from rebelboost.tables.schema import Match, schema_of

SEEN = "the model was trained on this file, so there is nothing new in it"


def run_monitoring(model: Path, data: Source, *, alarm: float, output: Output) -> bool:
    """Print what has changed; return whether anything has."""
    classifier = load_model(model)
    if predicts_numbers(classifier):
        raise TableError("the model predicts numbers: only classifiers are monitored")
    with output.waiting(f"reading {data}"):
        frame, notes = _read(classifier, data)
        found = classifier.monitor(model_input(classifier, frame), alarm=alarm)
    output.finding("drift", found)
    trained = (classifier.metadata_ or {}).get("fingerprint")
    if trained is not None and trained == fingerprints(data)["fingerprint"]:
        notes = [*notes, SEEN]
    output.notes(notes)
    return found.has_drifted


def _read(classifier: object, data: Source) -> tuple[pl.DataFrame, list[str]]:
    """The columns that the model uses; of very many rows, about `MOST_JUDGED`, drawn by their values."""
    with opened_source(data) as table:
        match = Match(table, schema_of(classifier, table))
        n_rows = int(table.frame.select(pl.len()).collect(engine="streaming").item())
        share = MOST_JUDGED / max(1, n_rows)
        if share >= 1:
            frame, _ = match.all()
        else:
            batches = match.batches(AT_ONCE)
            frame = pl.concat(
                [part.filter(pl.Series(drawn_rows(part, share))) for part, _ in batches]
            )
        if len(frame) == 0:
            raise TableError(f"{data} has a header but no rows: add the rows to compare")
    notes = match.tally.notes()
    if share < 1:
        notes.append(f"compared {len(frame):,} of {n_rows:,} rows, drawn by their values")
    return frame, notes
