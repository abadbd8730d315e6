"""Documentation of a model in the order of a guideline or law, as HTML or Markdown.

The facts are those of the report. What only a person can say is marked as to be filled in.
"""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils import column_or_1d

from rebelboost.base.findings import Document, Heading, Sentence, as_html
from rebelboost.base.markdown import as_markdown
from rebelboost.base.markup import Html, join_html, paragraph, section, style_of_cards, tag
from rebelboost.base.text import counted
from rebelboost.base.writing import write_text_whole
from rebelboost.exceptions import EvaluationError
from rebelboost.report.guidelines import GUIDELINES, Guideline, Item
from rebelboost.report.statements import STATEMENTS
from rebelboost.report.subject import Subject

MARKDOWN = {".md", ".markdown"}
TO_FILL_IN = "To be filled in by a person: "
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_documentation(  # noqa: PLR0913  (options of the page)
    clf: Any,
    X: Any,
    y: ArrayLike,
    path: str | Path,
    *,
    evaluation: Any,
    guideline: str = "card",
    title: str = "Model",
    data_summary: Mapping[str, Any] | None = None,
    command: str | None = None,
    date: dt.date | None = None,
) -> Path:
    """Write what a guideline or law asks to be documented, as far as the model and its evaluation say it.

    Parameters
    ----------
    clf : RebelClassifier
        Fitted model.
    X, y : table of shape (N, d), labels of shape (N,)
        Samples of the `evaluation`, as for `write_report`.
    path : str or Path
        File to write: Markdown if its name ends in ``.md``, otherwise HTML.
    evaluation : Evaluation or None
        Result of `rebelboost.evaluation.evaluate` or `left_out`; with ``by=`` for results by group.
    guideline : {"card", "clinic", "credit", "eu"}
        A model card; TRIPOD+AI; Regulation B and SR 26-2; Annex IV of the EU AI Act.
    title : str
        Title of the page.
    data_summary, command, date
        As for `write_report`.
    """
    if guideline not in GUIDELINES:
        raise ValueError(f"guideline is {guideline!r}: choose one of {', '.join(GUIDELINES)}")
    if not is_classifier(clf):
        raise EvaluationError("these guidelines are for classifiers: give a fitted RebelClassifier")
    subject = Subject(clf, X, column_or_1d(y), evaluation, dict(data_summary or {}), command)
    asked, path = GUIDELINES[guideline], Path(path)
    day = date or dt.datetime.now(tz=dt.UTC).date()
    if path.suffix.lower() in MARKDOWN:
        text = _markdown(subject, asked, title, day)
    else:
        text = _page(subject, asked, title, day)
    write_text_whole(path, text)
    return path


def _answers(subject: Subject, item: Item) -> Document:
    """The facts of an item, and what a person has to add."""
    found = [block for name in item.facts for block in STATEMENTS[name](subject)]
    return [*found, *([Sentence([TO_FILL_IN, item.person], "todo")] if item.person else [])]


def _state(asked: Guideline) -> str:
    """Say how many items are answered by facts."""
    items = asked.items
    whole = sum(bool(item.facts) and not item.person for item in items)
    partly = sum(bool(item.facts) and bool(item.person) for item in items)
    return (
        f"{counted(len(items), 'item')}: {whole} answered by the model and its data, {partly} in part, "
        f"{len(items) - whole - partly} by a person only."
    )


def _heading(item: Item) -> str:
    return item.title if item.number == "–" else f"{item.number} {item.title}"


def _footer(date: dt.date) -> str:
    return f"Written by rebelboost on {date:%-d %B %Y}."


def _markdown(subject: Subject, asked: Guideline, title: str, date: dt.date) -> str:
    document: list[Any] = [
        Heading(f"{title}: {asked.title}", 1),
        Sentence(asked.about),
        Sentence(_state(asked)),
    ]
    for part in asked.parts:
        if len(asked.parts) > 1:
            document.append(Heading(part.title, 2))
        for item in part.items:
            document += [
                Heading(_heading(item), 3 if len(asked.parts) > 1 else 2),
                *_answers(subject, item),
            ]
    return as_markdown([*document, Sentence(_footer(date))])


def _page(subject: Subject, asked: Guideline, title: str, date: dt.date) -> str:
    sections = [_section(subject, part.title, part.items) for part in asked.parts]
    heading = f"{title}: {asked.title}"
    body = tag(
        "main",
        tag("header", tag("h1", heading), paragraph(asked.about), paragraph(_state(asked))),
        *sections,
        tag("footer", f"{_footer(date)} This file loads nothing from the network."),
    )
    own = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", heading),
        tag("style", Html(f"{style_of_cards()}{own}")),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n"


def _section(subject: Subject, title: str, items: tuple[Item, ...]) -> Html:
    parts = [
        join_html([tag("h3", _heading(item)), as_html(_answers(subject, item))]) for item in items
    ]
    return section(title, *parts)
