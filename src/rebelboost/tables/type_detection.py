"""Detect the kind and format of each column.

Candidate formats are found in the first rows, and all rows decide among them. Whether 1.423 is a decimal
number or 1423 depends on the other cells of the column, then on the other columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from rebelboost.tables.columns import (
    DATE_FORMS,
    FIRST,
    N_WORDS,
    TIME_FORMS,
    WORD,
    WORDS,
    Column,
    ColumnOptions,
    as_text,
    cells,
    features_of,
)
from rebelboost.tables.files import Table
from rebelboost.tables.numbers import (
    DECIMAL_COMMA,
    FEWEST_LEVELS,
    FEWEST_LOST,
    GROUPS,
    MOST_LOST,
    MOSTLY,
    NO_AFFIXES,
    NUMBER_FORMS,
    NUMBER_WITH_AFFIXES,
    PAIR,
    PLAIN,
    Affixes,
    Separators,
    find_affixes,
    separators,
    without_affixes,
)

HEAD = 1000
"""Number of rows from which candidate formats are found."""
MOST_WORDS, FEWEST_CELLS, MOST_SHARE = 200, 5, 0.9
"""Maximum number of words of a column, and the number and share of its cells that a word must occur in."""
NUMERIC = 0.8
"""Text with many different cells, of which so many look like numbers, is worth a warning."""


class Odd(NamedTuple):
    """Cells of a column that do not have its format and count as missing."""

    name: str
    n_cells: int
    example: str


class Detected(NamedTuple):
    """The columns of a table, and what a reader should know about how they were read."""

    columns: list[Column]
    odd: list[Odd]
    notes: list[str]
    warnings: list[str]


def detect_types(
    table: Table, names: Sequence[str], options: ColumnOptions | None = None
) -> Detected:
    """Detect the kind of each column, and count the cells that do not have its format."""
    options = options or ColumnOptions()
    words = [each for name in names if name in options.text for each in _word_columns(table, name)]
    names = [name for name in names if name not in options.text]
    told = {name: _by_type(name, table.types[name]) for name in names}
    for name in set(options.categorical) & set(names):
        told[name] = Column(name, "category")
    unclear = [name for name in names if told[name] is None]
    if not unclear:
        typed = [c for c in told.values() if c is not None]
        taken = table.names
        return Detected(
            [*(each for c in typed for each in features_of(c, taken)), *words], [], [], []
        )
    texts = _Texts(table, unclear)
    first = texts.columns()
    found, notes = _settled(
        texts, first, semicolons="semicolon" in table.form, by_user=options.decimal
    )
    changed = (c for c in found.values() if c.name in texts.lossy or c != first[c.name])
    odd = texts.odd(changed)
    warnings = [text for name in unclear if (text := texts.warning(found[name]))]
    taken = table.names
    columns = [each for name in names for each in features_of(told[name] or found[name], taken)]
    return Detected([*columns, *words], odd, notes, warnings)


def _by_type(name: str, dtype: Any) -> Column | None:
    if dtype.is_numeric():
        return Column(name, "number")
    if dtype == pl.Time:
        return Column(name, "time")
    if dtype in (pl.Date, pl.Datetime):
        return Column(name, "date")
    if dtype in (pl.Boolean, pl.Categorical, pl.Enum):
        return Column(name, "category")
    return None


# ---- text


class _Texts:
    """Columns of text whose kinds are to be found."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.frame, self.names = table.frame, names
        self.head = self.frame.select(names).head(HEAD).collect()
        # All at once: on wide tables, a query for each column takes long.
        present = self.head.select(cells(name, numbers=True) for name in names)
        self._of_head = {column.name: column for column in present}
        self.lossy: set[str] = set()
        """Columns with cells that their formats do not fit."""

    def of_head(self, name: str) -> pl.Series:
        """Cells of the first rows that are not missing."""
        return self._of_head[name].drop_nulls()

    def asked(self, questions: Sequence[pl.Expr]) -> dict[str, Any]:
        """Answers from all rows."""
        return _answers(self.frame, questions)

    def columns(self) -> dict[str, Column]:
        """Keep, of the formats proposed by the first rows, the one that fits most of all rows.

        Where it does not fit all of them, those that it does not fit propose others.
        """
        best = self._best({name: _proposed(self.of_head(name), name) for name in self.names})
        lossy = [each.column for each in best.values() if each.lost]
        if lossy:
            others = self._not_fitting(lossy)
            again = {c.name: [c, *_proposed(others[c.name], c.name)] for c in lossy}
            best |= self._best(again)
        self.lossy = {name for name, each in best.items() if each.lost}
        kept = self._sufficient([best[name] for name in self.lossy])
        return {
            name: each.column if name in kept or not each.lost else Column(name, "category")
            for name, each in best.items()
        }

    def _best(self, proposed: Mapping[str, Sequence[Column]]) -> dict[str, "_Fit"]:
        asked = {
            f"{name}\n{i}": column
            for name, columns in proposed.items()
            for i, column in enumerate(columns)
        }
        fits = [_present(column).alias(key) for key, column in asked.items()]
        found = self.asked([*self._totals(proposed), *fits])
        best = {}
        for name, columns in proposed.items():
            keys = [f"{name}\n{i}" for i in range(len(columns))]
            most = max(keys, key=lambda key: found[key], default="")
            best[name] = (
                _Fit(asked[most], found[name], found[name] - found[most])
                if most
                else _Fit(Column(name, "category"), found[name], 0)
            )
        return best

    def _not_fitting(self, columns: Sequence[Column]) -> dict[str, pl.Series]:
        """Some cells that the format of a column does not fit, among those of the first rows."""
        asked = [
            cells(c.name, numbers=True).filter(_is_lost(c)).head(HEAD).implode().alias(c.name)
            for c in columns
        ]
        found = self.asked(asked)
        heads = {c.name: self.of_head(c.name) for c in columns}
        return {name: head.append(pl.Series(found[name])) for name, head in heads.items()}

    def _sufficient(self, fits: Sequence["_Fit"]) -> set[str]:
        """Names of the columns whose formats fit nearly all cells; the others become missing."""
        names = [each.column.name for each in fits]
        levels = self.asked([pl.col(name).n_unique().alias(name) for name in names])
        values = self.lost([each.column for each in fits], values=True)
        kept = set()
        for column, n_cells, n_lost in fits:
            name = column.name
            most = 0 if levels[name] <= FEWEST_LEVELS else max(FEWEST_LOST, MOST_LOST * n_cells)
            if n_lost <= (1 - MOSTLY) * n_cells and values[name] <= most:
                kept.add(name)
        return kept

    def lost(self, columns: Iterable[Column], *, values: bool = False) -> dict[str, int]:
        """Number of cells that the format of each column does not fit; of those with digits, if `values`."""
        asked = [
            (_is_lost(c) & (pl.col(c.name).str.contains(r"\d") if values else True))
            .sum()
            .alias(c.name)
            for c in columns
        ]
        return self.asked(asked)

    def _totals(self, names: Iterable[str]) -> list[pl.Expr]:
        return [cells(name, numbers=True).is_not_null().sum().alias(name) for name in names]

    def odd(self, columns: Iterable[Column]) -> list[Odd]:
        """Count the cells that do not have the format of their column, with an example."""
        numbers = [column for column in columns if column.kind != "category"]
        lost = self.lost(numbers)
        return [Odd(c.name, lost[c.name], self._odd_cell(c)) for c in numbers if lost[c.name]]

    def _odd_cell(self, column: Column) -> str:
        odd = cells(column.name, numbers=True).filter(_is_lost(column)).first()
        return str(self.asked([odd.alias("odd")])["odd"])

    def separators(
        self, columns: Iterable[Column], *, of_head: bool = False
    ) -> dict[str, Separators]:
        """Count the commas and points of each column."""
        columns = list(columns)
        asked = [
            count.alias(f"{c.name}\n{count.meta.output_name()}")
            for c in columns
            for count in separators(without_affixes(cells(c.name, numbers=True), c.affixes))
        ]
        frame = self.head.lazy() if of_head else self.frame
        found = _answers(frame, asked)
        return {
            c.name: Separators(
                **{field: found[f"{c.name}\n{field}"] for field in Separators._fields}
            )
            for c in columns
        }

    def grouped(self, columns: Iterable[Column]) -> list[Column]:
        """Return the columns with cells such as 1.423 or 1,423, or with a decimal comma."""
        columns = list(columns)
        plain = [column for column in columns if column.form == PLAIN and self._may_group(column)]
        asked = [
            without_affixes(pl.col(c.name), c.affixes).str.contains(GROUPS).any().alias(c.name)
            for c in plain
        ]
        found = self.asked(asked)
        return [c for c in columns if c.form in NUMBER_FORMS[1:3] or found.get(c.name)]

    def with_thousands(self, columns: Iterable[Column]) -> dict[str, Column]:
        """Return columns of whole numbers as they are in a file with decimal commas.

        Tables to predict may have thousands where this one has none.
        """
        plain = {c.name: replace(c, form=DECIMAL_COMMA) for c in columns if c.form == PLAIN}
        lost = self.lost(plain.values())
        return {name: c for name, c in plain.items() if not lost[name]}

    def _may_group(self, column: Column) -> bool:
        """Whether thousands may be divided, by the first rows: those with 3.5 or 12345 are not."""
        text = (
            self.of_head(column.name)
            .to_frame()
            .select(without_affixes(pl.col(column.name), column.affixes))
        )
        return bool(text.to_series().str.contains(rf"{GROUPS}|^[-+]?\d{{1,3}}$").all())

    def warning(self, column: Column) -> str:
        """Warn of a column that looks like numbers but is used as categories."""
        if column.kind != "category":
            return ""
        text = self.of_head(column.name)
        if text.n_unique() <= FEWEST_LEVELS:
            return ""
        numeric = [cell for cell in text if NUMBER_WITH_AFFIXES.fullmatch(cell)]
        if len(numeric) < NUMERIC * len(text):
            return ""
        last = next((cell for cell in text if not NUMBER_WITH_AFFIXES.fullmatch(cell)), text[-1])
        return (
            f"{column.name}: most cells look like numbers, such as {numeric[0]!r}, but they differ in "
            f"format or unit ({last!r}), so they are used as categories: write them all alike to use "
            "them as numbers"
        )


def _answers(frame: pl.LazyFrame, questions: Sequence[pl.Expr]) -> dict[str, Any]:
    if not questions:
        return {}
    return frame.select(questions).collect(engine="streaming").row(0, named=True)


class _Fit(NamedTuple):
    """The best format of a column."""

    column: Column
    n_cells: int
    lost: int
    """Cells that it does not fit."""


def _present(column: Column) -> pl.Expr:
    return column.read(pl.String()).is_not_null().sum()


def _is_lost(column: Column) -> pl.Expr:
    """Whether a cell is there, but does not have the format of its column."""
    return cells(column.name, numbers=True).is_not_null() & column.read(pl.String()).is_null()


def _proposed(text: pl.Series, name: str) -> list[Column]:
    """Return the formats that fit the first rows, in order of preference."""
    plain = Column(name, "number", PLAIN)
    there = text.to_frame()
    if len(text) == 0:
        return [plain, Column(name, "date", DATE_FORMS[0])]
    if there.select(_present(plain)).item() == len(text):  # saves time on wide tables
        return [plain]
    columns = [
        *_numbers(name, NO_AFFIXES),
        *(Column(name, "date", form) for form in DATE_FORMS),
        *(Column(name, "time", form) for form in TIME_FORMS),
    ]
    affixes = find_affixes(text)
    if affixes is not None and affixes != NO_AFFIXES:
        columns += _numbers(name, affixes)
    if text.str.contains(PAIR).sum() >= MOSTLY * len(text):
        columns += [replace(column, part=FIRST) for column in _numbers(name, NO_AFFIXES)[:2]]
    counts = there.select(_present(c).alias(str(i)) for i, c in enumerate(columns)).row(0)
    return [c for c, n in zip(columns, counts, strict=True) if n >= MOSTLY * len(text)]


def _numbers(name: str, affixes: Affixes) -> list[Column]:
    before, after, limits = affixes
    return [
        Column(name, "number", form, before=before, after=after, limits=limits)
        for form in NUMBER_FORMS
    ]


# ---- commas and points


def _settled(
    texts: _Texts, columns: Mapping[str, Column], *, semicolons: bool, by_user: str
) -> tuple[dict[str, Column], list[str]]:
    """Decide what commas and points mean, by the column, the other columns, or the user."""
    settled = dict(columns)
    numbers = [c for c in columns.values() if c.kind == "number" and not c.part]
    grouped = texts.grouped(numbers)
    found = texts.separators(grouped)
    styles = {each.style for each in found.values()} - {""}
    ambiguous = [name for name, each in found.items() if each.is_ambiguous]
    others = [c for c in numbers if c.name not in found]
    if found:
        styles |= {each.style for each in texts.separators(others, of_head=True).values()} - {""}
    of_file = next(iter(styles)) if len(styles) == 1 else ""
    notes = []
    for name, each in found.items():
        likely = each.likely(semicolons=semicolons, money=columns[name].affixes.is_money)
        # 378 beside 1.423 speaks for thousands, even if other columns have decimal points.
        contradicts = each.bare > 0 and likely != of_file
        by_file = "" if contradicts and semicolons else of_file
        style = each.style or by_user or by_file or likely
        settled[name] = replace(columns[name], form=each.form(style, columns[name].form))
        if name in ambiguous and not by_user and (contradicts or not of_file):
            notes.append(_ambiguous(name, style, each))
    changed = [name for name in found if settled[name] != columns[name]]
    before, after = (texts.lost(each[name] for name in changed) for each in (columns, settled))
    for name in changed:
        if after[name] > before[name]:  # a reading that loses cells is none
            settled[name] = columns[name]
    if of_file == ",":
        settled |= texts.with_thousands(others)
    return settled, notes


def _ambiguous(name: str, style: str, found: Separators) -> str:
    mark = "points" if found.point_groups else "commas"
    thousands = (mark == "points") == (style == ",")
    meaning = "thousands separators" if thousands else f"decimal {mark}"
    other = "." if style == "," else ","
    return (
        f"{name}: {mark} are read as {meaning}, but the file does not make this certain: "
        f"if they are not, use --decimal {other}"
    )


# ---- words


def _word_columns(table: Table, name: str) -> list[Column]:
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
