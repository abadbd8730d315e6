"""`rebel certify`: an upper bound of what decisions cost, from rows not used in training."""

from pathlib import Path
from typing import NamedTuple

from rebelboost.cli.inputs import (
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


def run_certification(
    model: Path, data: Source, *, target: str, costs: Path | None, asked: Asked, output: Output
) -> bool:
    """Print the certificate; return whether what was asked for is proven."""
    classifier = with_costs(load_model(model), costs)
    if predicts_numbers(classifier):
        raise TableError("the model predicts numbers: only decisions have a cost to be certified")
    with output.waiting(f"reading {data}"):
        given = read_labelled(classifier, data, target)
        if given.was_seen and not given.is_held_out:
            raise TableError(
                f"the model was trained on {data.name}: a bound needs rows that it has not seen"
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
    output.record("certificate", found.to_dict())
    output.text(found.text())
    output.notes([*given.notes, *([again[1]] if again is not None else [])])
    return found.holds
