"""Intervals of prices and smallest changes against brute force.

python benchmarks/brute_force.py [--cases 100000]

Prices: for random probabilities and costs of two to six classes, also with abstentions, each price is set to
many values, among them values just inside and just outside the interval. The decision must stay exactly inside.

Changes: of small random models, the decisions in every combination of values between thresholds are known
(`tests/brute_changes.py`). The nearest one that differs, by up to three columns, must be the one found.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

from rebelboost.costs.decision import expected_costs
from rebelboost.costs.prices import price_ranges

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import brute_changes

AT_ONCE = 1000
N_PRICES = 30
"""Random prices that are tried, beside those at the ends."""
ROWS_OF_A_MODEL = 250
ASKED = [(most, fixed) for most in (1, 2, 3) for fixed in ((), ("x1",))]
"""Numbers of columns that may change together, and columns that may not."""
TINY = 1e-9
"""Closer to an end than this, relative to it, rounding decides."""


def prices(n_cases: int) -> tuple[int, int]:
    """Numbers of prices that were tried, and of those where the decision disagrees with the interval."""
    n_tried = n_wrong = 0
    for seed in range(-(-n_cases // AT_ONCE)):
        rng = np.random.default_rng(seed)
        n_classes = 2 + seed % 5
        posterior = rng.dirichlet(np.full(n_classes, 0.5), AT_ONCE)
        costs = rng.uniform(0, 10, (n_classes, n_classes)) * (1 - np.eye(n_classes))
        limit = float(rng.uniform(0.5, 3)) if seed % 3 == 0 else None
        found = price_ranges(posterior, costs, decisions(posterior, costs, limit), limit)
        now = decisions(posterior, costs, limit)
        for true, decided in np.ndindex(costs.shape):
            if true == decided:
                continue
            low, high = found.low[:, true, decided], found.high[:, true, decided]
            tried = [low * (1 - 1e-6), low * (1 + 1e-6), high * (1 - 1e-6), high * (1 + 1e-6)]
            tried += list(rng.exponential(5, (N_PRICES, AT_ONCE)))
            for price in tried:
                own = np.where(np.isfinite(price), price, 1e9)
                inside = (own >= low) & (own <= high)
                near = np.minimum(np.abs(own - low), np.abs(own - high)) < TINY * np.maximum(own, 1)
                changed = np.repeat(costs[np.newaxis], AT_ONCE, axis=0)
                changed[:, true, decided] = own
                stays = decisions(posterior, changed, limit) == now
                n_tried += int(np.count_nonzero(~near))
                n_wrong += int(np.count_nonzero(~near & (stays != inside)))
    return n_tried, n_wrong


def decisions(posterior: np.ndarray, costs: np.ndarray, limit: float | None) -> np.ndarray:
    risks = expected_costs(posterior, costs)
    best = risks.argmin(axis=1)
    if limit is None:
        return best
    return np.where(risks.min(axis=1) > limit, costs.shape[-1], best)


def changes(n_cases: int) -> tuple[int, int]:
    """Numbers of rows, and of those where brute force finds something else."""
    n_tried = n_wrong = 0
    for seed in range(-(-n_cases // ROWS_OF_A_MODEL)):
        clf, X = brute_changes.random_model(seed, ROWS_OF_A_MODEL)
        every = brute_changes.EveryCell(clf)
        for i, rows in enumerate(np.array_split(X, len(ASKED))):
            for wrong in brute_changes.disagreements(clf, every, rows, *ASKED[i]):
                n_tried, n_wrong = n_tried + 1, n_wrong + (wrong is not None)
                if wrong is not None:
                    print(f"model {seed}: {wrong}", flush=True)
                if n_tried % 5000 == 0:
                    print(
                        f"smallest changes so far: {n_tried:,} rows, {n_wrong:,} differ", flush=True
                    )
    return n_tried, n_wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tried, wrong = prices(options.cases)
    print(
        f"prices: {options.cases:,} decisions, {tried:,} prices tried, {wrong:,} differ", flush=True
    )
    tried, wrong = changes(options.cases)
    print(f"smallest changes: {tried:,} rows, {wrong:,} differ", flush=True)


if __name__ == "__main__":
    main()
