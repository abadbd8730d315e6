"""`rebel report`: write an HTML report on a model."""

from pathlib import Path
from typing import Any, NamedTuple

from rebelboost.base.writing import is_stream
from rebelboost.cli.inputs import (
    Labelled,
    held_out,
    predicts_numbers,
    read_labelled,
    rows_seen,
    tested,
    with_costs,
    with_positive,
)
from rebelboost.cli.model_files import check_writable, load_model
from rebelboost.cli.output import Output
from rebelboost.cli.training_summary import how_judged
from rebelboost.evaluation.evaluate import AnyEvaluation
from rebelboost.report import write_report
from rebelboost.report.documentation import MARKDOWN, write_documentation
from rebelboost.report.guidelines import GUIDELINES
from rebelboost.tables.columns import Column
from rebelboost.tables.files import Source


class ShownRows(NamedTuple):
    """What a report shows of the rows of the table, and the class that its figures are about."""

    rows: bool = True
    names: bool = True
    positive: str | None = None
    by: str = ""
    """A column by which results are given too."""
    static: bool = False
    """Whether the model itself is left out of the page."""
    guideline: str = ""
    """The guideline whose items are documented, in place of the report."""

    def told(self) -> str:
        """Say what it shows."""
        if not self.rows:
            return "It shows no single rows."
        values = "their names or numbers and their values" if self.names else "their values"
        return f"It shows some rows of the table with {values}; --no-rows leaves them out."


def run_report(
    model: Path,
    data: Source,
    to: Path,
    *,
    target: str,
    costs: Path | None,
    shown: ShownRows = ShownRows(),  # noqa: B008  (immutable)
    output: Output,
) -> None:
    """Write the report, or the documentation that a guideline asks for."""
    guideline = shown.guideline
    if guideline and guideline not in GUIDELINES:
        raise ValueError(f"--for is {guideline!r}: choose one of {', '.join(GUIDELINES)}")
    check_writable(to, model, *data.files, costs)
    classifier = with_positive(with_costs(load_model(model), costs), shown.positive)
    kept = classifier.metadata_ or {}
    with output.waiting(f"writing {to}"):
        given = read_labelled(classifier, data, target, shown.by)
        assert given.schema is not None
        told = given.schema.to_dict()
        if not given.is_training:
            # The stored values describe the training table.
            told |= {"source": data.name, "n_unlabelled": 0, "notes": given.notes, "form": ""}
        again = rows_seen(classifier, given)
        seen = [] if again is None else [again[1]]
        told["notes"] = [
            *seen,
            *told["notes"],
            *told.get("warnings", ()),
            *_meanings(told),
            *_how(told, given),
        ]
        evaluation = _evaluation(classifier, given, data, recosted=costs is not None)
        if guideline or to.suffix.lower() in MARKDOWN:
            write_documentation(
                classifier,
                given.frame,
                given.y,
                to,
                evaluation=evaluation,
                guideline=guideline or "card",
                title=model.stem,
                data_summary=told,
                command=kept.get("command"),
            )
        else:
            write_report(
                classifier
                if shown.names or predicts_numbers(classifier)
                else _numbered(classifier),
                given.frame,
                given.y,
                to,
                evaluation=evaluation,
                title=f"Model report: {model.stem}",
                data_summary=told,
                command=kept.get("command"),
                row_names=given.names if shown.names else range(1, len(given.y) + 1),
                rows=shown.rows,
                static=shown.static,
            )
    output.notes([*given.notes, *seen])
    output.record("report", {"path": str(to)})
    size = "" if is_stream(to) else f" ({to.stat().st_size / 1e6:.1f} MB)"
    if guideline or to.suffix.lower() in MARKDOWN:
        output.text(f"Wrote {to}{size}. Fill in what only a person can say: it is marked.")
    else:
        output.text(f"Wrote {to}{size}. Open it in a browser. {shown.told()}")


def _numbered(classifier: Any) -> Any:
    """Call the training rows by their numbers among the rows with a class, from 1."""
    return classifier.with_row_labels({row: row + 1 for row in classifier.example_classes_})


def _meanings(told: dict[str, Any]) -> list[str]:
    """Say how date and time columns are converted to numbers."""
    columns = map(Column.from_dict, told["columns"])
    return [f"{column.name}: {column.meaning}" for column in columns if column.meaning]


def _how(told: dict[str, Any], given: Labelled) -> list[str]:
    """Say how rows were left out to evaluate the model on its training table."""
    if given.is_held_out:
        return ["evaluated on rows that training left out"]
    how = how_judged(told.get("group", ""), told.get("time", ""))
    return [f"evaluated by cross-validation, {how}"] if how and given.is_training else []


def _evaluation(
    model: Any, given: Labelled, data: Source, *, recosted: bool
) -> AnyEvaluation | None:
    """Evaluate on the table; for the training table, return the held-out figures instead."""
    if given.is_training and not given.is_held_out:
        return held_out(model, given, recosted=recosted)
    return tested(model, given, data)
