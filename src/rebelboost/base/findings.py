"""Findings, described once: documents of sentences and tables, rendered as text, as HTML and as JSON.

A result (an explanation, an evaluation, a guarantee …) describes itself by blocks. What only one of the voices
has room for is marked as such. JSON has the text and all tables, by their keys, with all their rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rebelboost.base.markup import (
    Html,
    bar,
    card,
    join_html,
    lean,
    more,
    name,
    note,
    paragraph,
    quoted,
    tag,
)
from rebelboost.base.markup import table as html_table
from rebelboost.base.names import printed
from rebelboost.base.text import Table as Columns
from rebelboost.base.text import aligned, amount, counted

TEXT, PAGE, DATA = "text", "page", "data"
"""The voices: text, HTML, and JSON."""
EVERYWHERE = frozenset({TEXT, PAGE, DATA})
ON_PAGE, IN_TEXT, IN_DATA = frozenset({PAGE}), frozenset({TEXT}), frozenset({DATA})
BARS: dict[str, Callable[[float], Html]] = {"bar": bar, "lean": lean}
"""Kinds of columns that are drawn; None is left out."""
LONGEST_NAME = 160
"""Longer names are shortened on a page."""


class Cell(NamedTuple):
    """A cell as people see it."""

    text: str
    mark: str = ""
    """Class of its style on a page."""
    is_inset: bool = False
    """Whether it is indented, as it belongs to the one above."""


@dataclass(frozen=True)
class Column:
    """A column of a table: values, and how they are shown."""

    key: str
    """Name in JSON."""
    values: Sequence[Any]
    show: Callable[[Any], str | Cell] = printed
    head: str | None = None
    """Heading; None: the key."""
    kind: str = "name"
    """"name" (words, aligned left), "number" (aligned right), "bar" (shares from 0 to 1), "lean" (−1 to 1), or
    "drawing" (`show` returns HTML).
    """
    voices: frozenset[str] = EVERYWHERE
    below: str = ""
    """Second line of the heading."""

    def cells(self, n: int) -> list[Cell]:
        """The first cells as text."""
        found = (self.show(value) for value in self.values[:n])
        return [each if isinstance(each, Cell) else Cell(each) for each in found]


@dataclass(frozen=True)
class Table:
    """Columns of equal length. A ranking begins its lines of text with the first column of numbers."""

    columns: Sequence[Column]
    key: str = ""
    """Name in JSON; without one, the table is not there."""
    title: str = ""
    level: int = 3
    """Level of the title on a page."""
    is_ranking: bool = False
    is_folded: bool = False
    """Whether a page shows the title only, until it is clicked."""
    n_shown: int | None = None
    """Number of rows that people see; None: all."""
    width: int = 7
    """Width of the numbers of a ranking in text."""
    noun: str = ""
    """What a row is: "feature"; to say how many are not shown."""
    style: str | None = None
    remark: str = ""
    """Meaning of the numbers, for a page."""

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return len(self.columns[0].values)

    @property
    def n_more(self) -> int:
        """Number of rows that are not shown."""
        return 0 if self.n_shown is None else max(0, self.n_rows - self.n_shown)

    def of(self, voice: str) -> list[tuple[Column, list[Cell]]]:
        """The columns of a voice, with the cells that are shown."""
        n = self.n_rows - self.n_more
        return [(column, column.cells(n)) for column in self.columns if voice in column.voices]


@dataclass(frozen=True)
class Matrix:
    """A confusion matrix in counts and, if `costs` are given, in costs."""

    rows: Sequence[str]
    columns: Sequence[str]
    counts: Any
    costs: Any = None


class Strong(str):
    """A part of a sentence that stands out."""

    __slots__ = ()


class Quoted(str):
    """A name of the user's in a sentence."""

    __slots__ = ()


class Sentence(NamedTuple):
    """A sentence, or several; "note" is small and "inset" is indented. An empty one is a blank line of text."""

    parts: str | Sequence[str]
    """The text, or parts of it, of which some may be `Strong` or `Quoted`."""
    style: str = ""

    @property
    def text(self) -> str:
        """The text."""
        parts = [self.parts] if isinstance(self.parts, str) else self.parts
        return "".join(f"“{part}”" if isinstance(part, Quoted) else part for part in parts)


class Heading(NamedTuple):
    """A heading."""

    text: str
    level: int = 3


class Halves(NamedTuple):
    """Blocks that stand side by side on a page."""

    left: "Document"
    right: "Document"


class Only(NamedTuple):
    """Blocks of one voice; a function makes them when this voice asks for them."""

    voices: frozenset[str]
    blocks: "Document | Callable[[], Document]"


Block = Sentence | Heading | Table | Matrix | Halves | Only
Document = Sequence[Block]
GAP = Sentence("")


class Described:
    """A result that describes itself by a document. Printing it shows the text, a notebook shows the page."""

    def document(self) -> Document:
        """The result as a document, which `rebelboost.base.findings` renders."""
        raise NotImplementedError

    def text(self) -> str:
        """The result as text."""
        return as_text(self.document())

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return card(as_html(self.document()))


def blocks_of(document: Document, voice: str) -> Iterator[Block]:
    """The blocks of a voice, in order."""
    for block in document:
        if not isinstance(block, Only):
            yield block
        elif voice in block.voices:
            blocks = block.blocks() if callable(block.blocks) else block.blocks
            yield from blocks_of(blocks, voice)


# ---- text


def as_text(document: Document) -> str:
    """The document as lines of text."""
    return "\n".join(_lines(document))


def _lines(document: Document) -> Iterator[str]:
    for block in blocks_of(document, TEXT):
        match block:
            case Sentence():
                indent = "  " if block.style == "inset" else ""
                yield from (indent + line for line in block.text.split("\n"))
            case Heading(text):
                yield text
            case Halves(left, right):
                yield from _lines([*left, *right])
            case Matrix():
                yield from _grids(block)
            case Table():
                yield from _table_lines(block)


def _table_lines(table: Table) -> Iterator[str]:
    columns = table.of(TEXT)
    if not columns or not table.n_rows:
        return
    if table.title:
        yield f"{table.title}:"
    if table.is_ranking:
        yield from _ranked(table, columns)
        return
    heads = [_head(column) for column, _ in columns]
    rows = [
        [f"  {cell.text}" if cell.is_inset else cell.text for cell in row]
        for row in zip(*(cells for _, cells in columns), strict=True)
    ]
    yield aligned([*([heads] if any(heads) else []), *rows])


def _ranked(table: Table, columns: Sequence[tuple[Column, list[Cell]]]) -> Iterator[str]:
    """The first numbers, then everything else."""
    first = next(i for i, (column, _) in enumerate(columns) if column.kind == "number")
    sizes = [cell.text for cell in columns[first][1]]
    words = [cells for i, (_, cells) in enumerate(columns) if i != first]
    for place, size in enumerate(sizes):
        said = "  ".join(filter(None, (cells[place].text for cells in words)))
        yield f"{size.rjust(table.width)}  {said}"
    if table.n_more and table.noun:
        yield f"{'':{table.width}}  and {counted(table.n_more, f'more {table.noun}')}"


def _head(column: Column) -> str:
    head = column.key if column.head is None else column.head
    return f"{head} ({column.below})" if column.below else head


def _grids(matrix: Matrix) -> Iterator[str]:
    named = {"Counts": matrix.counts} | ({} if matrix.costs is None else {"Costs": matrix.costs})
    for i, (title, cells) in enumerate(named.items()):
        rows = [[each, *map(amount, row)] for each, row in zip(matrix.rows, cells, strict=True)]
        yield from [""] if i else []
        yield f"{title} (rows: true class, columns: decision)"
        yield aligned([["", *matrix.columns], *rows])


# ---- HTML


def as_html(document: Document) -> Html:
    """The document as HTML."""
    return join_html(map(_html, blocks_of(document, PAGE)))


def _html(block: Block) -> Html | None:
    match block:
        case Sentence():
            return _paragraphs(block)
        case Heading(text, level):
            return tag(f"h{level}", text)
        case Halves(left, right):
            return tag("div", *(tag("div", as_html(b)) for b in (left, right)), class_="halves")
        case Matrix():
            return _tinted(block)
        case Table():
            return _html_table(block)
        case _:
            return as_html([block])


def _paragraphs(sentence: Sentence) -> Html | None:
    """A paragraph; one for each line, if it is plain text of several."""
    parts, class_ = sentence.parts, sentence.style or None
    if not isinstance(parts, str):
        return paragraph(*map(_html_part, parts), class_=class_)
    return (
        join_html(paragraph(line, class_=class_) for line in parts.split("\n")) if parts else None
    )


def _html_part(part: str) -> Any:
    if isinstance(part, Quoted):
        return quoted(part)
    return tag("strong", str(part)) if isinstance(part, Strong) else part


def _html_table(table: Table) -> Html | None:
    columns = table.of(PAGE)
    if not columns or not table.n_rows:
        return None
    cells = [_html_cells(column, cells) for column, cells in columns]
    heads = [_html_head(column) for column, _ in columns]
    n_left = next((i for i, (c, _) in enumerate(columns) if c.kind == "number"), len(columns))
    rows = list(zip(*cells, strict=True))
    body = html_table(heads if any(heads) else [], rows, left=n_left, class_=table.style)
    remark = note(table.remark) if table.remark else None
    rest = (
        note(f"And {counted(table.n_more, f'more {table.noun}')}.")
        if table.n_more and table.noun
        else None
    )
    if table.is_folded:
        return more(table.title, remark, body, rest)
    title = tag(f"h{table.level}", table.title) if table.title else None
    return join_html([title, remark, body, rest])


def _html_head(column: Column) -> Any:
    if column.below:
        return tag("th", name(column.head), tag("small", name(column.below)))
    head = _head(column)
    return name(head) if head else ""


def _html_cells(column: Column, cells: list[Cell]) -> list[Any]:
    if column.kind not in BARS:
        return [_html_cell(column, cell) for cell in cells]
    draw = BARS[column.kind]
    return ["" if share is None else draw(share) for share in column.values[: len(cells)]]


def _html_cell(column: Column, cell: Cell) -> Any:
    words = name(cell.text, LONGEST_NAME) if column.kind == "name" and cell.text else cell.text
    if cell.mark:
        return tag("td", words, class_=cell.mark)
    return tag("span", words, class_="quiet inset") if cell.is_inset else words


def _tinted(matrix: Matrix) -> Html:
    """One table for counts and costs; the more mistakes cost, the darker."""
    priced = matrix.costs is not None
    money = matrix.costs if priced else matrix.counts
    most = max((money[y][k] for y, k in _mistakes(matrix)), default=0.0) or 1.0

    def cell(y: int, k: int) -> Html:
        count, wrong = amount(float(matrix.counts[y][k])), y != k
        small = (
            tag("small", amount(float(money[y][k]))) if priced and wrong and count != "0" else ""
        )
        tint = f"background:rgba(var(--wrong),{0.55 * money[y][k] / most:.2f})"
        style = tint if wrong and money[y][k] > 0 else None
        return tag("td", count, small, class_=None if wrong else "hit", style=style)

    corner = tag("th", "true ↓ · decided →", class_="corner")
    rows = [
        [tag("th", name(each)), *(cell(y, k) for k in range(len(matrix.columns)))]
        for y, each in enumerate(matrix.rows)
    ]
    told = note("Small figures: total cost of these decisions.") if priced else None
    return join_html(
        [html_table([corner, *map(name, matrix.columns)], rows, class_="matrix"), told]
    )


def _mistakes(matrix: Matrix) -> Iterable[tuple[int, int]]:
    cells = ((y, k) for y in range(len(matrix.rows)) for k in range(len(matrix.columns)))
    return (cell for cell in cells if cell[0] != cell[1])


# ---- JSON


def as_json(document: Document) -> dict[str, Any]:
    """The text, and each table with a key, as columns."""
    return {"text": as_text(document), **{t.key: columns_of(t) for t in _tables(document) if t.key}}


def _tables(document: Document) -> Iterator[Table]:
    for block in blocks_of(document, DATA):
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Halves):
            yield from _tables([*block.left, *block.right])


def columns_of(table: Table) -> Columns:
    """All rows of a table, as values by column."""
    return {c.key: list(c.values) for c in table.columns if DATA in c.voices}
