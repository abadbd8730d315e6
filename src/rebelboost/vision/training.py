"""Training of a detector in stages, each with the false alarms of the one before as new examples.

Features of the windows are binned block by block, a byte for each feature of each window: 45,396 features of
10,000 windows take 454 MB as bytes, and 3.6 GB as the floats that are never held at once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, Bytes, Floats, RectangleArrays
from rebelboost.boosting.fit import train
from rebelboost.boosting.sampling import Sampling
from rebelboost.boosting.settings import Settings
from rebelboost.data.binning import BLOCK, MOST_BINS, Binner, fit_binner
from rebelboost.data.samples import Samples
from rebelboost.data.training_set import TrainingSet
from rebelboost.learners.base import Prepared
from rebelboost.learners.options import schedule
from rebelboost.learners.stump import PreparedStump, Stump
from rebelboost.learners.tree import PreparedTree, Tree
from rebelboost.model.trees import Trees
from rebelboost.rows.base import MemoryRows, Rows
from rebelboost.vision.backgrounds import Backgrounds
from rebelboost.vision.exit_thresholds import choose_exit_thresholds
from rebelboost.vision.features import Size, Windows, n_planes, take_features
from rebelboost.vision.model import DetectorModel

AT_ONCE = 16 * BLOCK
"""Number of features that are computed before they are binned."""


def bin_windows(
    windows: Windows,
    features: RectangleArrays,
    max_bins: int | Literal["exact"],
    n_threads: int = 1,
) -> TrainingSet:
    """Compute and bin the features of windows; "exact" also keeps their values, for exact stumps."""
    exact = max_bins == "exact"
    most = MOST_BINS if max_bins == "exact" else max_bins
    kept: list[Floats] = []
    n_features = len(features.planes)
    blocks = np.zeros((-(-n_features // BLOCK), len(windows), BLOCK), dtype=np.uint8)
    edges: list[Floats] = []
    for first in range(0, n_features, AT_ONCE):
        some = np.arange(first, min(first + AT_ONCE, n_features))
        values = windows.values(take_features(features, some))
        kept += [values] if exact else []
        binner = fit_binner(values, max_bins=most, n_threads=n_threads)
        own = binner.transform(values, n_threads).blocks
        blocks[first // BLOCK : first // BLOCK + len(own)] = own
        edges += binner.edges
    binner = Binner(tuple(edges), np.zeros(n_features, dtype=np.uint8))
    offsets = np.concatenate([[0], np.cumsum(binner.n_bins)]).astype(np.int32)
    bins = Bins(blocks, offsets, binner.categorical)
    whole = np.concatenate(kept, axis=1) if kept else None
    return TrainingSet(bins, binner, n_threads, values=whole)


@dataclass(frozen=True)
class WindowTrees:
    """A weak learner of trees on features that are already binned."""

    data: TrainingSet
    options: Tree | Stump = field(default_factory=Tree)

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""
        return self.options.rounds

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""
        return self.options.shrinkage

    @property
    def categorical(self) -> list[int]:
        """No feature is categorical."""
        return []

    def prepare(self, rows: Rows, n_threads: int = 1) -> Prepared:
        """The binned features."""
        del n_threads  # the data have their own
        if isinstance(self.options, Stump):
            return PreparedWindowStumps(rows, self.options, self.data, schedule(self.options))
        return PreparedWindowTrees(rows, self.options, self.data, schedule(self.options))


class PreparedWindowTrees(PreparedTree):
    """Grows trees on binned features of windows."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.data.n_features


class PreparedWindowStumps(PreparedStump):
    """Searches features of windows for stumps."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.data.n_features


N_FOLDS = 3
"""Folds of the objects that the exit thresholds are chosen on."""
FIRST_STAGES = (0.25, 0.5)
"""Shares of the terms in the first stages, whose false alarms are easy to find."""
LEAST_LOSS = 1e-12
"""Boosting ends at this share of the first loss: on windows that one term separates, scores would explode."""
SHARE_OF_RANDOM = 0.5
"""Share of the weight of backgrounds that random windows have at first; false alarms have the rest. The
first terms then learn to reject what most windows look like, so that these are left early."""
MOST_FOLLOWED = 2000
"""Number of random backgrounds by which exit thresholds are compared."""
FEW = 5
"""With fewer new false alarms, another stage would learn nothing."""


class Stage(NamedTuple):
    """Record of one stage of training."""

    stage: int
    n_terms: int
    n_backgrounds: int
    """Number of background windows trained on."""
    detection_rate: float
    """Share of the crops that are detected by terms that were fitted on others."""
    false_alarm_rate: float
    """False alarms per scanned window of the backgrounds."""
    terms_per_window: float
    """Mean number of terms of the scanned windows."""


class Boosting(NamedTuple):
    """How the terms are boosted."""

    shrinkage: float
    trimming: float | None
    bins: int | Literal["exact"]
    staged: bool
    """Whether windows are left after the 2nd, 4th, 8th, … term only."""


@dataclass(frozen=True)
class DetectorPlan:
    """Settings of the training of a detector."""

    window: Size
    pool: RectangleArrays
    n_terms: int
    learner: Tree | Stump
    boosting: "Boosting"
    price: float
    detection: float
    """Least share of the left-out crops to detect."""
    target: float
    """False alarms per window at which training ends."""
    miss: float
    """Share of the objects that may be lost by leaving windows early."""
    n_windows: int
    """Maximum number of background windows."""
    max_stages: int
    step: int
    seed: int
    n_threads: int


def window_trees(depth: int, outputs: Literal["leaf", "tree"]) -> Tree:
    """Trees of a detector; those with one output are searched by pruning."""
    return Tree(depth, outputs, search="pruned" if outputs == "tree" else "auto")


class TrainedDetector(NamedTuple):
    """A detector, and how it came about."""

    model: DetectorModel
    stages: list[Stage]
    left_out_scores: Floats
    """(crops,) score of each crop, by terms that were fitted on others."""


def train_detector(
    crops: Bytes,
    groups: NDArray[np.int64],
    backgrounds: Backgrounds,
    plan: DetectorPlan,
    told: Callable[[Stage], Any] | None = None,
) -> TrainedDetector:
    """Train on (N, H, W) crops of objects; crops of one group are left out together."""
    rng = np.random.default_rng(plan.seed)
    drawn = backgrounds.draw(min(plan.n_windows // 3, max(2000, 2 * len(crops))), rng)
    mistaken = drawn[:0]
    stages: list[Stage] = []
    while True:
        at = len(stages)
        share = FIRST_STAGES[at] if at < len(FIRST_STAGES) else 1.0
        n_terms = max(1, round(share * plan.n_terms))
        bench = _Bench(crops, drawn, mistaken, plan)
        model = bench.boost(n_terms)
        left_out = bench.left_out_traces(groups, n_terms)
        threshold = lowest_threshold(left_out[-1], plan.detection)
        exits = bench.exit_thresholds(model, left_out, threshold)
        model = replace(model, exit_thresholds=exits, threshold=threshold)
        n_others = len(drawn) + len(mistaken)
        room = plan.n_windows - n_others
        wanted = min(max(room, 1), max(1000, plan.n_windows // 3))
        mined = backgrounds.mine(model, wanted, plan.step, rng, plan.n_threads)
        found = float(np.mean(left_out[-1] > threshold))
        terms = mined.n_terms / max(1, mined.n_scanned)
        stages.append(Stage(at, n_terms, n_others, found, mined.rate, terms))
        if told is not None:
            told(stages[-1])
        full = n_terms == plan.n_terms
        if full and (mined.rate <= plan.target or len(mined.windows) < FEW or room <= 0):
            break
        if full and len(stages) >= plan.max_stages:
            break
        if room > 0:
            mistaken = np.concatenate([mistaken, mined.windows])
    return TrainedDetector(model, stages, left_out[-1] - threshold)


def lowest_threshold(scores: Floats, detection: float) -> float:
    """The largest threshold, at most 0, that at least the share `detection` of the scores are above."""
    wanted = math.ceil(detection * len(scores) - 1e-9)
    lowest = np.sort(scores)[len(scores) - wanted] if wanted > 0 else np.inf
    return float(min(0.0, np.nextafter(lowest, -np.inf)))


class _Bench:
    """Binned windows of objects (class 1) and backgrounds (class 0), on which detectors are boosted.

    Backgrounds are drawn at random, or were mistaken for objects in earlier stages.
    """

    def __init__(self, crops: Bytes, drawn: Bytes, mistaken: Bytes, plan: DetectorPlan) -> None:
        self.plan, self.crops, self.drawn = plan, crops, drawn
        parts = [crops, drawn, mistaken]
        windows = Windows(np.concatenate(parts), n_planes(plan.pool), plan.n_threads)
        self.data = bin_windows(windows, plan.pool, plan.boosting.bins, plan.n_threads)
        self.part = np.repeat(np.arange(3), [len(part) for part in parts])
        self.labels = (self.part == 0).astype(np.int32)

    def boost(
        self,
        n_terms: int,
        absent: NDArray[np.bool_] | None = None,
    ) -> DetectorModel:
        """Boost trees, without the crops that are absent."""
        plan = self.plan
        weight = np.ones(len(self.part))
        if absent is not None:
            weight[: len(absent)][absent] = 0
        random = SHARE_OF_RANDOM if (self.part == 2).any() else 1.0
        shares = 1.0, random, 1 - random  # both classes have the same weight
        for part, share in enumerate(shares):
            own = self.part == part
            weight[own] *= len(weight) / 2 * share / max(1.0, weight[own].sum())
        costs = np.array([[0.0, 1.0], [plan.price, 0.0]])
        nothing = np.zeros((len(self.labels), 0))  # the features are binned already
        samples = Samples(nothing, self.labels, costs, weight=weight)
        settings = Settings(
            WindowTrees(self.data, plan.learner),
            n_terms,
            plan.boosting.shrinkage,
            LEAST_LOSS,
            sampling=Sampling(weight_trimming=plan.boosting.trimming),
            seed=plan.seed,
            n_threads=plan.n_threads,
        )
        ensemble = train(MemoryRows.of(samples, plan.n_threads), settings)
        found = ensemble.of_kind(Trees)
        trees = found[0][1] if found else Trees.none(2)
        return DetectorModel.of(plan.window, plan.pool, trees)

    def left_out_traces(self, groups: NDArray[np.int64], n_terms: int) -> Floats:
        """(T, N) partial sums of each crop, by a detector trained without the crops of its fold."""
        names = np.unique(groups)
        folds = np.random.default_rng(self.plan.seed).permutation(len(names)) % N_FOLDS
        fold = folds[np.searchsorted(names, groups)]
        traces = np.zeros((n_terms, len(groups)))
        for k in range(min(N_FOLDS, len(names))):
            absent = fold == k
            if absent.all():
                continue
            model = self.boost(n_terms, absent)
            own = model.partial_sums(self.crops[absent], self.plan.n_threads)
            traces[: len(own), absent] = own
            traces[len(own) :, absent] = own[-1:] if len(own) else 0
        return traces

    def exit_thresholds(self, model: DetectorModel, left_out: Floats, threshold: float) -> Floats:
        """(T,) thresholds that are low enough for crops left out, and for the crops that were fitted.

        Random backgrounds tell how many terms are saved.
        """
        n_threads, miss = self.plan.n_threads, self.plan.miss
        others = model.partial_sums(self.drawn[:MOST_FOLLOWED], n_threads)
        objects = left_out[: len(model)], model.partial_sums(self.crops, n_threads)
        exits: Floats = np.min(
            [choose_exit_thresholds(own, others, threshold, miss) for own in objects], axis=0
        )
        return between_stages(exits) if self.plan.boosting.staged else exits


def between_stages(exits: Floats) -> Floats:
    """The thresholds after the 2nd, 4th, 8th, … term: small and rough stages first [ADA, Sec. 3.4.3]."""
    n_done = np.arange(1, len(exits) + 1)
    ends = (n_done & (n_done - 1) == 0) & (n_done > 1)
    return np.where(ends, exits, -np.inf)
