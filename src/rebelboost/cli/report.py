"""`rebel report`: everything about a model on one page."""

from pathlib import Path

from rebelboost.cli.files import check_writable, load_model
from rebelboost.cli.models import read_labelled
from rebelboost.cli.render import Output
from rebelboost.evaluation import evaluate
from rebelboost.figures import Evaluation
from rebelboost.report import write_report


def report(model: Path, data: Path, to: Path, *, output: Output) -> None:
    """Write the page; figures of a model's own table are those of samples that it had not seen."""
    check_writable(to)
    classifier = load_model(model)
    with output.waiting(f"writing {to}"):
        given = read_labelled(classifier, data)
        stored = classifier.metadata_.get("evaluation")
        if given.is_training and stored is not None:
            evaluation = Evaluation.from_dict(stored)
        else:
            evaluation = evaluate(classifier, given.frame, given.y, source=data.name)
        write_report(
            classifier,
            given.frame,
            given.y,
            to,
            evaluation=evaluation,
            title=f"{classifier.metadata_['table']['target']}, by {model.name}",
            data_summary=None,
            command=f"rebel report {model} {data} -o {to}",
        )
    output.notes(given.notes)
    output.record("report", {"path": str(to)})
    output.text(f"{to} is written: open it in a browser")
