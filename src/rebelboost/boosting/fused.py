"""Several rounds in one kernel call, between callbacks that read the state.

Terms, scores and records are those of single rounds, to the bit. Python does little for each of them, and
other threads can run in the meantime.
"""

import bisect
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import NO_WORK, Floats, Ints
from rebelboost.base.cached import cached_property
from rebelboost.base.kernel_arrays import Boosted, RoundLog
from rebelboost.boosting.callbacks import Callback, Tolerance, all_may_wait
from rebelboost.boosting.rounds import WHOLE, WORK, ColumnBatch, Round, RoundColumns
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.state import REFRESH, HeldOut, State
from rebelboost.costs.judge import UNJUDGED
from rebelboost.learners.base import Ahead, Prepared
from rebelboost.losses.exponential import log_mean_loss, log_total_of
from rebelboost.model.terms import Queries, Terms
from rebelboost.rows.weights import Weights

MOST_VISITED = 1 << 26
"""Limit of the values that are visited in one call: a user who interrupts does not want to wait."""
MARGIN = 1 + 1e-6
"""Calls end a little before a tolerance is reached, whose exact value `Tolerance` compares."""


class TermOfBatch(NamedTuple):
    """One of several terms, for the record of its round."""

    terms: Terms
    place: int

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""
        return self.terms.take(np.array([self.place])).describe(names)


@dataclass(frozen=True, eq=False)
class RoundLosses:
    """Losses of samples after each of R rounds, computed when somebody asks for them."""

    totals: Floats
    """(R, K) sums of the weights."""
    exponents: Ints
    """(R,) the totals are to be multiplied by 2 to these powers."""
    last_log_total: float
    """Logarithm of the sum of the weights at the end. They may have been recomputed from the scores."""
    total_weight: float
    floor: float
    """Of the loss (`ExponentialLoss`)."""

    @cached_property
    def log_totals(self) -> list[float]:
        """(R,) logarithms of the sums of the weights."""
        totals = map(log_total_of, self.totals[:-1].tolist(), self.exponents[:-1].tolist())
        return [*totals, self.last_log_total]

    @cached_property
    def log_losses(self) -> list[float]:
        """(R,) logarithms of the mean loss."""
        return list(map(self._log_loss, self.log_totals))

    @property
    def last_log_loss(self) -> float:
        """Logarithm of the mean loss after the last round."""
        return self._log_loss(self.last_log_total)

    def _log_loss(self, log_total: float) -> float:
        return log_mean_loss(log_total, self.total_weight, self.floor)


@dataclass(frozen=True, eq=False)
class FusedBatch(ColumnBatch):
    """R rounds that one kernel call has done. A record takes longer to make than a round does."""

    first: int
    """Number of the first."""
    part: int
    """Number of the fit."""
    terms: Sequence[Terms]
    """R terms, those of one kind in a row together."""
    log: RoundLog
    log_total: float
    """Logarithm of the sum of the weights before the first round."""
    losses: RoundLosses
    held_losses: RoundLosses | None
    """Of held-out samples, if there are any."""
    time: tuple[float, float]
    """Seconds since the fit began, at the beginning and at the end."""

    def __len__(self) -> int:
        return len(self.log.edges)

    @property
    def first_index(self) -> int:
        """Number of the first round."""
        return self.first

    @cached_property
    def last(self) -> Round:
        """The last round."""
        return self[-1]

    @property
    def last_log_loss(self) -> float:
        """Logarithm of the mean training loss after the last round."""
        return self.losses.last_log_loss

    @property
    def held(self) -> list[tuple[float, float]] | None:
        """Logarithm of the loss, and mean cost, of held-out samples after each round; None without them."""
        if self.held_losses is None:
            return None
        costs: list[float] = self.log.rates[:, 1, 1].tolist()
        return list(zip(self.held_losses.log_losses, costs, strict=True))

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum([len(each) for each in self.terms])

    def hypothesis(self, i: int) -> TermOfBatch:
        """The term of a round."""
        run = int(np.searchsorted(self._ends, i, side="right"))
        terms = self.terms[run]
        return TermOfBatch(terms, i - int(self._ends[run]) + len(terms))

    @cached_property
    def columns(self) -> RoundColumns:
        """The rounds."""
        n, rho, rates = len(self), self.log.edges, self.log.rates
        log_totals, (began, ended) = self.losses.log_totals, self.time
        before = [self.log_total, *log_totals[:-1]]
        numbers = [
            self.losses.log_losses,
            [math.exp(now - then) for now, then in zip(log_totals, before, strict=True)],
            rho,
            [math.sqrt(max(0.0, 1 - ratio**2)) for ratio in rho.tolist()],
            *rates[:, 0].T,
            began + (ended - began) * np.arange(1, n + 1) / n,
            np.full(n, NO_WORK.heavy),
        ]
        counts = np.empty((n, len(WHOLE) + len(WORK)), dtype=np.int64)
        counts[:, 0], counts[:, 1] = self.first + np.arange(n), self.part
        counts[:, len(WHOLE) :] = [getattr(NO_WORK, name) for name in WORK]
        held, has_held = np.full((n, 3), np.nan), self.held_losses is not None
        if self.held_losses is not None:
            held[:, 0], held[:, 1:] = self.held_losses.log_losses, rates[:, 1]
        return RoundColumns(
            np.column_stack(numbers), counts, held, np.full(n, has_held, dtype=np.uint8)
        )


class FusedRounds:
    """Does several rounds in one kernel call, if all callbacks may wait."""

    def __init__(
        self,
        prepared: Prepared,
        state: State,
        settings: Settings,
        held_out: HeldOut | None,
        callbacks: Sequence[Callback],
    ) -> None:
        self.prepared, self.state, self.settings, self.held_out = (
            prepared,
            state,
            settings,
            held_out,
        )
        self.states = [state] if held_out is None else [state, held_out.state]
        self.callbacks = callbacks
        levels = [each.log_level for each in callbacks if isinstance(each, Tolerance)]
        self.log_level = max(levels, default=-math.inf)
        self._most = max(1, MOST_VISITED // max(1, prepared.n_samples * prepared.n_features))
        self._key = settings.draws().key_of_rounds

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        state: State,
        settings: Settings,
        held_out: HeldOut | None,
        callbacks: Sequence[Callback],
    ) -> "FusedRounds | None":
        """None if rounds have to be done one by one."""
        states = [state] if held_out is None else [state, held_out.state]
        if (
            prepared.goes_ahead
            and settings.sampling.is_of_features
            and all_may_wait(callbacks)
            and all(state.can_fuse for state in states)
        ):
            return cls(prepared, state, settings, held_out, callbacks)
        return None

    def go(self, t: int, began: float) -> FusedBatch | None:
        """Do rounds from t on, up to the next stage; return them, or None if there are none."""
        n_rounds = self._n_rounds(t)
        exponents = [_weights(state).exponent for state in self.states]
        log_before = self.state.weights.log_total
        log = RoundLog.empty(n_rounds, self.state.loss.n_outputs)
        before = time.perf_counter() - began
        terms = self.prepared.go_ahead(self._ahead(t, n_rounds, log))
        if not terms:
            return None
        log = log.first(sum(map(len, terms)))
        for kind, state in enumerate(self.states):
            state.note(log, kind)
        losses, *held_losses = (
            _losses(state, log, kind, exponents[kind]) for kind, state in enumerate(self.states)
        )
        return FusedBatch(
            t,
            self.settings.part,
            terms,
            log,
            log_before,
            losses,
            held_losses[0] if held_losses else None,
            (before, time.perf_counter() - began),
        )

    def _n_rounds(self, t: int) -> int:
        """Rounds up to the next stage, to the next time that weights are recomputed, and to the end."""
        n_terms, stages = self.state.n_terms, self.settings.stages
        place = bisect.bisect_right(stages, n_terms)
        to_stage = stages[place] - n_terms if place < len(stages) else self.settings.rounds
        return min(to_stage, REFRESH - n_terms % REFRESH, self.settings.rounds - t, self._most)

    def _ahead(self, t: int, n_rounds: int, log: RoundLog) -> Ahead:
        prepared, sampling = self.prepared, self.settings.sampling
        keys = np.empty(n_rounds, dtype=np.uint64)
        kernels.active.random_numbers(self._key, t, keys)
        held = self.held_out
        return Ahead(
            np.arange(prepared.n_samples, dtype=np.int32),
            sampling.features_by_key(prepared.n_features, keys),
            keys,
            self.settings.shrinkage,
            self._least_total(),
            self.state.boosted,
            self._nobody() if held is None else held.state.boosted,
            self._queries(),
            None if held is None else held.bins,
            log,
        )

    def _queries(self) -> Queries:
        found = None if self.held_out is None else self.held_out.queries
        return Queries(np.empty((0, self.prepared.n_features))) if found is None else found

    def _least_total(self) -> float:
        """The sum of weights, as they are scaled now, from which the tolerance may be reached."""
        log_least = self.log_level + math.log(self.state.loss.total_weight)
        log_least -= _weights(self.state).exponent * math.log(2)
        return MARGIN * math.exp(min(log_least, 700.0))

    def _nobody(self) -> Boosted:
        """No held-out samples."""
        planes, n_classes = self.state.boosted.weights, self.state.loss.n_outputs
        no_labels = np.empty(0, dtype=np.int32)
        return Boosted(
            np.empty((len(planes), 0, n_classes)),
            np.empty((0, n_classes)),
            np.zeros(n_classes),
            no_labels,
            UNJUDGED,
        )


def _weights(state: State) -> Weights:
    assert isinstance(state.weights, Weights)
    return state.weights


def _losses(state: State, log: RoundLog, kind: int, exponent: int) -> RoundLosses:
    """Losses after each round, given the exponent of the weights before the first."""
    loss, exponents = state.loss, exponent + np.cumsum(log.shifts[:, kind], dtype=np.int64)
    totals = log.totals[:, kind]
    return RoundLosses(totals, exponents, state.weights.log_total, loss.total_weight, loss.floor)
