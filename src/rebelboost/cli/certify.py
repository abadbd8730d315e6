"""`rebel certify`: an upper bound of what decisions cost, from rows not used in training."""

from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.base.findings import as_json
from rebelboost.cli.inputs import (
    Labelled,
    model_input,
    predicts_numbers,
    read_labelled,
    rows_seen,
    with_costs,
)
from rebelboost.cli.model_files import load_model
from rebelboost.cli.output import Output
from rebelboost.exceptions import TableError
from rebelboost.tables.files import Source


class Asked(NamedTuple):
    """What is to be certified."""

    at_most: float | None
    """The mean cost that is to be proven, if any."""
    confidence: float
    largest_cost: float | None
    left_out: bool = False
    """Whether abstentions are chosen on the training table, by the rows that the fits left out."""


def run_certification(
    model: Path, data: Source, *, target: str, costs: Path | None, asked: Asked, output: Output
) -> bool:
    """Print the certificate; return whether what was asked for is proven."""
    classifier = with_costs(load_model(model), costs)
    if predicts_numbers(classifier):
        raise TableError("the model predicts numbers: only decisions have a cost to be certified")
    with output.waiting(f"reading {data}"):
        given = read_labelled(classifier, data, target)
        if asked.left_out:
            return _on_average(classifier, given, asked, output)
        if given.was_seen and not given.is_held_out:
            raise TableError(
                f"the model was trained on {data.name}: a bound needs rows that it has not seen; without any, "
                "--left-out finds abstentions that limit the average cost"
            )
        again = rows_seen(classifier, given)
        found = classifier.certify(
            model_input(classifier, given.frame),
            given.y,
            at_most=asked.at_most,
            confidence=asked.confidence,
            groups=given.groups,
            largest_cost=asked.largest_cost,
        )
    output.finding("certificate", found)
    output.notes([*given.notes, *([again[1]] if again is not None else [])])
    return found.holds


def _on_average(classifier: Any, given: Labelled, asked: Asked, output: Output) -> bool:
    """Print the abstentions that limit the average cost; return whether there are any that do."""
    if not given.is_training or asked.at_most is None:
        raise TableError(
            "--left-out chooses abstentions on the table that the model was trained on: give that table, and "
            "the cost with --at-most"
        )
    found = classifier.choose_budget(given.y, asked.at_most)
    output.record("budget", as_json(found.document()))
    output.text(found.text())
    output.notes(given.notes)
    return bool(found.holds)
