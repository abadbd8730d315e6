"""`rebel evaluate`: how a model does on rows whose classes are known."""

from pathlib import Path

from rebelboost.cli.files import load_model
from rebelboost.cli.inputs import read_labelled, with_costs
from rebelboost.cli.render import Output
from rebelboost.evaluation import evaluate

SEEN = (
    "the model has learned from this very file, so that these figures are too good: "
    "`rebel train` printed honest ones"
)


def run_evaluation(model: Path, data: Path, *, costs: Path | None, output: Output) -> None:
    """Print the figures."""
    classifier = with_costs(load_model(model), costs)
    with output.waiting(f"reading {data}"):
        given = read_labelled(classifier, data)
        evaluation = evaluate(classifier, given.frame, given.y, source=data.name)
    output.record("evaluation", {**evaluation.to_dict(), "seen_in_training": given.is_training})
    output.text(evaluation.text())
    output.notes([*given.notes, *([SEEN] if given.is_training else [])])
