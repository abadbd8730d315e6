"""REBEL Fig. 3: planar sets × random cost matrices, 100 stumps, against posterior-then-cost."""

import numpy as np

import costs
import measuring
from pricing import trials
from pricing.methods import OURS, STUMPS_BLIND, STUMPS_NEUTRAL
from pricing.tables import by_set
from pricing.trials import Problem
from reproduce import quotes
from reproduce.harness import Report, Table, judged, measure_all
from reproduce.papers import paper

TITLE = "REBEL Fig. 3: 10 planar sets × 20 random cost matrices"
DECODED = "100 stumps: costs, decoded"
BESIDE = [STUMPS_NEUTRAL, STUMPS_BLIND, DECODED, OURS]
SCHEMES = {"thesis": "subcosts of THESIS, Sec. 4.3", "rebel": "subcosts of REBEL, Eq. 2"}
NOTE = (
    "The claim is about training on costs with argmax. The two-step method combines the posterior of 100 "
    "stumps, trained without costs, with the costs; argmax without costs ignores them altogether. A tie is "
    "half a trial."
)
ROUNDS = 100
SHARE = 90
"""% of the trials in which REBEL has a lower cost than posterior-then-cost."""


def mean_costs(subcosts: str, seed: int, n_matrices: int) -> list[float]:
    """REBEL's mean cost on the test points of a planar set, under each matrix."""
    task = trials.load(Problem("a", "planar", seed, n_matrices))
    split = task.split
    models = (paper("rebel", ROUNDS, costs=each, subcosts=subcosts) for each in task.matrices())
    return task.mean_costs(
        [model.fit(split.X_train, split.y_train).predict(split.X_test) for model in models]
    )


def lower(own: np.ndarray, other: np.ndarray) -> float:
    """% of the trials with a lower cost than another method; a tie is half a trial."""
    return 100 * float(np.mean((own < other) + 0.5 * (own == other)))


def run(*, quick: bool) -> Report:
    measuring.limit_threads(1)
    problems = trials.problems("a", quick=quick)
    records = costs.run_all(costs.units(["a"], BESIDE, quick=quick))
    found = {
        title: np.concatenate([by_set(records, "a", title)["planar"][each] for each in problems])
        for title in BESIDE
    }
    units = [(scheme, each.split, each.n_matrices) for scheme in SCHEMES for each in problems]
    measured = measure_all(mean_costs, units)
    rebel = {
        scheme: np.concatenate([measured[scheme, p.split, p.n_matrices] for p in problems])
        for scheme in SCHEMES
    }
    two_step, blind = found[STUMPS_NEUTRAL], found[STUMPS_BLIND]
    shown = {f"REBEL, {title}": rebel[scheme] for scheme, title in SCHEMES.items()} | found
    return Report(
        lines=[
            judged(
                f"{title}: trials with a lower cost than the two-step method",
                quotes.TWO_STEP,
                f"{lower(rebel[scheme], two_step):.1f} % of {len(two_step)}",
                good=round(lower(rebel[scheme], two_step)) >= SHARE,
                ours=f"{lower(found[OURS], two_step):.1f} %",
            )
            for scheme, title in SCHEMES.items()
        ],
        tables=[
            Table(
                "Mean cost, where guessing costs about 1, and trials with a lower cost than others",
                ["", "mean cost", "than two-step, %", "than argmax without costs, %"],
                [
                    [
                        title,
                        f"{own.mean():.4f}",
                        f"{lower(own, two_step):.1f}",
                        f"{lower(own, blind):.1f}",
                    ]
                    for title, own in shown.items()
                ],
            )
        ],
        notes=[NOTE],
    )
