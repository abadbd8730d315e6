"""Savings on tables with costs by row, beside libraries for such costs.

python benchmarks/money.py [--rows 10000] [--tables churn_tv bank_telemarketing ...]

The five tables of empulse, with the four costs of each row (data/money, and the README there). Five
stratified folds; models are trained on at most --rows rows of the other four, the same for all, and decide on
the whole fold. Costs of the rows to be decided are known (amounts), their classes are not. Savings are 1 −
cost / the cost of the better of deciding 0 for all rows and 1 for all rows (of the fold).

Ours is the default, RebelClassifier(), trained without costs, which decides each row by its own costs.
Rivals: empulse's CSBoost (on XGBoost) and CSLogit, which minimise the cost in training, and CSThreshold on
gradient boosting, with calibrated probabilities and a threshold for each row; scikit-learn's
TunedThresholdClassifierCV on gradient boosting, with one threshold that minimises the cost in
cross-validation. Needs empulse and xgboost (pip install empulse xgboost), which are no dependencies of ours.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import data
import measuring
from rebelboost import RebelClassifier

TABLES = (
    "churn_tv",
    "bank_telemarketing",
    "give_me_some_credit",
    "credit_pakdd",
    "credit_vub",
)
N_FOLDS = 5
NAMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")


class Part(NamedTuple):
    """Rows with their classes and costs."""

    X: pd.DataFrame
    y: np.ndarray
    costs: pd.DataFrame

    def rows(self, chosen: np.ndarray) -> "Part":
        return Part(
            self.X.iloc[chosen].reset_index(drop=True),
            self.y[chosen],
            self.costs.iloc[chosen].reset_index(drop=True),
        )

    @property
    def by_name(self) -> dict[str, np.ndarray]:
        return {name: self.costs[name].to_numpy(dtype=float) for name in NAMES}

    def paid(self, decided: np.ndarray) -> float:
        costs = self.by_name
        event = np.where(decided == 1, costs["tp_cost"], costs["fn_cost"])
        none = np.where(decided == 1, costs["fp_cost"], costs["tn_cost"])
        return float(np.where(self.y == 1, event, none).sum())

    @property
    def cheapest_constant(self) -> float:
        return min(self.paid(np.zeros(len(self.y))), self.paid(np.ones(len(self.y))))


def ours(train: Part, test: Part) -> np.ndarray:
    clf = RebelClassifier(n_jobs=1).fit(train.X, train.y)
    costs = test.by_name
    cube = np.zeros((len(test.y), 2, 2))
    # Where the wrong decision is cheaper than the right one, as with customers not worth an offer, it is free.
    cube[:, 0, 1] = np.maximum(costs["fp_cost"] - costs["tn_cost"], 0)
    cube[:, 1, 0] = np.maximum(costs["fn_cost"] - costs["tp_cost"], 0)
    return clf.predict(test.X, costs=cube)


def _text(X: pd.DataFrame) -> list[str]:
    return [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]


def coded(X: pd.DataFrame):
    """Categories as numbers, the rare ones together."""
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=-1,
        encoded_missing_value=-1,
        max_categories=200,
    )
    return make_column_transformer((codes, _text(X)), remainder="passthrough")


def filled(X: pd.DataFrame):
    """The same without missing values, which empulse refuses also where its estimator takes them."""
    return make_pipeline(coded(X), SimpleImputer(strategy="median"))


def columns(X: pd.DataFrame):
    """Categories as columns of 0 and 1, numbers filled and scaled."""
    texts = _text(X)
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=20, sparse_output=False
    )
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return make_column_transformer((one_hot, texts), (numbers, [n for n in X if n not in texts]))


def cs_boost(train: Part, test: Part) -> np.ndarray:
    from empulse.models import CSBoostClassifier

    encoder = filled(train.X).fit(train.X)
    clf = CSBoostClassifier().fit(encoder.transform(train.X), train.y, **train.by_name)
    return clf.predict(encoder.transform(test.X))


def cs_logit(train: Part, test: Part) -> np.ndarray:
    from empulse.models import CSLogitClassifier

    encoder = columns(train.X).fit(train.X)
    clf = CSLogitClassifier().fit(encoder.transform(train.X), train.y, **train.by_name)
    return clf.predict(encoder.transform(test.X))


def cs_threshold(train: Part, test: Part) -> np.ndarray:
    from empulse.models import CSThresholdClassifier

    encoder = filled(train.X).fit(train.X)
    clf = CSThresholdClassifier(HistGradientBoostingClassifier(random_state=0), random_state=0)
    clf.fit(encoder.transform(train.X), train.y)
    return clf.predict(encoder.transform(test.X), **test.by_name)


def tuned_threshold(train: Part, test: Part) -> np.ndarray:
    encoder = coded(train.X).fit(train.X)

    def gain(y, decided, **costs):
        return -Part(None, y, pd.DataFrame(costs)).paid(decided)

    with sklearn.config_context(enable_metadata_routing=True):
        asks = dict.fromkeys(NAMES, True)
        scorer = make_scorer(gain).set_score_request(**asks)
        clf = TunedThresholdClassifierCV(
            HistGradientBoostingClassifier(random_state=0), scoring=scorer, random_state=0
        )
        clf.fit(encoder.transform(train.X), train.y, **train.by_name)
        return clf.predict(encoder.transform(test.X))


METHODS: dict[str, Callable[[Part, Part], np.ndarray]] = {
    "ours": ours,
    "CSBoost": cs_boost,
    "CSLogit": cs_logit,
    "CSThreshold": cs_threshold,
    "TunedThreshold": tuned_threshold,
}


def load(name: str) -> Part:
    folder = data.folder() / "money"
    X = pd.read_csv(folder / f"empulse_{name}.csv.gz")
    y = X.pop("target").to_numpy(dtype=int)
    if name == "credit_pakdd":  # codes, not amounts
        codes = [c for c in X if "CODE" in c or c.startswith("ID_")]
        X[codes] = X[codes].astype(str)
    return Part(X, y, pd.read_csv(folder / f"empulse_{name}.costs.csv.gz"))


def savings(whole: Part, n_rows: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for fold, (rest, out) in enumerate(folds.split(whole.X, whole.y)):
        some = np.random.default_rng(fold).permutation(rest)[:n_rows]
        train, test = whole.rows(some), whole.rows(out)
        for method, decide in METHODS.items():
            found[method].append(1 - test.paid(decide(train, test)) / test.cheapest_constant)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(measuring.describe_machine(measuring.machine(), 1))
    lines, n_highest = [], 0
    for name in options.tables:
        began = time.perf_counter()
        found = savings(load(name), options.rows)
        means = {method: float(np.mean(own)) for method, own in found.items()}
        n_highest += means["ours"] == max(means.values())
        seconds = f"{time.perf_counter() - began:.0f}"
        lines.append([name, *(f"{100 * mean:.1f}" for mean in means.values()), seconds])
        print(
            *lines[-1], {m: [f"{100 * s:.1f}" for s in own] for m, own in found.items()}, flush=True
        )
    print(measuring.markdown(["savings, %", *METHODS, "seconds"], lines))
    print(f"ours highest on {n_highest} of {len(lines)}")


if __name__ == "__main__":
    main()
