"""Rounds that were done in one call: columns, from which the record of each is made when it is asked for."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from rebelboost.base.arrays import Floats, Ints
from rebelboost.base.cached import cached_property
from rebelboost.base.round_arrays import RoundLog
from rebelboost.boosting.rounds import Held, Round
from rebelboost.losses.exponential import log_mean_loss, log_total_of
from rebelboost.model.terms import Terms


class OneOf(NamedTuple):
    """One of several terms, for the record of its round."""

    terms: Terms
    place: int

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe it in one line."""
        return self.terms.take(np.array([self.place])).describe(names)


@dataclass(frozen=True, eq=False)
class RoundLosses:
    """RoundLosses of samples after each of R rounds, computed when somebody asks for them."""

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
class Several(Sequence[Round]):
    """R rounds. A record takes longer to make than a round does."""

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

    @overload
    def __getitem__(self, i: int) -> Round: ...
    @overload
    def __getitem__(self, i: slice) -> list[Round]: ...
    def __getitem__(self, i: int | slice) -> Round | list[Round]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        return self._record(range(len(self))[i])

    def __iter__(self) -> Iterator[Round]:
        return map(self._record, range(len(self)))

    @cached_property
    def last(self) -> Round:
        """The last round."""
        return self[-1]

    @cached_property
    def held_costs(self) -> list[float]:
        """(R,) mean costs of the decisions on held-out samples."""
        costs: list[float] = self.log.rates[:, 1, 1].tolist()
        return costs

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum([len(each) for each in self.terms])

    def _record(self, i: int) -> Round:
        held = None
        if self.held_losses is not None:
            held = Held(self.held_losses.log_losses[i], *self.log.rates[i, 1].tolist())
        edge, (began, ended) = float(self.log.edges[i]), self.time
        error, cost = self.log.rates[i, 0].tolist()
        run = int(np.searchsorted(self._ends, i, side="right"))
        terms = self.terms[run]
        log_totals = self.losses.log_totals
        before = log_totals[i - 1] if i > 0 else self.log_total
        return Round(
            part=self.part,
            index=self.first + i,
            log_loss=self.losses.log_losses[i],
            loss_ratio=math.exp(log_totals[i] - before),
            edge=edge,
            bound=math.sqrt(max(0.0, 1 - edge**2)),
            error=error,
            cost=cost,
            held=held,
            hypothesis=OneOf(terms, i - int(self._ends[run]) + len(terms)),
            seconds=began + (ended - began) * (i + 1) / len(self),
        )
