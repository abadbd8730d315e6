"""Columns of text: their most frequent words become features, if the user asks for it."""

import polars as pl

from rebelboost.tables.columns import N_WORDS, WORD, WORDS, Column, as_text
from rebelboost.tables.files import Table

MOST_WORDS, FEWEST_CELLS, MOST_SHARE = 200, 5, 0.9
"""Maximum number of words of a column, and the number and share of its cells that a word must occur in."""
FEW_WORDS = 5.0
"""Cells of text have more words than this on average; names have fewer."""


def word_columns(table: Table, name: str) -> list[Column]:
    """The features that a column of text becomes."""
    cells = table.frame.select(as_text(name, table.types[name]).alias(name).drop_nulls())
    words = pl.col(name).str.to_lowercase().str.extract_all(WORDS).list.unique()
    tally = cells.select(words.explode().alias("word")).drop_nulls().group_by("word").len()
    counts = dict(tally.collect(engine="streaming").iter_rows())
    n_cells = int(cells.select(pl.len()).collect(engine="streaming").item())
    usual = [
        word
        for word, n in counts.items()
        if FEWEST_CELLS <= n <= max(FEWEST_CELLS, MOST_SHARE * n_cells)
    ]
    chosen = sorted(usual, key=lambda word: (-counts[word], word))[:MOST_WORDS]
    parts = {f"{name}: {N_WORDS}": N_WORDS} | {f"{name}: {word}": WORD + word for word in chosen}
    return [Column(title, "number", source=name, part=part) for title, part in parts.items()]


def is_text(cells: pl.Series) -> bool:
    """Whether cells are sentences rather than names."""
    mean = cells.head(1000).str.count_matches(WORDS).mean()
    return isinstance(mean, float) and mean > FEW_WORDS
