"""The sentences at the top of the report, and the section on accuracy and cost, or on errors."""

import math
from typing import Any

from rebelboost.base.findings import Column, Sentence, Table, as_html
from rebelboost.base.markup import Html, note, paragraph, section, tag
from rebelboost.evaluation.figures import Figure, figure_columns
from rebelboost.evaluation.intervals import Estimate
from rebelboost.report.charts import ruler
from rebelboost.report.predictions import scatter
from rebelboost.report.subject import Subject


def lead(subject: Subject) -> Html:
    """Return the main result in a few sentences."""
    found = subject.evaluation
    if found is not None:
        return as_html(found.lead())
    what = "error" if subject.predicts_numbers else "accuracy"
    unknown = (
        f"The {what} on new cases is unknown: no samples were held out from training, and no test table "
        "was given."
    )
    return as_html([Sentence(unknown, "lead")])


def results(subject: Subject) -> Html | None:
    """Return the section on the figures, with intervals and baselines."""
    found = subject.evaluation
    if found is None:
        return None
    unknown = found.about_unknown()
    return section(
        "How good is the model?",
        _table(found.figures(of_many=True)),
        note(found.about_scales(), class_="note wide"),
        *map(note, found.notes()),
        scatter(subject) if subject.predicts_numbers else None,
        paragraph(tag("strong", "Source of these figures. "), found.about_source()),
        paragraph(unknown) if unknown else None,
    )


def _table(figures: list[Figure]) -> Html:
    columns = [*figure_columns(figures), Column("drawing", figures, _ruler, "", "drawing")]
    return as_html([Table(columns, style="results")])


def _ruler(figure: Figure) -> Any:
    """The figure on its scale, if it has an interval."""
    if not isinstance(figure.value, Estimate) or not figure.is_drawn:
        return ""
    value = Estimate(0.5, 0.0, 1.0) if math.isnan(figure.value.value) else figure.value
    marks = [] if figure.mark is None else [(figure.mark[0] / figure.scale, figure.mark[1])]
    return ruler(Estimate(*(part / figure.scale for part in value)), marks)
