"""How training went: the loss and its bound, the errors, and what was kept of several fits."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.text import amount, percent, whole_percent
from rebelboost.boosting.rounds import Round
from rebelboost.report.charts import Chart, across, thinned, upward
from rebelboost.report.markup import Html, name, note, paragraph, section, table, tag
from rebelboost.report.runs import ROUNDING, Run, exp, runs_of
from rebelboost.report.subject import Subject

COLOURS = ("one", "two", "three", "four", "five", "six")
Line = tuple[str, str, tuple[Floats, Floats]]
"""Class for its style, name in the legend, rounds and values."""


def training(subject: Subject) -> Html | None:
    """The curves, or nothing where no history was kept."""
    runs = runs_of(subject)
    if not runs or max(len(run.rounds) for run in runs) < 2:
        return None
    several = len(runs) > 1
    charts = [_blended_loss(runs) if several else _loss(runs[0]), _errors(runs)]
    return section(
        "How it was trained",
        tag("div", *charts, class_="figures"),
        _members(subject) if several else None,
        lead=_told(subject, runs),
    )


def _told(subject: Subject, runs: Sequence[Run]) -> str:
    n_terms = len(subject.clf.ensemble_)
    if len(runs) == 1:
        return f"{len(runs[0].rounds):,} rounds; the model is a sum of {n_terms:,} terms."
    n_members = len({run.member for run in runs})
    fits = (
        f"{len(runs)} fits" if n_members == 1 else f"{n_members} kinds of fits, {len(runs)} in all"
    )
    return f"{fits}, each on a part of the samples; the model is their sum, {n_terms:,} terms."


def _loss(run: Run) -> Html:
    paid = any(r.cost > 0 for r in run.rounds)  # else there is nothing to be drawn
    covers = paid and all(r.cost <= math.exp(r.log_loss) * (1 + ROUNDING) for r in run.rounds)
    lines: list[Line] = [("one", "loss", run.line(lambda r: exp(r.log_loss)))]
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
    lines = _with_means(runs, lambda _, record: exp(record.log_loss))
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
        lines.append((colour, own[0].name, (np.array(at)[fine] + 1.0, mean[fine])))
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


def _members(subject: Subject) -> Html | None:
    """What was kept of a cross-fit's fits; of a race it is told where it was chosen."""
    found = subject.clf.cross_fit_
    if found is None or subject.clf.selection_ is not None:
        return None
    kept = found.standings[0].rounds
    return note(f"The first {kept:,} rounds of each fit were kept, by what it had left out.")


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
    standings = getattr(found, "standings", ())
    parts = [_standings(found)] if standings else map(_line, str(found).split("\n"))
    lead = (
        "All of these were fitted without some of the samples, and judged by those. What was far "
        "behind was not fitted again; the model is a blend of the others."
    )
    return section("What was chosen, and why", *parts, lead=lead if standings else None)


def _standings(found: Any) -> Html:
    def shown(cost: float) -> str:
        return percent(cost) if found.percent else amount(float(f"{cost:.3g}"))

    ranked = sorted(found.standings, key=lambda each: (-each.share, each.cost))
    rows = [
        [
            name(each.name),
            whole_percent(each.share) if each.share else "–",
            shown(each.cost),
            f"{each.log_loss:.3f}",
            f"{each.rounds:,}",
        ]
        for each in ranked
    ]
    rows.append([tag("strong", "the blend"), "", tag("strong", shown(found.cost)), "", ""])
    what = "wrong" if found.percent else "mean cost"
    return table(["", "share in the blend", what, "log-loss", "rounds"], rows)


def _short(value: float) -> str:
    if value >= 1e-3 or value == 0:
        return f"{value:,.4g}"
    return f"10{_superscript(round(math.log10(value)))}" if _is_power(value) else f"{value:.0e}"


def _is_power(value: float) -> bool:
    power = math.log10(value)
    return abs(power - round(power)) < 1e-9


def _superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
