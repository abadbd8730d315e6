"""Whether figures that `rebel train` claims hold on rows that were kept back.

A table is divided at random, whole groups together where the command finds groups. The command's own path
reads and trains on one part (60 % of the rows, 3,000 at most), without columns that decide the target alone.
Its left-out figures are compared with those of the same model on the other part (20,000 rows at most).
"""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from benchmarks.tables.strangers import Stranger
from numpy.typing import NDArray
from scipy.stats import t as student

from rebelboost.cli.options import TrainingOptions
from rebelboost.cli.output import Output
from rebelboost.cli.train import Job, learn
from rebelboost.evaluation.evaluate import evaluate, left_out
from rebelboost.evaluation.result import Evaluation
from rebelboost.tables.columns import ColumnOptions
from rebelboost.tables.files import opened
from rebelboost.tables.grouping import group_numbers
from rebelboost.tables.schema import Match, TableSchema
from rebelboost.tables.schema_inference import infer_schema

SHARE, MOST_TRAINED, MOST_KEPT = 0.6, 3_000, 20_000
LEVEL = 0.05
MEASURES = ("accuracy", "log-loss", "cost")
MISS = 5.0
"""Cost of missing the rarest class; other mistakes cost 1."""
Values = NDArray[np.float64]


class Compared(NamedTuple):
    """A claim beside what rows that were kept back say."""

    claimed: float
    found: float
    p: float
    """Probability of a difference as large by chance."""

    @property
    def holds(self) -> bool:
        return self.p >= LEVEL


class Claim(NamedTuple):
    """The claims of one training."""

    title: str
    seed: int
    n: tuple[int, int]
    seconds: float
    by_measure: dict[str, Compared]


def tested(table: Stranger, path: Path, seed: int) -> Claim:
    """Train on a part of a table, and compare."""
    trained_on, kept_back = _divided(table, path, seed)
    began = time.monotonic()
    options = ColumnOptions(ignore=(*table.leaks, *table.later))
    with opened(trained_on) as file:
        told, samples = infer_schema(file, table.target, options)
    job = Job(samples, None, TrainingOptions(), numbers=False)
    trained = learn(job, Output(as_json=True))
    model, groups = trained.model, samples.split.groups
    seconds = time.monotonic() - began
    frame, y, others = _rows(kept_back, told)
    dear = _dear_costs(model.classes_, samples.y)
    pairs = {}
    for measure in MEASURES:
        used = model.with_costs(dear) if measure == "cost" else model
        claimed = left_out(used, samples.y, X=samples.frame, groups=groups)
        found = evaluate(used, frame, y, groups=others)
        assert claimed is not None
        assert claimed.judged is not None
        assert found.judged is not None
        mine, theirs = (_by_row(each, measure, dear) for each in (claimed, found))
        pairs[measure] = compared(
            (mine, None if groups is None else groups[claimed.judged.rows]),
            (theirs, None if others is None else others[found.judged.rows]),
            is_share=measure == "accuracy",
        )
    return Claim(table.title, seed, (len(samples.y), len(y)), seconds, pairs)


def _divided(table: Stranger, path: Path, seed: int) -> tuple[Path, Path]:
    with opened(path) as file:
        told, _ = infer_schema(file, table.target)
        cells = file.frame.collect()
    rng = np.random.default_rng(seed)
    groups = np.arange(len(cells))
    if told.group:
        groups = group_numbers(cells[told.group], path)
    of_group = dict(zip(*np.unique(groups, return_counts=True), strict=True))
    most, n, chosen = min(SHARE * len(cells), MOST_TRAINED), 0, []
    order = rng.permutation(list(of_group))
    for group in order:
        if n >= most:
            break
        chosen.append(group)
        n += of_group[group]
    is_trained = pl.Series(np.isin(groups, chosen))
    parts = path.with_suffix(".train.csv"), path.with_suffix(".kept.csv")
    headed = not path.stem.startswith("keel")
    cells.filter(is_trained).write_csv(parts[0], include_header=headed)
    kept = cells.filter(~is_trained)
    if len(kept) > MOST_KEPT:
        kept = kept.sample(MOST_KEPT, seed=seed)
    kept.write_csv(parts[1], include_header=headed)
    return parts


def _rows(path: Path, told: TableSchema) -> tuple[pl.DataFrame, NDArray, NDArray | None]:
    with opened(path) as file:
        match = Match(file, told, [*dict.fromkeys(n for n in (told.target, told.group) if n)])
        frame, aside = match.all()
    labels = told.target_values(aside[told.target])
    known = labels.is_in(list(told.counts)) & labels.is_not_null()
    numbers = group_numbers(aside[told.group], path)[known.to_numpy()] if told.group else None
    codes = pl.Series(list(told.counts))
    classes = np.array(told.classes)
    places = labels.filter(known).replace_strict(codes, range(len(codes)), return_dtype=pl.Int64)
    return frame.filter(known), classes[places.to_numpy()], numbers


def _dear_costs(classes: NDArray, y: NDArray) -> Values:
    costs = 1.0 - np.eye(len(classes))
    rarest = np.argmin([(y == each).sum() for each in classes])
    costs[rarest] *= MISS
    return costs


def _by_row(found: Evaluation, measure: str, costs: Values) -> Values:
    judged = found.judged
    assert judged is not None
    rows = np.arange(len(judged.true))
    if measure == "accuracy":
        return (judged.true == judged.decided).astype(float)
    if measure == "cost":
        return costs[judged.true, judged.decided]
    return -np.log(np.maximum(judged.posterior[rows, judged.true], 1e-12))


def compared(
    first: tuple[Values, NDArray | None], second: tuple[Values, NDArray | None], *, is_share: bool
) -> Compared:
    """Two-sided test of Welch for equal means; rows of a group count as one observation."""
    (a, va, na), (b, vb, nb) = (_mean(*each, is_share=is_share) for each in (first, second))
    statistic = abs(a - b) / np.sqrt(va + vb)
    freedom = (va + vb) ** 2 / (va**2 / (na - 1) + vb**2 / (nb - 1))
    return Compared(a, b, float(2 * student.sf(statistic, freedom)))


def _mean(values: Values, groups: NDArray | None, *, is_share: bool) -> tuple[float, float, int]:
    """Mean, its variance, and the number of groups."""
    n, mean = len(values), float(values.mean())
    numbers = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(numbers, values - mean)
    variance = float((sums**2).sum()) / n**2 * len(sums) / max(1, len(sums) - 1)
    if is_share:  # without mistakes, the variance of few rows is not 0
        likely = (values.sum() + 1) / (n + 2)
        variance = max(variance, likely * (1 - likely) / n)
    return mean, max(variance, 1e-12), len(sums)


HEADING = f"{'table':34} seed  trained    kept" + "".join(
    f"{measure + ' claimed':>18}   found      p" for measure in MEASURES
)


def line_of(claim: Claim) -> str:
    """What was claimed and found in one training; stars mark differences beyond chance."""
    told = f"{claim.title:34} {claim.seed:4} {claim.n[0]:8,} {claim.n[1]:7,}"
    for each in claim.by_measure.values():
        mark = " " if each.holds else "*"
        told += f"{each.claimed:18.3f} {each.found:7.3f} {each.p:5.2f}{mark}"
    return f"{told} {claim.seconds:6.1f} s"


def summary(claims: list[Claim]) -> str:
    """The share of claims that hold."""
    lines = []
    for measure in MEASURES:
        pairs = [each.by_measure[measure] for each in claims]
        n = sum(pair.holds for pair in pairs)
        better = max if measure == "accuracy" else min
        rosy = sum(not p.holds and better(p.claimed, p.found) == p.claimed for p in pairs)
        lines.append(
            f"{measure}: {n} of {len(pairs)} claims ({100 * n / len(pairs):.1f} %) are within sampling error "
            f"of rows that were kept back (two-sided test at {100 * LEVEL:.0f} %); too good: {rosy}"
        )
    return "\n".join(lines)
