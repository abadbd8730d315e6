"""Text of an explanation."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rebelboost.base.text import signed
from rebelboost.explain.parts import parts_of
from rebelboost.explain.reasons import Reason

if TYPE_CHECKING:
    from rebelboost.explain.explanation import Explanation

WIDTH = 7
"""Width of the column of numbers."""
WORTH_A_WORD = 0.02
"""Rules or comparisons are omitted if the largest of them is below this share of the largest of both."""


def explanation_text(why: "Explanation") -> str:
    """The decision, the contributions, and the rules or comparisons with the largest ones."""
    lines = [why.verdict.headline]
    if why.classes is not None and len(why.classes) == 1:
        return lines[0]
    lines.append(_opening(why))
    lines += _parts(why)
    named = {"Comparisons": why.comparisons, "Rules": why.rules}
    heaviest = max((abs(_size(why, r)) for of in named.values() for r in of), default=0.0)
    for name, reasons in named.items():
        if any(abs(_size(why, reason)) >= WORTH_A_WORD * heaviest for reason in reasons):
            lines += [f"{name} with the largest contributions:", *_listed(why, reasons)]
    return "\n".join(lines)


def _size(why: "Explanation", reason: Reason) -> float:
    return float(why.toward(reason.by_class))


def _opening(why: "Explanation") -> str:
    total = signed(float(why.toward(why.scores)))
    decided, rival = why.verdict.decided, why.verdict.rival
    if why.classes is None or decided is None or rival is None:
        return "Contributions:"
    names = why.class_names
    return f"Contributions for {names[decided]} (+) and {names[rival]} (−), total {total}:"


def _parts(why: "Explanation") -> list[str]:
    found = parts_of(why)
    lines = [f"{signed(part.size).rjust(WIDTH)}  {part.what}" for part in found.listed()]
    told = found.coverage()
    return [*lines, f"({told})"] if told else lines


def _listed(why: "Explanation", reasons: Sequence[Reason]) -> list[str]:
    return [
        f"{signed(_size(why, each)).rjust(WIDTH)}  {each.what}"
        + (f"  ({each.n_terms} terms)" if each.n_terms > 1 else "")
        for each in reasons
    ]
