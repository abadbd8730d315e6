"""Several rounds in one kernel call, between the stages at which somebody looks at a fit.

Terms, scores and records are those of single rounds, to the bit. Python does little for each of them, and
other threads can run in the meantime.
"""

import bisect
import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.round_arrays import Boosted, RoundLog
from rebelboost.boosting.callbacks import Callback, Tolerance, waits
from rebelboost.boosting.plan import Plan
from rebelboost.boosting.rounds import Held, Round
from rebelboost.boosting.state import REFRESH, HeldOut, State
from rebelboost.costs.judge import UNJUDGED
from rebelboost.learners.base import Ahead, Prepared
from rebelboost.losses.exponential import ExponentialLoss, LocalWeights, log_total_of
from rebelboost.model.queries import Queries
from rebelboost.model.terms import Terms

MOST_VISITED = 1 << 26
"""Limit of the values that are visited in one call: a user who interrupts does not want to wait."""
MARGIN = 1 + 1e-6
"""Calls end a little before a tolerance is reached, whose exact value `Tolerance` compares."""


class OneOf(NamedTuple):
    """One of several terms, for the record of its round."""

    terms: Terms
    place: int

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""
        return self.terms.take(np.array([self.place])).describe(names)


class GoingAhead:
    """Does several rounds at once, as far as nobody looks at the fit between them."""

    def __init__(
        self, prepared: Prepared, state: State, plan: Plan, held_out: HeldOut | None
    ) -> None:
        self.prepared, self.state, self.plan, self.held_out = prepared, state, plan, held_out
        self.states = [state] if held_out is None else [state, held_out.state]
        self.log_level = -math.inf
        self._most = max(1, MOST_VISITED // max(1, prepared.n_samples * prepared.n_features))

    @classmethod
    def of(
        cls,
        prepared: Prepared,
        state: State,
        plan: Plan,
        held_out: HeldOut | None,
        callbacks: Sequence[Callback],
    ) -> "GoingAhead | None":
        """None if rounds have to be done one by one."""
        states = [state] if held_out is None else [state, held_out.state]
        if not (
            prepared.goes_ahead
            and plan.sampling.is_of_features
            and all(map(waits, callbacks))
            and all(map(_can_go_ahead, states))
        ):
            return None
        ahead = cls(prepared, state, plan, held_out)
        levels = [each.log_level for each in callbacks if isinstance(each, Tolerance)]
        ahead.log_level = max(levels, default=-math.inf)
        return ahead

    def go(self, t: int, began: float) -> tuple[list[Terms], list[Round]]:
        """Do rounds from t on, up to the next stage; return their terms and records, which may be none."""
        n_rounds = self._n_rounds(t)
        if n_rounds < 2:
            return [], []
        starts = [_weights(state) for state in self.states]
        first = [(weights.exponent, weights.log_total) for weights in starts]
        log = RoundLog.empty(n_rounds, self.state.loss.n_classes)
        before = time.perf_counter() - began
        terms = self.prepared.go_ahead(self._ahead(t, n_rounds, log))
        if not terms:
            return [], []
        n_done = sum(map(len, terms))
        log = log.first(n_done)
        for kind, state in enumerate(self.states):
            state.note(log, kind)
        totals = [
            _log_totals(state, log, kind, exponent)
            for kind, (state, (exponent, _)) in enumerate(zip(self.states, first, strict=True))
        ]
        seconds = np.linspace(before, time.perf_counter() - began, n_done + 1)[1:]
        single = [OneOf(each, i) for each in terms for i in range(len(each))]
        return terms, self._records(t, single, log, [first[0][1], *totals[0]], totals[1:], seconds)

    def _records(
        self,
        t: int,
        terms: list[OneOf],
        log: RoundLog,
        log_totals: list[float],
        held_totals: list[list[float]],
        seconds: Floats,
    ) -> list[Round]:
        """`log_totals` begin before the first round; `held_totals` has one list, if samples are held out."""
        loss, part = _loss(self.state), self.plan.part
        rates, held_rates = (log.rates[:, kind].tolist() for kind in (0, 1))
        held: list[Held | None] = [None] * len(terms)
        if held_totals:
            of_held = _loss(self.states[1]).log_loss_at
            held = [
                Held(of_held(total), *judged)
                for total, judged in zip(held_totals[0], held_rates, strict=True)
            ]
        return [
            Round(
                part=part,
                index=t + i,
                log_loss=loss.log_loss_at(log_totals[i + 1]),
                loss_ratio=math.exp(log_totals[i + 1] - log_totals[i]),
                edge=edge,
                bound=loss.bound(edge),
                error=error,
                cost=cost,
                held=held[i],
                hypothesis=terms[i],
                seconds=spent,
            )
            for i, (edge, (error, cost), spent) in enumerate(
                zip(log.edges.tolist(), rates, seconds.tolist(), strict=True)
            )
        ]

    def _n_rounds(self, t: int) -> int:
        """Rounds up to the next stage, to the next time that weights are recomputed, and to the end."""
        n_terms, stages = self.state.n_terms, self.plan.stages
        place = bisect.bisect_right(stages, n_terms)
        to_stage = stages[place] - n_terms if place < len(stages) else self.plan.rounds
        return min(to_stage, REFRESH - n_terms % REFRESH, self.plan.rounds - t, self._most)

    def _ahead(self, t: int, n_rounds: int, log: RoundLog) -> Ahead:
        prepared, sampling, draws = self.prepared, self.plan.sampling, self.plan.draws()
        keys, allowed = np.empty(n_rounds, dtype=np.uint64), []
        for i in range(n_rounds):
            rng = draws.at(t + i)
            keys[i] = rng.key
            if sampling.feature_subsample < 1:
                allowed.append(sampling.features(prepared.n_features, rng))
        if not allowed:
            allowed.append(np.ones(prepared.n_features, dtype=np.uint8))
        held = self.held_out
        return Ahead(
            np.arange(prepared.n_samples, dtype=np.int32),
            np.stack(allowed),
            keys,
            self.plan.shrinkage,
            self._least_total(),
            self.state.boosted,
            self._nobody() if held is None else held.state.boosted,
            Queries(np.empty((0, prepared.n_features))) if held is None else held.queries,
            None if held is None else held.bins,
            log,
        )

    def _least_total(self) -> float:
        """The sum of weights, as they are scaled now, from which the tolerance may be reached."""
        log_least = self.log_level + math.log(self.state.loss.total_weight)
        log_least -= _weights(self.state).exponent * math.log(2)
        return MARGIN * math.exp(min(log_least, 700.0))

    def _nobody(self) -> Boosted:
        """No held-out samples."""
        planes, n_classes = self.state.boosted.weights, self.state.loss.n_classes
        no_labels = np.empty(0, dtype=np.int32)
        return Boosted(
            np.empty((len(planes), 0, n_classes)),
            np.empty((0, n_classes)),
            np.zeros(n_classes),
            no_labels,
            UNJUDGED,
        )


def _can_go_ahead(state: State) -> bool:
    """Whether kernels can add terms to the samples, and judge decisions on them."""
    return (
        isinstance(state.weights, LocalWeights)
        and isinstance(state.loss, ExponentialLoss)
        and len(state.judge.for_kernels.labels) > 0
    )


def _weights(state: State) -> LocalWeights:
    assert isinstance(state.weights, LocalWeights)
    return state.weights


def _loss(state: State) -> ExponentialLoss:
    assert isinstance(state.loss, ExponentialLoss)
    return state.loss


def _log_totals(state: State, log: RoundLog, kind: int, exponent: int) -> list[float]:
    """Logarithm of the sum of weights after each round; the last may have been recomputed from scores."""
    exponents = exponent + np.cumsum(log.shifts[:, kind])
    totals = map(log_total_of, log.totals[:-1, kind].tolist(), exponents[:-1].tolist())
    return [*totals, state.weights.log_total]
