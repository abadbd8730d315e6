"""What a soft cascade needs to run elsewhere: which terms are added before each check, and its thresholds."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints
from rebelboost.cascade.plan import CascadePlan
from rebelboost.cascade.staged_terms import StagedTerms
from rebelboost.export.terms import Step, first_tables
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.smooth import SmoothSimilarities


class Checks(NamedTuple):
    """The checks of a cascade; see `cascade.plan`."""

    kind: str
    steps: tuple[tuple[Step, ...], ...]
    """(B,) terms of the model's own sum that are added before each check."""
    low: Floats
    """(B,)"""
    high: Floats
    """(B,)"""
    temperatures: Floats
    """(B,) of the probabilities by which expected costs are compared."""
    n_terms: Ints
    """(B + 1,) number of terms up to each check, and of all."""


def checks_of(ensemble: Ensemble, plan: CascadePlan | None) -> Checks | None:
    """The checks of a plan; None if there are none."""
    if plan is None or len(plan.low) == 0:
        return None
    staged = StagedTerms(ensemble, plan.stage_of_term)
    steps = tuple(tuple(_steps(staged, i)) for i in range(len(plan.low)))
    return Checks(plan.kind, steps, plan.low, plan.high, plan.risk_temperatures, staged.n_terms)


def _steps(staged: StagedTerms, stage: int) -> list[Step]:
    """Terms of a stage, by kind: runs of neighbours in the tables of the model."""
    firsts, found = first_tables(staged.ensemble), []
    for table in staged.tables:
        begin = int(table.stops[stage - 1]) if stage else 0
        own = table.order[begin : int(table.stops[stage])]
        first = firsts[table.group]
        if isinstance(table.terms, SmoothSimilarities):  # a table each
            found += [Step(first + t, 0, 1) for t in own.tolist()]
            continue
        for run in np.split(own, np.flatnonzero(np.diff(own) != 1) + 1):
            if len(run):
                found.append(Step(first, int(run[0]), int(run[-1]) + 1))
    return found
