"""Explanations as a person wants to read them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rebelboost.base.text import signed
from rebelboost.explain.reasons import Reason

if TYPE_CHECKING:
    from rebelboost.explain.explanation import ExampleShare, Explanation, FeatureShare

WIDTH = 7
"""Of the column of numbers."""
WORTH_A_WORD = 0.02
"""Of a blend of trees and similarities: a kind whose heaviest term is lighter than this share is left out."""


def explanation_text(why: "Explanation") -> str:
    """The decision, what made it up, and the rules or comparisons that weighed most."""
    lines = [why.verdict.headline]
    if why.classes is not None and len(why.classes) == 1:
        return lines[0]
    lines.append(_opening(why))
    lines += _parts(why)
    named = {"Comparisons": why.comparisons, "Rules": why.rules}
    heaviest = max((abs(_size(why, r)) for of in named.values() for r in of), default=0.0)
    for name, reasons in named.items():
        if any(abs(_size(why, reason)) >= WORTH_A_WORD * heaviest for reason in reasons):
            lines += [f"{name} that weighed most:", *_listed(why, reasons)]
    return "\n".join(lines)


def _size(why: "Explanation", reason: Reason) -> float:
    return float(why.toward(reason.by_class))


def _opening(why: "Explanation") -> str:
    total = signed(float(why.toward(why.scores)))
    decided, rival = why.verdict.decided, why.verdict.rival
    if why.classes is None or decided is None or rival is None:
        return "Made up of:"
    names = why.class_names
    return f"What spoke for {names[decided]} (+) and for {names[rival]} (−), {total} in all:"


def parts(why: "Explanation") -> list[tuple[float, str]]:
    """What each shown part adds to the lead, the strongest first; then what is left, and the baseline."""
    shares: list[Reason | FeatureShare | ExampleShare] = [*why.features, *why.examples, *why.others]
    strength = [(float(why.toward(each.by_class)), each) for each in shares]
    strength.sort(key=lambda pair: -abs(pair[0]))
    shown, rest = strength[: why.top], strength[why.top :]
    found = [(size, each.what if isinstance(each, Reason) else each.shown) for size, each in shown]
    if rest:
        kinds = [
            f"{n} other {name}{'s' if n > 1 else ''}"
            for name, own in (("feature", why.features), ("training row", why.examples))
            if (n := len(own) - sum(each in _ids(shown) for each in map(id, own))) > 0
        ]
        left = float(np.sum([size for size, _ in rest]))
        found.append((left, " and ".join(kinds) if kinds else "all else"))
    said = "an average training row" if why.features else "every sample"
    found.append((float(why.toward(why.baseline)), f"said of {said}"))
    return found


def _ids(shown: Sequence[tuple[float, object]]) -> set[int]:
    return {id(each) for _, each in shown}


def _parts(why: "Explanation") -> list[str]:
    return [f"{signed(size).rjust(WIDTH)}  {what}" for size, what in parts(why)]


def _listed(why: "Explanation", reasons: Sequence[Reason]) -> list[str]:
    return [
        f"{signed(_size(why, each)).rjust(WIDTH)}  {each.what}"
        + (f"  ({each.n_terms} terms)" if each.n_terms > 1 else "")
        for each in reasons
    ]
