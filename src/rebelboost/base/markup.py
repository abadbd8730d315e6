"""Functions that build HTML. Text is escaped unless it is `Html`, so that no name can break the page."""

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
UNIT = re.compile(r"(?<=\d) %")
"""A line does not end between a number and its unit."""
VOID = {"meta", "line", "rect", "circle", "path", "polyline", "polygon"}
"""Elements that are closed by "/>" if they have no content."""
LONGEST_NAME = 200
"""Longer names are shortened; shorter ones wrap."""
SHORT_NAME = 16
"""Names, dates and numbers of at most this length stay on one line in tables of rows."""


class Html(str):
    """Markup that is not escaped."""

    __slots__ = ()


def escape(value: Any) -> Html:
    """Escape text; return `Html` unchanged."""
    if isinstance(value, Html):
        return value
    text = UNIT.sub("\u00a0%", UNPRINTABLE.sub("\ufffd", str(value)))
    return Html(html.escape(text))


def join_html(parts: Iterable[Any], between: str = "") -> Html:
    """Join parts; None is skipped."""
    return Html(escape(between).join(escape(part) for part in parts if part is not None))


def tag(element: str, /, *content: Any, **attributes: Any) -> Html:
    """Return an element; ``class_`` becomes class, ``text_anchor`` text-anchor; None omits an attribute."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if element in VOID and not content:
        return Html(f"<{element}{written}/>")
    return Html(f"<{element}{written}>{join_html(content)}</{element}>")


def paragraph(*content: Any, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return tag("p", *content, class_=class_)


def name(value: Any, longest: int = LONGEST_NAME) -> Html:
    """Mark a name from the user's data, and shorten it if it is long."""
    full = str(value)
    if full == "":
        return tag("span", "(empty)", class_="name quiet")
    if len(full) <= longest:
        return tag("span", full, class_="name short" if len(full) <= SHORT_NAME else "name")
    return tag("span", f"{full[: longest - 1]}…", class_="name", title=full[:1000])


def quoted(value: Any) -> Html:
    """Put a name in quotation marks, for use in a sentence."""
    return join_html(["“", name(value), "”"])


def table(
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    left: int = 1,
    class_: str | None = None,
    caption: Any = None,
) -> Html:
    """Return a table; the first `left` columns are aligned left, the others, numbers, right."""

    def cells(kind: str, row: Sequence[Any]) -> Html:
        filled = [
            cell
            if isinstance(cell, Html) and cell.startswith(("<td", "<th"))
            else tag(kind, cell, class_=None if i < left else "n")
            for i, cell in enumerate(row)
        ]
        return tag("tr", *filled)

    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption is not None else None,
            tag("thead", cells("th", head)) if head else None,
            tag("tbody", *(cells("td", row) for row in rows)),
            class_=class_,
        ),
        class_="scroll",
    )


def bar(share: float, class_: str = "bar") -> Html:
    """Return a horizontal bar whose length is the share."""
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    return tag("span", tag("span", style=width), class_=class_)


def more(title: Any, *content: Any) -> Html:
    """Return collapsed content that the reader can open."""
    return tag("details", tag("summary", title), *content)


def note(*content: Any, class_: str = "note") -> Html:
    """Return a paragraph in smaller type."""
    return tag("p", *content, class_=class_)


def section(title: str, *content: Any, lead: Any = None) -> Html:
    """Return a section with a heading that links can refer to."""
    return tag(
        "section",
        tag("h2", title),
        paragraph(lead, class_="what") if lead is not None else None,
        *content,
        id=re.sub(r"\W+", "-", title.lower()).strip("-"),
    )


def lean(size: float) -> Html:
    """Return a bar from the centre to the right for positive and to the left for negative values."""
    width = f"width:{50 * min(abs(size), 1.0):.1f}%"
    return tag(
        "span", tag("span", class_="for" if size > 0 else "against", style=width), class_="lean"
    )


def style_of_cards() -> Html:
    """Return the style of tables, bars and cards, for a page of its own."""
    return Html(Path(__file__).with_name("cards.css").read_text(encoding="utf-8"))


def card(*content: Any) -> str:
    """Return content for a notebook, with a style that does not touch the rest of the page."""
    return str(tag("div", tag("style", _scoped_style()), *content, class_="rebel"))


@cache
def _scoped_style() -> Html:
    """The style of cards, with every selector limited to them."""
    rules = [line.split(" {", 1) for line in style_of_cards().splitlines() if line]
    limited = [
        f"{', '.join(f'.rebel.rebel {selector}' for selector in selectors.split(', '))} {{{body}"
        for selectors, body in rules
    ]
    root = Path(__file__).with_name("notebook.css").read_text(encoding="utf-8")
    return Html("\n".join([*limited, root]))
