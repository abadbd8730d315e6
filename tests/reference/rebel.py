"""The whole method in NumPy, written from METHODS 1 and 2; it shares nothing with the package.

Floats instead of fixed point, weights from the scores in every round, one question after the other.
Names: plus and minus are w⁺ and w⁻ (N, K); G = w⁺ − w⁻, W = w⁺ + w⁻; P = Σ f·G, S = Σ W.
"""

from dataclasses import dataclass

import numpy as np

CAP = 1e-8  # smoothing of s± relative to S, which caps an output
LEAST_MASS = 1e-4  # of a leaf with an output of its own, relative to all of the mass


# ---- risk


def thesis_subcosts(costs, labels):
    """c⁺ = √(K−1)/(2‖c‖)·c², c⁻ = ‖c‖/(2√(K−1)) at the label."""
    plus, minus = np.zeros_like(costs), np.zeros_like(costs)
    root = np.sqrt(costs.shape[1] - 1)
    for n, (c, y) in enumerate(zip(costs, labels, strict=True)):
        norm = np.linalg.norm(c)
        if norm > 0:
            plus[n] = root / (2 * norm) * c**2
            minus[n, y] = norm / (2 * root)
    return plus, minus


def rebel_subcosts(costs, labels):
    """β = Σc − (K−1)·max c; c⁺ = ½(c − β), c⁻ = ½(max c − c)."""
    most = costs.max(axis=1, keepdims=True)
    beta = costs.sum(axis=1, keepdims=True) - (costs.shape[1] - 1) * most
    return (costs - beta) / 2, (most - costs) / 2


SUBCOSTS = {"thesis": thesis_subcosts, "rebel": rebel_subcosts}


def half_log_ratio(above, below, smoothing):
    return 0.5 * np.log((above + smoothing) / (below + smoothing))


def loss(plus, minus, added):
    return (plus * np.exp(added) + minus * np.exp(-added)).sum()


# ---- questions


@dataclass(frozen=True)
class Question:
    """Is x_feature > threshold?"""

    feature: int
    threshold: float
    missing_right: bool

    def goes_right(self, X):
        x = X[:, self.feature]
        return np.where(np.isnan(x), self.missing_right, x > self.threshold)


def questions(X, rows):
    """Those that can divide the rows; thresholds lie halfway between values of the whole set."""
    for feature, x in enumerate(X.T):
        values = np.unique(x[~np.isnan(x)])
        after = dict(zip(values, [*(values[:-1] / 2 + values[1:] / 2), np.inf], strict=True))
        here = x[rows]
        thresholds = [after[value] for value in np.unique(here[~np.isnan(here)])]
        for threshold in thresholds[:-1]:
            yield Question(feature, threshold, missing_right=False)
        if np.isnan(here).any():
            for threshold in thresholds:
                yield Question(feature, threshold, missing_right=True)


def first_best(candidates):
    """The question of highest worth; of those that differ by rounding only, the first."""
    worth, best = next(candidates)
    for other, question in candidates:
        if other > worth + 1e-12 * abs(worth):
            worth, best = other, question
    return best


def best_question(X, rows, value):
    """The question whose two sides are worth most together; None where the whole is worth more."""

    def candidates():
        yield value(rows), None
        for question in questions(X, rows):
            right = question.goes_right(X[rows])
            yield value(rows[~right]) + value(rows[right]), question

    return first_best(candidates())


# ---- trees


@dataclass(frozen=True)
class Term:
    questions: list  # in level order; None sends all left
    outputs: np.ndarray  # (leaves, K)


def regions_of(X, nodes):
    """The leaf of each sample."""
    at = np.zeros(len(X), dtype=int)
    while at[0] < len(nodes):
        right = np.zeros(len(X), dtype=bool)
        for node in np.unique(at):
            if nodes[node] is not None:
                right |= (at == node) & nodes[node].goes_right(X)
        at = 2 * at + 1 + right
    return at - len(nodes)


def sums(values, regions, n_regions):
    return np.stack([values[regions == region].sum(axis=0) for region in range(n_regions)])


def next_layer(X, nodes, value):
    regions = regions_of(X, nodes)
    leaves = range(len(nodes) + 1)
    return [best_question(X, np.flatnonzero(regions == leaf), value) for leaf in leaves]


def one_output(X, plus, minus, depth):
    """The best root; layers with the output held fixed, each followed by a new output."""
    G, S = plus - minus, (plus + minus).sum(axis=0)

    def solve(nodes, signs):
        f = signs[regions_of(X, nodes)][:, np.newaxis]
        P = (f * G).sum(axis=0)
        output = half_log_ratio(S - P, S + P, CAP * S)
        return loss(plus, minus, f * output), output, Term(nodes, signs[:, np.newaxis] * output)

    def roots():
        everywhere = Question(0, -np.inf, missing_right=True)
        for question in [everywhere, *questions(X, np.arange(len(X)))]:
            f = np.where(question.goes_right(X), 1, -1)
            yield -np.sqrt(np.maximum(0, S**2 - (f @ G) ** 2)).sum(), question

    root = first_best(roots())
    if root.threshold == -np.inf:
        return solve([], np.ones(1))[-1]
    nodes = [root]
    lowest, output, term = solve(nodes, np.array([-1.0, 1.0]))
    for _ in range(depth - 1):
        saved = -(G @ np.sinh(output))  # half of what f = +1 rather than −1 saves
        layer = next_layer(X, nodes, lambda rows, saved=saved: abs(saved[rows].sum()))
        if not any(layer):
            break
        nodes = nodes + layer
        signs = np.where(sums(saved, regions_of(X, nodes), len(nodes) + 1) > 0, 1.0, -1.0)
        solved = solve(nodes, signs)
        if not solved[0] < lowest:
            break
        lowest, output, term = solved
    return term


def leaf_outputs(X, plus, minus, depth, smoothing, draw):
    """Grow along a random direction u by ⟨P, u⟩²/⟨S, u²⟩; every leaf solves for its own output."""
    totals = (plus + minus).sum(axis=0)
    u = draw(len(totals))
    u -= u.mean()
    u /= np.abs(u).max() * np.sqrt(totals / totals.max())
    signed, mass = (plus - minus) @ u, (plus + minus) @ u**2

    def value(rows):
        if mass[rows].sum() < LEAST_MASS * mass.sum():
            return -np.inf
        return signed[rows].sum() ** 2 / mass[rows].sum()

    nodes = []
    for _ in range(depth):
        layer = next_layer(X, nodes, value)
        if not any(layer):
            break
        nodes = nodes + layer
    n_leaves = len(nodes) + 1
    regions = regions_of(X, nodes)
    smooth = max(smoothing / n_leaves, CAP) * totals
    s_minus, s_plus = sums(minus, regions, n_leaves), sums(plus, regions, n_leaves)
    return Term(nodes, half_log_ratio(s_minus, s_plus, smooth))


# ---- boosting


def boost(X, subcosts, propose, rounds, shrinkage=1.0):
    """Σ f_t·a_t, term by term; `propose(t, plus, minus)` finds one for the weights."""
    c_plus, c_minus = subcosts
    scores, terms = np.zeros_like(c_plus), []
    for t in range(rounds):
        term = propose(t, c_plus * np.exp(scores), c_minus * np.exp(-scores))
        term = Term(term.questions, shrinkage * term.outputs)
        scores = scores + term.outputs[regions_of(X, term.questions)]
        terms.append(term)
    return terms
