"""`rebel evaluate`: accuracy and cost of a model on rows whose true classes are known."""

from pathlib import Path

from rebelboost.cli.files import load_model
from rebelboost.cli.inputs import read_labelled, with_costs
from rebelboost.cli.render import Output
from rebelboost.evaluation import evaluate

SEEN = (
    "the model was trained on this file, so these figures are too optimistic: "
    "use rows that it has not seen, or the held-out figures that `rebel train` printed"
)


def run_evaluation(model: Path, data: Path, *, costs: Path | None, output: Output) -> None:
    """Print accuracy, cost and confusion matrix."""
    classifier = with_costs(load_model(model), costs)
    with output.waiting(f"reading {data}"):
        given = read_labelled(classifier, data)
        evaluation = evaluate(classifier, given.frame, given.y, source=data.name)
    output.record("evaluation", {**evaluation.to_dict(), "seen_in_training": given.is_training})
    output.text(evaluation.text())
    output.notes([*given.notes, *([SEEN] if given.is_training else [])])
