"""The sections on model selection and on training: curves of each fit, and what is proven."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.findings import as_html
from rebelboost.base.markup import Html, more, note, section, tag
from rebelboost.boosting.rounds import Round
from rebelboost.estimators.fitting import shrinkage_of
from rebelboost.losses.exponential import CAP
from rebelboost.report.charts import Chart, across, thinned, upward
from rebelboost.report.subject import Subject
from rebelboost.selection.cards import HOW_SELECTED, standings_table
from rebelboost.theory.bounds import loss_ratio_bound
from rebelboost.theory.guarantee import runs as parted

COLOURS = ("one", "two", "three", "four", "five", "six")
Line = tuple[str, str, tuple[Floats, Floats]]
"""CSS class, label in the legend, rounds and values."""
Bounds = dict[int, float] | None
"""Upper bound of ln(loss), by the id of a round's record."""
ROUNDING = 1e-6
"""Tolerance for rounding when ln(loss) is compared with its bound."""


# ---- the rounds of each fit


@dataclass(frozen=True)
class Run:
    """The rounds of one fit."""

    rounds: Sequence[Round]
    member: int
    """Number of the candidate model that the fit belongs to."""
    name: str
    """Name of that candidate."""
    bounds: Bounds

    def bound(self, record: Round) -> float:
        """Return the upper bound of the loss after a round."""
        return math.nan if self.bounds is None else _exp(self.bounds[id(record)])

    def line(self, of: Callable[[Round], float]) -> tuple[Floats, Floats]:
        """Return rounds, from 1, and their values; thinned, without values that are not finite."""
        values = np.array([of(self.rounds[i]) for i in thinned(len(self.rounds))])
        at = np.array(thinned(len(self.rounds)), dtype=np.float64) + 1
        fine = np.isfinite(values)
        return at[fine], values[fine]


def _exp(ln: float) -> float:
    """Return exp(ln), or NaN if it is out of range."""
    return math.exp(ln) if -600 < ln < 600 else math.nan


def _runs_of(subject: Subject) -> list[Run]:
    """Split the history into fits, and find the candidate of each."""
    clf = subject.clf
    found = parted(list(getattr(clf, "history_", ())))
    if clf.cross_fit_ is None:
        shrinkage = shrinkage_of(clf, clf.task_kind)
        return [Run(rounds, 0, "", _bounds(rounds, shrinkage)) for rounds in found]
    standings, runs = clf.cross_fit_.standings, clf.cross_fit_.runs
    return [
        Run(rounds, i, standings[i].name, _bounds(rounds, standings[i].shrinkage))
        for rounds, i in zip(found, runs, strict=False)
    ]


def _bounds(rounds: Sequence[Round], shrinkage: float) -> Bounds:
    """Return the bound of the loss after each round, from the edges; None if the loss exceeds it."""
    first = rounds[0]
    if first.loss_ratio <= 0:
        return None
    start = first.log_loss - math.log(first.loss_ratio)
    losses = np.array([record.log_loss for record in rounds])
    left = loss_ratio_bound([record.rho for record in rounds], shrinkage, CAP)
    with np.errstate(divide="ignore"):
        bounds = start + np.cumsum(np.log(left))
    if np.any(losses > bounds + ROUNDING):
        return None
    return dict(zip(map(id, rounds), bounds.tolist(), strict=True))


# ---- the sections


def training(subject: Subject) -> Html | None:
    """Return the section on training, or None if there is no history."""
    runs = _runs_of(subject)
    if not runs or max(len(run.rounds) for run in runs) < 2:
        return None
    several = len(runs) > 1
    numbers = subject.predicts_numbers
    charts = [
        _blended_loss(runs) if several else _loss(runs[0], numbers=numbers),
        _errors(runs, numbers=numbers),
    ]
    return section(
        "How was the model trained?",
        tag("div", *charts, class_="figures"),
        _members(subject) if several else None,
        _guarantee(subject),
        lead=_told(subject, runs),
    )


def _told(subject: Subject, runs: Sequence[Run]) -> str:
    n_terms = len(subject.clf.ensemble_)
    if len(runs) == 1:
        return f"{len(runs[0].rounds):,} boosting rounds. The model is a sum of {n_terms:,} terms."
    n_members = len({run.member for run in runs})
    if n_members == 1:
        fits, average = f"{len(runs)} fits", "the average of these fits"
    else:
        fits = f"{len(runs)} fits of {n_members} candidates"
        average = "the weighted average of the selected fits"
    return f"{fits}, each on a part of the samples. The model is {average}, with {n_terms:,} terms."


def _loss(run: Run, *, numbers: bool) -> Html:
    # Numbers have no decisions that cost something. Without costs above 0, there is no curve.
    paid = not numbers and any(r.cost > 0 for r in run.rounds)
    covers = paid and all(r.cost <= math.exp(r.log_loss) * (1 + ROUNDING) for r in run.rounds)
    lines: list[Line] = [("one", "loss", run.line(lambda r: _exp(r.log_loss)))]
    if run.bounds is not None:
        lines.append(("one dashed", "bound of the loss", run.line(run.bound)))
    if covers:
        lines.append(("two", "cost of decisions", run.line(lambda r: r.cost or math.nan)))
    told = "Loss on the training samples after each round."
    if covers:
        told += " If the class with the highest score is predicted, the cost is at most the loss"
        told += ", and the loss is at most its bound." if run.bounds is not None else "."
    elif run.bounds is not None:
        told += " The loss is at most its bound."
    return _log_chart(lines, told)


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
    return chart.draw("round", "training loss", _short)


def _blended_loss(runs: Sequence[Run]) -> Html:
    lines = _with_means(runs, lambda _, record: _exp(record.log_loss))
    bounded = [run for run in runs if run.bounds is not None]
    if len(bounded) == len(runs):
        means = _with_means(runs, Run.bound)
        lines += [(f"{c} dashed", "", line) for c, label, line in means if label]
    told = (
        "Loss on the training samples after each round. Thin lines: single fits; thick lines: means"
    )
    told += "; dashed lines: upper bounds." if len(bounded) == len(runs) else "."
    return _log_chart(lines, told)


def _with_means(runs: Sequence[Run], of: Callable[[Run, Round], float]) -> list[Line]:
    """A thin line for each fit, and a thick one for the mean of a candidate's fits."""
    lines: list[Line] = []
    for kind in sorted({run.member for run in runs}):
        own = [run for run in runs if run.member == kind]
        colour = COLOURS[kind % len(COLOURS)]
        lines += [(f"{colour} thin", "", run.line(partial(of, run))) for run in own]
        at = thinned(min(len(run.rounds) for run in own))
        mean = np.mean([[of(run, run.rounds[i]) for i in at] for run in own], axis=0)
        fine = np.isfinite(mean)
        lines.append((colour, own[0].name, (np.array(at)[fine] + 1.0, mean[fine])))
    return lines


def _errors(runs: Sequence[Run], *, numbers: bool) -> Html:
    held = all(record.held is not None for run in runs for record in run.rounds)
    if len(runs) > 1:
        of = _held_error if held else _error
        lines = _with_means(runs, lambda _, record: of(record))
        whose = "samples held out from each fit" if held else "the training samples"
    else:
        lines = [("one", "training samples", runs[0].line(_error))]
        whose = "the training samples"
        if held:
            lines.append(("two", "held-out samples", runs[0].line(_held_error)))
            whose = "training and held-out samples"
    most = max(float(y.max(initial=0.0)) for _, _, (_, y) in lines)
    chart = Chart(
        across(1, max(2, *(len(run.rounds) for run in runs)), log=True),
        upward(0, 1.05 * most or 0.1),
        f"Root mean squared error on {whose} after each round."
        if numbers
        else f"Error on {whose} after each round, if the class with the highest score is predicted.",
        "Error by round",
    )
    for class_, label, (x, y) in lines:
        chart.line(x, y, class_, label)
    return chart.draw("round", "error", _short if numbers else _percent)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _error(record: Round) -> float:
    return record.error


def _held_error(record: Round) -> float:
    return record.held.error if record.held is not None else math.nan


def _members(subject: Subject) -> Html | None:
    """Return a note on the rounds that a cross-fit kept; model selection shows them in its table."""
    found = subject.clf.cross_fit_
    if found is None or subject.clf.selection_ is not None:
        return None
    kept = found.standings[0].rounds
    return note(
        f"The first {kept:,} rounds of each fit were kept; the held-out samples determined this number."
    )


def _guarantee(subject: Subject) -> Html | None:
    """Return what is proven, folded: it concerns the training samples, and few readers ask for it."""
    found = getattr(subject.clf, "guarantee_", None)
    if found is None:
        return None
    return more("What is proven about the training samples", as_html(found.sentences()))


def choice(subject: Subject) -> Html | None:
    """Return the section on model selection."""
    found: Any = getattr(subject.clf, "selection_", None)
    if found is None:
        return None
    shown = as_html([standings_table(found)])
    return section("How was the model selected?", shown, lead=HOW_SELECTED)


def _short(value: float) -> str:
    if value >= 1e-3 or value == 0:
        return f"{value:,.4g}"
    return f"10{_superscript(round(math.log10(value)))}" if _is_power(value) else f"{value:.0e}"


def _is_power(value: float) -> bool:
    power = math.log10(value)
    return abs(power - round(power)) < 1e-9


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
