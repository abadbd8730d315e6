"""Several rounds in one kernel call, between the stages at which somebody looks at a fit.

Terms, scores and records are those of single rounds, to the bit. Python does little for each of them, and
other threads can run in the meantime.
"""

import bisect
import math
import time
from collections.abc import Sequence

import numpy as np

from rebelboost import kernels
from rebelboost.base.round_arrays import Boosted, RoundLog
from rebelboost.boosting.callbacks import Callback, PatientCallback, Tolerance, all_patient
from rebelboost.boosting.settings import Settings
from rebelboost.boosting.several import RoundLosses, Several
from rebelboost.boosting.state import REFRESH, HeldOut, State
from rebelboost.costs.judge import UNJUDGED
from rebelboost.learners.base import Ahead, Prepared
from rebelboost.model.queries import Queries
from rebelboost.rows.weights import Weights

MOST_VISITED = 1 << 26
"""Limit of the values that are visited in one call: a user who interrupts does not want to wait."""
MARGIN = 1 + 1e-6
"""Calls end a little before a tolerance is reached, whose exact value `Tolerance` compares."""


class GoingAhead:
    """Does several rounds at once, as far as nobody looks at the fit between them."""

    def __init__(
        self,
        prepared: Prepared,
        state: State,
        settings: Settings,
        held_out: HeldOut | None,
        callbacks: Sequence[PatientCallback],
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
    ) -> "GoingAhead | None":
        """None if rounds have to be done one by one."""
        states = [state] if held_out is None else [state, held_out.state]
        if (
            prepared.goes_ahead
            and settings.sampling.is_of_features
            and all_patient(callbacks)
            and all(state.can_fuse for state in states)
        ):
            return cls(prepared, state, settings, held_out, callbacks)
        return None

    def go(self, t: int, began: float) -> Several | None:
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
        return Several(
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
    """RoundLosses after each round, given the exponent of the weights before the first."""
    loss, exponents = state.loss, exponent + np.cumsum(log.shifts[:, kind], dtype=np.int64)
    totals = log.totals[:, kind]
    return RoundLosses(totals, exponents, state.weights.log_total, loss.total_weight, loss.floor)
