"""Certified costs: how often the bounds hold, and how wide they are beside other bounds.

python benchmarks/certificates.py [--draws 1000] [--problems 20]

Simulated: costs from known distributions, with few dear mistakes, rare mistakes, heavy tails, and many
levels. A bound is missed where it is below the expected cost. Beside `rebelboost.costs.betting` stand the bound
of Hoeffding and Bentkus, as in MAPIE, and the upper end of the one-sided bootstrap interval.

Resampled: a classifier of real data is certified on rows drawn, with replacement, from a large held-out part.
The expected cost is the mean over that part. After choosing among twenty rules, the bound of the chosen one is
checked.

Beside MAPIE (pip install mapie, no dependency of ours): with two classes, mistakes of equal cost and 20
thresholds, both look for a threshold whose error is proven to be at most 1.3 times that of threshold ½. Given
are how often one is found, and how often the error of the found one is above.
"""

import argparse
import importlib.util
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import binom
from sklearn.model_selection import train_test_split

import measuring
from rebelboost import RebelClassifier
from rebelboost.costs.betting import units_of, upper_bound
from rebelboost.metrics import mean_cost
from trial import load

DELTA = 0.05
SIZES = (50, 300, 2000)
TABLES = (
    "abalone",
    "adult",
    "car",
    "connect_4",
    "kr_vs_kp",
    "led7",
    "waveform40",
    "yeast",
    "landsat",
    "dry_bean",
)
"""Large enough that a part for the expected cost can be held out."""
TWO_CLASSES = ("adult", "kr_vs_kp")
N_RULES = 20

Law = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, tuple[Law, float | None]] = {
    "0, 1 or 5 of 5": (lambda rng, n: rng.choice([0, 0.2, 1], n, p=[0.68, 0.25, 0.07]), 0.12),
    "0, 1 or 20 of 20": (lambda rng, n: rng.choice([0, 0.05, 1], n, p=[0.79, 0.2, 0.01]), 0.02),
    "2 % of 0 and 1": (lambda rng, n: (rng.random(n) < 0.02).astype(float), 0.02),
    "heavy tail": (lambda rng, n: np.minimum(1, 0.01 * rng.pareto(1.1, n)), None),
    "even": (lambda rng, n: rng.random(n), 0.5),
}


def betting(cost: np.ndarray, seed: int) -> float:
    return upper_bound(units_of(cost, np.ones(len(cost)), None, 1.0, seed), DELTA)


def hoeffding_bentkus(cost: np.ndarray, seed: int) -> float:
    del seed
    n, mean = len(cost), float(cost.mean())

    def p_value(limit: float) -> float:
        if mean >= limit:
            return 1.0
        ratio = mean * np.log(mean / limit) if mean > 0 else 0.0
        entropy = ratio + (1 - mean) * np.log((1 - mean) / (1 - limit))
        tail = np.e * binom.cdf(np.ceil(n * mean), n, limit)
        return float(min(np.exp(-n * entropy), tail))

    low, high = mean, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) > DELTA else (low, middle)
    return high


def bootstrap(cost: np.ndarray, seed: int) -> float:
    rng = np.random.default_rng(seed)
    means = rng.choice(cost, (500, len(cost))).mean(axis=1)
    return float(np.quantile(means, 1 - DELTA))


BOUNDS = {"ours": betting, "Hoeffding–Bentkus": hoeffding_bentkus, "bootstrap": bootstrap}


def simulated(draws: int) -> Iterator[list[str]]:
    for law, (draw, known) in LAWS.items():
        mean = known if known is not None else float(draw(np.random.default_rng(0), 10**7).mean())
        for n in SIZES:
            rng = np.random.default_rng(n)
            costs = [draw(rng, n) for _ in range(draws)]
            cells = []
            for bound in BOUNDS.values():
                found = np.array([bound(cost, seed) for seed, cost in enumerate(costs)])
                cells += [f"{100 * np.mean(found >= mean):.1f}", f"{found.mean() / mean:.2f}"]
            yield [law, str(n), f"{mean:.4f}", *cells]


def resampled(problems: int) -> Iterator[list[str]]:
    """Real problems; each table is certified several times, on fresh rows."""
    for name in TABLES:
        X_train, X_all, y_train, y_all = load(name, 0, 6000)
        X_train, X_more, y_train, y_more = train_test_split(
            X_train, y_train, train_size=600, stratify=y_train, random_state=0
        )
        del X_all, y_all
        rng = np.random.default_rng(0)
        classes = np.unique(y_train)
        costs = rng.choice([1.0, 2.0, 5.0, 10.0], (len(classes), len(classes)))
        np.fill_diagonal(costs, 0)
        clf = RebelClassifier("tree", n_rounds=50, costs=costs).fit(X_train, y_train)
        factors = np.linspace(0.5, 2, N_RULES)
        rules = {
            f"{f:.2f}": clf.with_costs(np.where(costs == costs.max(), f * costs, costs))
            for f in factors
        }
        truth = {key: mean_cost(y_more, rule.predict(X_more), costs) for key, rule in rules.items()}
        own = mean_cost(y_more, clf.predict(X_more), costs)
        held = held_chosen = 0
        sizes = []
        for _ in range(problems):
            n = int(rng.choice([100, 300, 1000]))
            some = rng.integers(len(y_more), size=n)
            X, y = X_more.iloc[some].reset_index(drop=True), y_more[some]
            found = clf.certify(X, y)
            held += found.bound >= own
            sizes.append(found.bound / own)
            chosen = clf.choose_rule(X, y, rules)
            held_chosen += chosen.certificate.bound >= truth[chosen.name]
        yield [name, str(len(classes)), str(problems), f"{100 * held / problems:.1f}",
               f"{np.mean(sizes):.2f}", f"{100 * held_chosen / problems:.1f}"]  # fmt: skip


def beside_mapie(problems: int) -> Iterator[list[str]]:
    """Thresholds with a proven error, found by both."""
    from mapie.risk_control import BinaryClassificationController

    thresholds = np.linspace(0.3, 0.7, N_RULES)
    for name in TWO_CLASSES:
        X_train, _, y_train, _ = load(name, 0, 6000)
        X_train, X_more, y_train, y_more = train_test_split(
            X_train, y_train, train_size=600, stratify=y_train, random_state=0
        )
        y_train, y_more = (y == y_train.max() for y in (y_train, y_more))
        clf = RebelClassifier("tree", n_rounds=50).fit(X_train, y_train)
        # Deciding True from probability t on is deciding by costs t of a false and 1 − t of a missed True.
        rules = {t: clf.with_costs([[0, t], [1 - t, 0]]) for t in thresholds}
        p = clf.predict_proba(X_more)[:, 1]
        errors = {t: float(np.mean((p >= t) != y_more)) for t in thresholds}
        target = 1.3 * float(np.mean((p >= 0.5) != y_more))
        rng = np.random.default_rng(0)
        found, wrong = np.zeros(2), np.zeros(2)
        for _ in range(problems):
            some = rng.integers(len(y_more), size=int(rng.choice([100, 300, 1000])))
            X, y = X_more.iloc[some].reset_index(drop=True), y_more[some]
            chosen = clf.choose_rule(X, y, rules, at_most=target)
            controller = BinaryClassificationController(
                clf.predict_proba,
                "accuracy",
                1 - target,
                confidence_level=1 - DELTA,
                list_predict_params=thresholds,
            ).calibrate(X, y.astype(int))
            best = controller.best_predict_param
            names = [chosen.name if chosen.certificate.holds else None, best]
            for i, threshold in enumerate(names):
                found[i] += threshold is not None
                wrong[i] += threshold is not None and errors[threshold] > target
        cells = [
            f"{100 * share / problems:.1f}"
            for pair in zip(found, wrong, strict=True)
            for share in pair
        ]
        yield [name, str(problems), f"{target:.3f}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--problems", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(measuring.describe_machine(measuring.machine(), 1))
    head = [part for name in BOUNDS for part in (f"{name}: holds, %", "bound / mean")]
    print(
        measuring.markdown(["costs", "rows", "mean", *head], simulated(options.draws)), flush=True
    )
    header = [
        "table",
        "classes",
        "certified",
        "holds, %",
        "bound / mean",
        f"chosen among {N_RULES}: holds, %",
    ]
    print(measuring.markdown(header, resampled(options.problems)), flush=True)
    if importlib.util.find_spec("mapie"):
        sides = [
            f"{who}: {what}, %" for who in ("ours", "MAPIE") for what in ("found", "error above")
        ]
        head = ["table", "problems", "asked for", *sides]
        print(measuring.markdown(head, beside_mapie(2 * options.problems)))


if __name__ == "__main__":
    main()
