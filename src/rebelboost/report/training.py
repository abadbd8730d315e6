"""How training went: the loss and its bound, the errors, and what was kept of several fits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rebelboost.callbacks import Round
from rebelboost.guarantee import runs as parted_runs
from rebelboost.report.charts import Chart, across, thinned, upward
from rebelboost.report.markup import Html, join, note, paragraph, section, table, tag
from rebelboost.report.subject import Subject
from rebelboost.risk import CAP
from rebelboost.shapes import Floats
from rebelboost.theory import loss_ratio_bound

COLOURS = ("one", "two", "three", "four", "five", "six")
Line = tuple[str, str, tuple[Floats, Floats]]
"""Class for its style, name in the legend, rounds and values."""
Bounds = dict[int, float] | None
"""By the identity of a round's record."""
ROUNDING = 1e-6
"""Of logarithms of losses: so far may a loss be above its bound."""


@dataclass(frozen=True)
class Run:
    """The rounds of one fit."""

    rounds: Sequence[Round]
    member: int
    """Which of the blend's kinds of fits."""
    kind: str
    """In a few words."""
    bounds: Bounds

    def bound(self, record: Round) -> float:
        """Of the loss after a round."""
        return math.nan if self.bounds is None else _exp(self.bounds[id(record)])

    def line(self, of: Callable[[Round], float]) -> tuple[Floats, Floats]:
        """Rounds from 1, and values, as far as they are numbers; not too many."""
        values = np.array([of(self.rounds[i]) for i in thinned(len(self.rounds))])
        at = np.array(thinned(len(self.rounds)), dtype=np.float64) + 1
        fine = np.isfinite(values)
        return at[fine], values[fine]


def training(subject: Subject) -> Html | None:
    """The curves, or nothing where no history was kept."""
    runs = _runs(subject)
    if not runs or max(len(run.rounds) for run in runs) < 2:
        return None
    several = len(runs) > 1
    charts = [_blended_loss(runs) if several else _loss(runs[0]), _errors(runs)]
    return section(
        "How it was trained",
        tag("div", *charts, class_="figures"),
        _members(subject, runs) if several else None,
        lead=_told(subject, runs),
    )


def _runs(subject: Subject) -> list[Run]:
    """Part the history where a new fit begins; leave out those of candidates that were dropped."""
    clf = subject.clf
    parted = parted_runs(list(getattr(clf, "history_", ())))
    if clf.cross_fit_ is None:
        own = clf._learner().shrinkage if clf.shrinkage == "auto" else clf.shrinkage
        return [Run(rounds, 0, "", _bounds(rounds, own)) for rounds in parted]
    standings = clf.cross_fit_.standings
    members = [i for i, standing in enumerate(standings) if standing.share > 0]
    return [
        Run(rounds, members.index(i), standings[i].name, _bounds(rounds, standings[i].shrinkage))
        for rounds, i in zip(parted, clf.cross_fit_.runs, strict=False)
        if i in members
    ]


def _bounds(rounds: Sequence[Round], shrinkage: float) -> Bounds:
    """Ln of what the loss cannot exceed after each round, by the edges; None where it did."""
    first = rounds[0]
    if first.loss_ratio <= 0:
        return None
    start = first.log_loss - math.log(first.loss_ratio)
    losses = np.array([record.log_loss for record in rounds])
    left = loss_ratio_bound([record.edge for record in rounds], shrinkage, CAP)
    with np.errstate(divide="ignore"):
        bounds = start + np.cumsum(np.log(left))
    if np.any(losses > bounds + ROUNDING):
        return None
    return dict(zip(map(id, rounds), bounds.tolist(), strict=True))


def _told(subject: Subject, runs: Sequence[Run]) -> str:
    n_terms = len(subject.clf.ensemble_)
    if len(runs) == 1:
        return f"{len(runs[0].rounds):,} rounds; the model is a sum of {n_terms:,} terms."
    n_members = len({run.member for run in runs})
    fits = (
        f"{len(runs)} fits" if n_members == 1 else f"{n_members} kinds of fits, {len(runs)} in all"
    )
    return f"{fits}, each on a part of the samples; the model is their sum, {n_terms:,} terms."


def _log10(ln: float) -> float:
    return ln / math.log(10)


def _loss(run: Run) -> Html:
    paid = any(r.cost > 0 for r in run.rounds)  # else there is nothing to be drawn
    covers = paid and all(r.cost <= math.exp(r.log_loss) * (1 + ROUNDING) for r in run.rounds)
    lines: list[Line] = [("one", "loss", run.line(lambda r: _exp(r.log_loss)))]
    if run.bounds is not None:
        lines.append(("one dashed", "bound of the loss", run.line(run.bound)))
    if covers:
        lines.append(("two", "cost of decisions", run.line(lambda r: r.cost or math.nan)))
    told = "On the training samples, after each round."
    if covers:
        told += " The cost of decisions by the highest score cannot exceed the loss"
        told += ", nor the loss its bound." if run.bounds is not None else "."
    elif run.bounds is not None:
        told += " The loss cannot exceed its bound."
    return _log_chart(lines, told)


def _exp(ln: float) -> float:
    return math.exp(ln) if -600 < ln < 600 else math.nan


def _log_chart(lines: Sequence[Line], told: str) -> Html:
    values = np.concatenate([values for _, _, (_, values) in lines])
    last = max(float(rounds.max(initial=2)) for _, _, (rounds, _) in lines)
    low, high = float(values.min(initial=1.0)), float(values.max(initial=0.0)) or 1.0
    chart = Chart(
        across(1, last, log=True),
        upward(low / 1.1, high * 1.1, log=True),
        told,
        "Training loss by round",
    )
    for class_, label, (x, y) in lines:
        chart.line(x, y, class_, label)
    return chart.draw("round", "on training samples", _short)


def _blended_loss(runs: Sequence[Run]) -> Html:
    lines = _with_means(runs, lambda _, record: _exp(record.log_loss))
    bounded = [run for run in runs if run.bounds is not None]
    if len(bounded) == len(runs):
        means = _with_means(runs, Run.bound)
        lines += [(f"{c} dashed", "", line) for c, label, line in means if label]
    told = "The loss on the training samples of each fit, after each round; thick: the mean"
    told += "; dashed: the bound that it cannot exceed." if len(bounded) == len(runs) else "."
    return _log_chart(lines, told)


def _with_means(runs: Sequence[Run], of: Callable[[Run, Round], float]) -> list[Line]:
    """A thin line for every fit, and a thick one for the mean of those of a kind, while all go on."""
    lines: list[Line] = []
    for kind in sorted({run.member for run in runs}):
        own = [run for run in runs if run.member == kind]
        colour = COLOURS[kind % len(COLOURS)]
        lines += [(f"{colour} thin", "", run.line(partial(of, run))) for run in own]
        at = thinned(min(len(run.rounds) for run in own))
        mean = np.mean([[of(run, run.rounds[i]) for i in at] for run in own], axis=0)
        fine = np.isfinite(mean)
        lines.append((colour, own[0].kind, (np.array(at)[fine] + 1.0, mean[fine])))
    return lines


def _errors(runs: Sequence[Run]) -> Html:
    held = all(record.held is not None for run in runs for record in run.rounds)
    if len(runs) > 1:
        of = _held_error if held else _error
        lines = _with_means(runs, lambda _, record: of(record))
        whose = "samples that each fit had left out" if held else "training samples"
    else:
        lines = [("one", "training samples", runs[0].line(_error))]
        whose = "training samples"
        if held:
            lines.append(("two", "held-out samples", runs[0].line(_held_error)))
            whose = "training and on held-out samples"
    most = max(float(y.max(initial=0.0)) for _, _, (_, y) in lines)
    chart = Chart(
        across(1, max(2, *(len(run.rounds) for run in runs)), log=True),
        upward(0, 1.05 * most or 0.1),
        f"Share of wrong decisions by the highest score, on {whose}.",
        "Error by round",
    )
    for class_, label, (x, y) in lines:
        chart.line(x, y, class_, label)
    return chart.draw("round", "wrong decisions", lambda v: f"{100 * v:.3g} %")


def _error(record: Round) -> float:
    return record.error


def _held_error(record: Round) -> float:
    return record.held.error if record.held is not None else math.nan


def _members(subject: Subject, runs: Sequence[Run]) -> Html | None:
    found = subject.clf.cross_fit_
    if found is None:
        return None
    if len({run.member for run in runs}) == 1:
        kept = next(standing.rounds for standing in found.standings if standing.share > 0)
        return note(f"The first {kept:,} rounds of each fit were kept, by what it had left out.")
    rows = [
        [standing.name, f"{standing.rounds:,}", f"{100 * standing.share:.0f} %"]
        for standing in found.standings
        if standing.share > 0
    ]
    return join(
        [
            table(["", "rounds kept of each fit", "share in the sum"], rows),
            note("Rounds and shares by the log-loss on left-out samples."),
        ]
    )


def guarantee(subject: Subject) -> Html | None:
    """What is proven of the model."""
    found = getattr(subject.clf, "guarantee_", None)
    if found is None:
        return None
    lines = str(found).split("\n")
    return section("What is guaranteed", *map(_line, lines))


def _line(line: str) -> Html:
    """A paragraph; what is set in belongs to the one before."""
    return paragraph(line.strip(), class_="inset" if line.startswith(" ") else None)


def choice(subject: Subject) -> Html | None:
    """What was chosen among several ways to learn, and why."""
    found: Any = getattr(subject.clf, "selection_", None)
    if found is None:
        return None
    return section("What was chosen, and why", *map(_line, str(found).split("\n")))


def _short(value: float) -> str:
    if value >= 1e-3 or value == 0:
        return f"{value:,.4g}"
    return f"10{_superscript(round(math.log10(value)))}" if _is_power(value) else f"{value:.0e}"


def _is_power(value: float) -> bool:
    power = math.log10(value)
    return abs(power - round(power)) < 1e-9


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
