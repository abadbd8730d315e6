"""HTML from small functions: what is not marked as markup is escaped, so that no name can break a page."""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
VOID = {"meta", "line", "rect", "circle", "path", "polyline"}
"""Elements that may have no content, of those that are used here."""
LONGEST_NAME = 48


class Html(str):
    """Markup that may stand on the page as it is."""

    __slots__ = ()


def escape(value: Any) -> Html:
    """Text as markup that shows it; markup as it is."""
    if isinstance(value, Html):
        return value
    return Html(html.escape(UNPRINTABLE.sub("\ufffd", str(value))))


def join_html(parts: Iterable[Any], between: str = "") -> Html:
    """One after the other, None left out."""
    return Html(escape(between).join(escape(part) for part in parts if part is not None))


def tag(element: str, /, *content: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is class, ``text_anchor`` is text-anchor; None leaves an attribute out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if element in VOID and not content:
        return Html(f"<{element}{told}/>")
    return Html(f"<{element}{told}>{join_html(content)}</{element}>")


def paragraph(*content: Any, class_: str | None = None) -> Html:
    """Text of some sentences."""
    return tag("p", *content, class_=class_)


def name(value: Any, longest: int = LONGEST_NAME) -> Html:
    """What a user called something: set apart, and cut where it is long."""
    full = str(value)
    if full == "":
        return tag("span", "(empty)", class_="name quiet")
    if len(full) <= longest:
        return tag("span", full, class_="name")
    return tag("span", f"{full[: longest - 1]}…", class_="name", title=full[:1000])


def quoted(value: Any) -> Html:
    """A name within a sentence."""
    return join_html(["“", name(value), "”"])


def table(
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    left: int = 1,
    class_: str | None = None,
    caption: Any = None,
) -> Html:
    """A table whose first `left` columns are words, to the left, and the others numbers, to the right."""

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
    """A horizontal bar as long as the share says."""
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    return tag("span", tag("span", style=width), class_=class_)


def more(title: Any, *content: Any) -> Html:
    """What is folded away until asked for."""
    return tag("details", tag("summary", title), *content)


def note(*content: Any, class_: str = "note") -> Html:
    """A smaller text, beside the matter."""
    return tag("p", *content, class_=class_)


def section(title: str, *content: Any, lead: Any = None) -> Html:
    """A part of the page, with a heading to jump to."""
    return tag(
        "section",
        tag("h2", title),
        paragraph(lead, class_="what") if lead is not None else None,
        *content,
        id=re.sub(r"\W+", "-", title.lower()).strip("-"),
    )


def lean(size: float) -> Html:
    """A bar to the right for what is positive and to the left for what is negative, up to ±1."""
    width = f"width:{50 * min(abs(size), 1.0):.1f}%"
    return tag(
        "span", tag("span", class_="for" if size > 0 else "against", style=width), class_="lean"
    )
