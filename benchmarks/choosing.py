"""Why the default averages as it does: its blend and what else was tried, on the half of the sets for choosing.

python benchmarks/choosing.py [--sets a,b] [--seeds 3] [--rows 1200]

Every candidate of the default is fitted on every fold, and none is dropped on the way; the variants then differ
only in what they do with these fits. Each is judged by error and log-loss on the same quarter of the rows,
which none has seen. Results stay in `.benchmarks/reproduce/units` until the code changes: a run that was
stopped goes on. `.benchmarks/reproduce/choosing.json` has all figures; `readme_table.py` puts them into
docs/learners.md.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import trial
from halves import CHOOSING
from measuring import markdown
from rebelboost import RebelClassifier
from rebelboost.costs import offsets
from rebelboost.data.folds import folds
from rebelboost.estimators import fitting
from rebelboost.estimators.validation import encode_features
from rebelboost.selection import average
from rebelboost.selection.average import LEAST_SHARE, needed, share_out, vote
from rebelboost.selection.candidates import FREQUENCIES
from rebelboost.selection.cross_fit import can_vote, runner_of
from rebelboost.selection.runner import Runner
from reproduce import harness
from variants import Choice

SHARPER = 1.1
PRIOR_VOTES, VOTES = 10, 10
"""Number of votes that the weights by log-loss count for, and by which held-out samples correct them."""
LEAST_MEMBER = 0.1

Weighing = Callable[[Sequence[Runner]], list[Runner]]
"""Sets the shares of candidates, and returns those that have one."""

# ---- variants


def by_loss(runners: Sequence[Runner]) -> list[Runner]:
    return share_out(runners, LEAST_SHARE)


def voted(runners: Sequence[Runner]) -> list[Runner]:
    """As the default does: votes, where held-out samples can tell."""
    return vote(runners) if can_vote(runners) else thinned(runners)


def thinned(runners: Sequence[Runner]) -> list[Runner]:
    """Without members that held-out samples do not miss."""
    return needed(by_loss(runners))


def always_thinned(runners: Sequence[Runner]) -> list[Runner]:
    """The same, also with few samples, or hardly any mistakes among them."""
    with patch.object(average, "FEW", 0), patch.object(average, "LEAST_EVIDENCE", 0.0):
        return thinned(runners)


def with_votes(runners: Sequence[Runner]) -> list[Runner]:
    """Held-out samples correct the weights: each vote is for who helps most [Caruana et al. 2004].

    The weights by log-loss count as some votes too: on few samples votes alone choose by chance.
    """
    members = by_loss(runners)
    judged = members[0].judged
    scores = [runner.found.factor * runner.left_out for runner in members]
    votes = PRIOR_VOTES * np.array([runner.share for runner in members])
    total = _sum(votes, scores)
    for _ in range(VOTES):
        losses = [judged.log_loss((total + each) / (votes.sum() + 1)) for each in scores]
        best = int(np.argmin(losses))
        votes[best] += 1
        total = total + scores[best]
    for runner, share in zip(members, (votes / votes.sum()).tolist(), strict=True):
        runner.share = share
    return members


def of_weight(weigh: Weighing) -> Weighing:
    """The same, without candidates below a least weight."""

    def weighed(runners: Sequence[Runner]) -> list[Runner]:
        members = weigh(runners)
        least = min(LEAST_MEMBER, max(runner.share for runner in members))
        kept = [runner for runner in members if runner.share >= least]
        total = sum(runner.share for runner in kept)
        for runner in kept:
            runner.share /= total
        return kept

    return weighed


def alike(runners: Sequence[Runner]) -> list[Runner]:
    for runner in runners:
        runner.share = 1 / len(runners)
    return list(runners)


def best_alone(runners: Sequence[Runner]) -> list[Runner]:
    best = min(runners, key=lambda runner: runner.found.log_loss)
    best.share = 1.0
    return [best]


class Variant(NamedTuple):
    weigh: Weighing = voted
    without: tuple[str, ...] = ()
    """Candidates that do not take part, by name."""
    only: str = ""
    """How the names of those begin that take part."""
    sharper: float = 1.0
    """Factor of the temperature."""
    variance: float = offsets.VARIANCE
    """Of offsets; see `rebelboost.costs.offsets`."""


NEW = ("single splits", "trees of depth 10", "smooth similarities")
VARIANTS = {
    "the default: votes": Variant(),
    "weights by log-loss, members that are not missed dropped": Variant(thinned),
    "members dropped on all data sets": Variant(always_thinned),
    "no member dropped": Variant(by_loss),
    "the same, none below 10 %": Variant(of_weight(by_loss)),
    f"weights by log-loss for {PRIOR_VOTES} votes, and {VOTES} votes": Variant(with_votes),
    "the same, none below 10 % (the former default)": Variant(of_weight(with_votes)),
    "equal weights": Variant(alike),
    "the candidate with the lowest held-out log-loss": Variant(best_alone),
    **{f"without {name}": Variant(without=(name,)) for name in NEW},
    "without these three": Variant(without=NEW),
    "trees of depth 3, 6 and 10 only": Variant(only="trees"),
    f"without {FREQUENCIES}": Variant(without=(FREQUENCIES,)),
    f"scores multiplied by {SHARPER}": Variant(sharper=SHARPER),
    "no offset by class": Variant(variance=1e-9),
    **{f"offsets with a variance of {v}": Variant(variance=v) for v in (0.1, 10)},
}

# ---- measuring


def fitted_candidates(clf: RebelClassifier, X: Any, y: Any) -> list[Runner]:
    """The default's candidates, fitted on all folds. `clf` is left fitted with the first alone."""
    kept: list[Runner] = []

    def fit_all(judging: Any, running: Any, n_folds: int, **options: Any) -> Any:
        parts = folds(judging.samples, n_folds, running[0].settings.seed)
        for entry in running:
            runner = runner_of(entry, judging)
            for number, part in enumerate(parts):
                runner.add(runner.attempt(part, number, math.inf))
            runner.choose_stage()
            kept.append(runner)
        return select(judging, running[:1], n_folds, **options)

    select = fitting.select
    with patch.object(fitting, "select", fit_all):
        clf.fit(X, y)
    return kept


def measure(name: str, seed: int, rows: int) -> dict[str, Any]:
    """Variant → its error and log-loss; candidate → its weight in the default."""
    X_train, X_test, y_train, y_test = trial.load(name, seed, rows)
    clf = RebelClassifier(n_jobs=1)
    runners = fitted_candidates(clf, X_train, y_train)
    values = encode_features(clf, X_test, clf.model_.encoder)
    scores = {runner.name: runner.ensemble().scores(values) for runner in runners}
    found: dict[str, Any] = {"weights": {}}
    for title, variant in VARIANTS.items():
        own = [
            r for r in runners if r.name not in variant.without and r.name.startswith(variant.only)
        ]
        members = variant.weigh(own)
        factors = [runner.share * runner.found.factor for runner in members]
        judged = members[0].judged
        left_out = _sum(factors, [runner.left_out for runner in members])
        with patch.object(offsets, "VARIANCE", variant.variance):
            factor, offset, _ = judged.calibrated(left_out)
        blended = _sum(factors, [scores[runner.name] for runner in members]) + offset
        posterior = judged.decoder(variant.sharper * factor).posterior(blended)
        found[title] = [
            100 * float((posterior.argmax(axis=1) != y_test).mean()),
            trial.log_loss(posterior, y_test),
        ]
        if variant == Variant():
            found["weights"] = {runner.name: runner.share for runner in members}
    return found


def _sum(factors: Sequence[float], scores: Sequence[np.ndarray]) -> np.ndarray:
    return np.sum([f * each for f, each in zip(factors, scores, strict=True)], axis=0)


# ---- report


def collect(found: dict[tuple[Any, ...], Any], sets: list[str], seeds: int, rows: int) -> Choice:
    """Means over the seeds of a set."""

    def mean(name: str, title: str) -> list[float]:
        return np.mean([found[name, seed, rows][title] for seed in range(seeds)], axis=0).tolist()

    weights: dict[str, list[float]] = {}
    for unit in found.values():
        for candidate, share in unit["weights"].items():
            weights.setdefault(candidate, []).append(share)
    return Choice(
        variants=list(VARIANTS),
        seeds=seeds,
        rows=rows,
        weights={name: sum(shares) / len(found) for name, shares in weights.items()},
        results={name: [mean(name, title) for title in VARIANTS] for name in sets},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(CHOOSING))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1200, help="of each set, at most")
    parser.add_argument("--processes", type=int, default=harness.N_PROCESSES)
    options = parser.parse_args()
    sets, seeds, rows = options.sets.split(","), options.seeds, options.rows
    units = [(name, seed, rows) for seed in range(seeds) for name in sets]
    found = harness.measure_all(measure, units, n_processes=options.processes)
    choice = collect(found, sets, seeds, rows)
    choice.write(harness.FOLDER / "choosing.json")
    print(markdown(*choice.table()))


if __name__ == "__main__":
    main()
