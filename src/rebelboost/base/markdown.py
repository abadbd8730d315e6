"""Findings as Markdown: sentences, tables and matrices, for model cards and pull requests."""

from collections.abc import Iterator, Sequence

from rebelboost.base.findings import (
    TEXT,
    Document,
    Halves,
    Heading,
    Matrix,
    Quoted,
    Sentence,
    Strong,
    Table,
    blocks_of,
)
from rebelboost.base.text import amount


def as_markdown(document: Document) -> str:
    """The document as Markdown."""
    return "\n".join(part for part in _parts(document) if part)


def _parts(document: Document) -> Iterator[str]:
    for block in blocks_of(document, TEXT):
        match block:
            case Sentence():
                yield _sentence(block) + "\n"
            case Heading(text, level):
                yield f"{'#' * level} {escaped(text)}\n"
            case Halves(left, right):
                yield from _parts([*left, *right])
            case Matrix():
                yield _matrix(block)
            case Table():
                yield _table(block)


def _sentence(sentence: Sentence) -> str:
    parts = [sentence.parts] if isinstance(sentence.parts, str) else sentence.parts
    return "".join(_part(part) for part in parts).replace("\n", "  \n")


def _part(part: str) -> str:
    if isinstance(part, Quoted):
        return f"“{escaped(part)}”"
    return f"**{escaped(part)}**" if isinstance(part, Strong) else escaped(part)


def _table(table: Table) -> str:
    columns = table.of(TEXT)
    if not columns or not table.n_rows:
        return ""
    heads = [column.key if column.head is None else column.head for column, _ in columns]
    kinds = ["---:" if column.kind == "number" else "---" for column, _ in columns]
    rows = [[cell.text for cell in row] for row in zip(*(c for _, c in columns), strict=True)]
    title = f"**{escaped(table.title)}**\n\n" if table.title else ""
    return title + lines_of(heads, kinds, rows)


def _matrix(matrix: Matrix) -> str:
    heads = ["true class, decision →", *matrix.columns]
    rows = [[name, *map(amount, row)] for name, row in zip(matrix.rows, matrix.counts, strict=True)]
    return lines_of(heads, ["---", *["---:"] * len(matrix.columns)], rows)


def lines_of(heads: Sequence[str], kinds: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of pipes."""
    lines = [heads, kinds, *rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(escaped(text).split()) if not set(text) <= {"-", ":"} else text


def escaped(text: str) -> str:
    """Text whose characters have no meaning in Markdown or HTML."""
    for mark in "\\`*_[]<>#|":
        text = text.replace(mark, f"\\{mark}")
    return text
