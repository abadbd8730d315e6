"""Proven bounds on the training error, cost and loss.

[ADA] is for two classes and ±1 responses, [THESIS 4.5.1] for many classes and costs, [LOCAL, Sec. 5] for
similarities. All bounds concern the training samples and the class with the highest score (argmax). The
levels of the loss that certify zero cost are in `theory/zero_cost.py`.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import BySample, Floats, Labels, Scores
from rebelboost.boosting.rounds import Round
from rebelboost.model.ensemble import Ensemble

# ---- AdaBoost


def edges(history: Iterable[Round]) -> Floats:
    """γ_t of each round, `Round.edge`: ½ − ε_t for two classes, and half of ρ_t for any number."""
    return np.array([record.edge for record in history])


def error_bounds(edges: ArrayLike) -> Floats:
    """Π √(1 − 4γ_t²) after each round: an upper bound of the training error [ADA, Theorem 3.1]."""
    gamma = np.asarray(edges, dtype=np.float64)
    left: Floats = np.sqrt(np.maximum(0.0, 1 - 4 * gamma**2))
    return np.asarray(np.cumprod(left), dtype=np.float64)


def simple_error_bounds(edges: ArrayLike) -> Floats:
    """exp(−2 Σ γ_t²) after each round: a simpler, weaker upper bound [ADA, Theorem 3.1]."""
    return np.exp(-2 * np.cumsum(np.asarray(edges, dtype=np.float64) ** 2))


def rounds_to_no_error(n_samples: int, edge: float) -> int:
    """The first T > ln m/(2γ²): with edges of at least γ, the training error is then zero [ADA 3.1]."""
    if not 0 < edge <= 0.5:
        raise ValueError(f"the edge is {edge:g}: give a number above 0 and at most ½")
    return math.floor(math.log(n_samples) / (2 * edge**2)) + 1


def randomised_error(scores: Scores, labels: Labels, weight: BySample | None = None) -> float:
    """Error of a randomised decision, which takes class 2 with probability e^F/(e^F + e^−F) [ADA, Ex. 3-3].

    It is at most half the bound of Theorem 3.1. F is half the lead of the second class.
    """
    if scores.shape[1] != 2:
        raise ValueError(
            f"scores have {scores.shape[1]} classes: the randomised decision is for two"
        )
    lead = (scores[:, 1] - scores[:, 0]) * np.where(labels == 1, 1.0, -1.0)
    return float(np.average(np.exp(-np.logaddexp(0.0, lead)), weights=weight))


# ---- margins


def largest_lead(ensemble: Ensemble) -> float:
    """Upper bound of the lead of one class over another: the sum of the largest leads of the terms."""
    return math.fsum(float(np.ptp(term.by_region, axis=1).max()) for term in ensemble)


def margins(scores: Scores, labels: Labels, ensemble: Ensemble) -> BySample:
    """(N,) in [−1, 1]: lead of the true class over the best other class, divided by the largest possible lead.

    For two classes and ±1 responses, y·F(x)/Σα [ADA 3.2]. Negative where argmax is wrong.
    """
    rows = np.arange(len(labels))
    others = scores.copy()
    others[rows, labels] = -np.inf
    lead: BySample = scores[rows, labels] - others.max(axis=1)
    return lead / (largest_lead(ensemble) or 1.0)


# ---- REBEL


def loss_ratio_bound(ratio: ArrayLike, shrinkage: float = 1.0, smoothing: float = 0.0) -> Floats:
    """√(1 − ρ²): upper bound of the loss after a round, divided by the loss before it [THESIS 4.5.1].

    With shrinkage ν, 1 − ν + ν√(1 − ρ²), since the loss is convex along the output. With outputs that
    minimise the loss plus `smoothing` ε of the mass on both sides (`CAP`), √((1 + ε)² − ρ²).
    """
    rho = np.asarray(ratio, dtype=np.float64)
    left = np.sqrt(np.maximum(0.0, (1 + smoothing) ** 2 - rho**2))
    return np.asarray(1 - shrinkage * (1 - left))


# ---- similarities


def similarity_rate(n_classes: int, n_samples: int) -> float:
    """1 − 2/(K·N²): each round leaves at most this share of the loss [LOCAL, Sec. 5]."""
    return 1 - 2 / (n_classes * n_samples**2)


def rebel_similarity_rate(n_samples: int, level: float, least_loss: float) -> float:
    """√(1 − φ²), φ = level/(level + c*)/N: the same with REBEL's subcosts, while the loss is above `level`.

    Here the loss is counted above its minimum c*, `least_loss`. Σ|G| is at least that excess [REBEL S.7.1].
    The isolating learners and the constant add up to 2G_i, so that one of them has ‖P‖₁ ≥ Σ|G|/N, which
    is ρ ≥ φ of the mass, and then the excess falls by √(1 − ρ²) [REBEL S.6.1].
    """
    return math.sqrt(1 - (level / (level + least_loss) / n_samples) ** 2)


def similarity_rounds(n_classes: int, n_samples: int, level: float | None = None) -> int:
    """⌈ln(level) / ln(1 − 2/(K·N²))⌉: rounds until at most `level` of the first loss is left [LOCAL, Sec. 5].

    Zero training error is proven below `zero_cost_level`, divided by the first loss. By default the level
    is 2/(K·N), which is that quotient if all samples weigh the same and all mistakes cost the same; the
    papers call the result T₀.
    """
    share = 2 / (n_classes * n_samples)
    level = share if level is None else level
    return rounds_at_rate(math.log1p(-share / n_samples), level)


def rounds_at_rate(log_rate: float, level: float) -> int:
    """Rounds until at most `level` of the first loss is left, if a round leaves at most e^log_rate of it."""
    return math.ceil(math.log(level) / log_rate) if level < 1 else 1
