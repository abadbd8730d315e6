"""How many rounds similarities want: test error by round on sets where they end at the limit.

python benchmarks/rounds.py [--sets mnist,letter,…] [--rounds 5000]
"""

import argparse

import numpy as np

import measuring
from data import load
from rebelboost import RebelClassifier, Similarity
from reproduce.harness import measure_all

SETS = "mnist,isolet,letter,avila,newsgroups20_lsa100,covtype_15120,usps,dry_bean"
EVERY = 1000


def errors(name: str, rounds: int) -> list[float]:
    """In %, after every thousand rounds, and at the end where it comes sooner."""
    split = load(name)
    model = RebelClassifier(Similarity(), n_rounds=rounds, n_jobs=1)
    staged = model.fit(split.X_train, split.y_train).staged_predict(split.X_test)
    wrong = [100 * float(np.mean(decided != split.y_test)) for decided in staged]
    return [wrong[min(t, len(wrong)) - 1] for t in range(EVERY, rounds + 1, EVERY)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", default=SETS, help="the largest first")
    parser.add_argument("--rounds", type=int, default=5000)
    options = parser.parse_args()
    units = [(name, options.rounds) for name in options.sets.split(",")]
    rows = [
        [name, *(f"{error:.2f}" for error in found)]
        for (name, _), found in measure_all(errors, units).items()
    ]
    header = ["test error, %", *map(str, range(EVERY, options.rounds + 1, EVERY))]
    print(measuring.markdown(header, rows))


if __name__ == "__main__":
    main()
