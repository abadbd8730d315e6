"""LOCAL's boosted similarities in NumPy, written from the text of its Secs. 3–5 and footnote 1; slow.

It shares nothing with the package. Names are the paper's: w⁺ and w⁻ are the weights of exp(H) and exp(−H),
G = w⁺ − w⁻ is the text's w∘y, S = s^T + s^F and P = s^F − s^T. Where the text leaves something open:

- "The loss achieved" by a response f is the minimum over a of Eq. 3. For f = ±1 that is Eq. 5, which is no
  loss of other responses. `RANKINGS` has the other readings.
- s^T and s^F are smoothed by CAP·S, without which an output would be infinite where one of them is 0.
- What differs by rounding only (EQUAL, SAME) is equal, and the first one counts. The projection of an axis on
  the eigenspace of the largest eigenvalue is its eigenvector, if the eigenvalue is multiple.
- τ of an isolating similarity is ¼ of the squared distance to the nearest other point.
"""

from dataclasses import dataclass

import numpy as np

CAP = 1e-8
EQUAL, SAME, NO_SIDE = 1e-10, 1e-12, 1e-12


@dataclass(frozen=True)
class Term:
    """A similarity: kind is "constant", "one" or "two"; points by index."""

    kind: str
    anchor: int
    rival: int
    tau: float
    output: np.ndarray


# ---- data [LOCAL, footnote 1; THESIS, Sec. 4.3]


def merged(X, costs, weight):
    """Coincident points as one, with the mean of their costs less the least: the first, costs and weights."""
    groups = {}
    for n, x in enumerate(X):
        groups.setdefault(tuple(x), []).append(n)
    rows = list(groups.values())
    mass = np.array([weight[own].sum() for own in rows])
    means = np.array([costs[n] if len(own) == 1 else weight[own] @ costs[own] / weight[own].sum()
                      for own in rows for n in own[:1]])  # fmt: skip
    return [own[0] for own in rows], means - means.min(axis=1, keepdims=True), mass


def subcosts(costs, labels):
    """c⁺ = √(K−1)/(2‖c‖)·c², c⁻ = ‖c‖/(2√(K−1)) at the label: ½ each if all mistakes cost 1 (LOCAL)."""
    root = np.sqrt(costs.shape[1] - 1)
    plus, minus = np.zeros_like(costs), np.zeros_like(costs)
    for n, (c, y) in enumerate(zip(costs, labels, strict=True)):
        norm = np.sqrt((c**2).sum())
        if norm > 0:
            plus[n], minus[n, y] = root / (2 * norm) * c**2, norm / (2 * root)
    return plus, minus


# ---- responses [LOCAL, Sec. 5.1]


def one_point(x_i, tau, X):
    r = ((X - x_i) ** 2).sum(axis=1)
    return (tau - r) / (tau + r)


def two_points(x_i, x_j, X):
    """⟨d, x − m⟩ / (4‖d‖⁴ + ‖x − m‖⁴), times what makes its largest value 1, at any unit of the values."""
    d, m = (x_i - x_j) / 2, (x_i + x_j) / 2
    squared = d @ d
    from_middle, along = ((X - m) ** 2).sum(axis=1), (X - m) @ d
    along[np.abs(along) <= SAME * (from_middle + squared) / 2] = (
        0  # as far from one as from the other
    )
    return 4 * (4 / 3) ** 0.75 * squared * along / (4 * squared**2 + from_middle**2)


def sign(f):
    return np.where(f > 0, 1.0, -1.0)


def respond(term, points, X, response="real"):
    """The response of a term to each row of X."""
    if term.kind == "constant":
        return np.ones(len(X))
    if term.kind == "one":
        f = one_point(points[term.anchor], term.tau, X)
    else:
        f = two_points(points[term.anchor], points[term.rival], X)
    return f if response == "real" else sign(f)


# ---- outputs and losses [LOCAL, Eqs. 3–5]


def loss_at(f, plus, minus, a):
    growth = np.exp(np.outer(f, a))
    return (plus * growth + minus / growth).sum()


def best_output(f, plus, minus):
    """The a that minimises Eq. 3, class by class."""
    S = (plus + minus).sum(axis=0)
    if np.all(np.abs(f) == 1):  # Eq. 5
        s_true = plus[f < 0].sum(axis=0) + minus[f > 0].sum(axis=0)
        s_false = plus[f > 0].sum(axis=0) + minus[f < 0].sum(axis=0)
        above, below = 2 * s_true + CAP * S, 2 * s_false + CAP * S
        ratio = np.divide(above, below, out=np.ones_like(S), where=S > 0)
        return 0.5 * np.log(ratio)
    return np.array([_newton(f, p, m, s) for p, m, s in zip(plus.T, minus.T, S, strict=True)])


def _newton(f, plus, minus, S):
    """The root of the slope, which rises; bisection where a step leaves what is known to contain the root."""
    if S == 0:
        return 0.0
    low, high, a = -40.0, 40.0, 0.0
    for _ in range(200):
        up, down = plus * np.exp(f * a), minus * np.exp(-f * a)
        slope = (f * (up - down)).sum() + CAP * S * np.sinh(a)
        curvature = (f**2 * (up + down)).sum() + CAP * S * np.cosh(a)
        low, high = (a, high) if slope < 0 else (low, a)
        following = a - slope / curvature
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - a) <= 1e-15 * max(1.0, abs(a)):
            return following
        a = following
    return a


def achieved(f, plus, minus):
    """The minimum of Eq. 3, which is Eq. 5 for f = ±1."""
    return loss_at(f, plus, minus, best_output(f, plus, minus))


def eq5_of_sums(f, plus, minus):
    """Eq. 5 with s^T − s^F = Σ f·w∘y, the text's identity, also where f is not ±1."""
    P, S = f @ (plus - minus), (plus + minus).sum(axis=0)
    return np.sqrt(np.maximum((S - P) * (S + P), 0)).sum()


def eq5_of_signs(f, plus, minus):
    """Eq. 5 with s^T and s^F as the text defines them, by the sign of f·y."""
    return eq5_of_sums(sign(f), plus, minus)


RANKINGS = {"achieved": achieved, "eq5_of_sums": eq5_of_sums, "eq5_of_signs": eq5_of_signs}
"""Readings of "the loss achieved using the two-point localized similarity" [LOCAL, Sec. 5.2, step 5]."""


# ---- steps 0 to 6 [LOCAL, Sec. 5.2]


def find(points, plus, minus, ranking="achieved", response="real", modes="both"):
    """The similarity that a round adds."""
    N = len(points)
    G, S = plus - minus, (plus + minus).sum(axis=0)
    rank, shaped = RANKINGS[ranking], (sign if response == "sign" else lambda f: f)

    # 0. The constant.
    best = Term("constant", -1, -1, np.inf, None)
    least = rank(np.ones(N), plus, minus)
    # 1. The binarized classes.
    side = binarized(G, S)
    # 2. The optimal isolating similarity: 1 at point i and −1 at all others, by Eq. 5.
    losses = []
    for i in range(N):
        P = 2 * G[i] - G.sum(axis=0)
        losses.append(np.sqrt(np.maximum((S - P) * (S + P), 0)).sum())
    i = first_within(np.array(losses), EQUAL)
    distances = ((points - points[i]) ** 2).sum(axis=1)
    others = np.delete(distances, i)
    tau = others.min() / 4 if len(others) else 1.0
    # 3. Its loss.
    loss = rank(shaped(one_point(points[i], tau, points)), plus, minus)
    if loss < least * (1 - EQUAL):
        best, least = Term("one", i, -1, tau, None), loss
    playing = side * side[i] < 0
    while modes == "both" and playing.any():
        # 4. The most similar point of the other class.
        j = first_within(np.where(playing, distances, np.inf), SAME)
        # 5. The loss of the two.
        f = two_points(points[i], points[j], points)
        loss = rank(shaped(f), plus, minus)
        if loss < least * (1 - EQUAL):
            best, least = Term("two", i, j, np.inf, None), loss
        # 6. Remove all points that are similar enough to j.
        playing &= f > f[j] / 2
        playing[j] = False
    return best


def binarized(G, S):
    """sign(v̂₁): v̂₁ = U·q₁, U = G/√S, q₁ the leading eigenvector of UᵀU [LOCAL, Sec. 4]."""
    U = np.where(S > 0, G / np.sqrt(np.where(S > 0, S, 1)), 0)
    values, vectors = np.linalg.eigh(U.T @ U)
    space = vectors[:, values >= values[-1] * (1 - EQUAL)]
    projector = space @ space.T
    near = np.diag(projector)
    v = U @ projector[:, first_within(-near, EQUAL)]
    return np.where(np.abs(v) > NO_SIDE * np.abs(v).max(), np.sign(v), 0)


def first_within(values, share):
    """The first of the values that are the least, up to a share of it."""
    return int(np.flatnonzero(values <= values.min() + share * abs(values.min()))[0])


def boost(X, costs, labels, weight, rounds, *, solve_by_eq5=False, tol=0.0, **options):
    """REBEL with localized similarities: the points, and in each round the term and the loss, a mean."""
    chosen, costs, mass = merged(X, costs, weight)
    points = X[chosen]
    several = mass > weight[chosen]  # their label is the first of the least cost
    labels = np.where(several, costs.argmin(axis=1), labels[chosen])
    c_plus, c_minus = (part * mass[:, np.newaxis] for part in subcosts(costs, labels))
    H = np.zeros_like(costs)
    start = (c_plus + c_minus).sum()
    found = []
    for _ in range(rounds):
        plus, minus = c_plus * np.exp(H), c_minus * np.exp(-H)
        if (plus + minus).sum() < tol * start:
            break
        term = find(points, plus, minus, **options)
        f = respond(term, points, points, options.get("response", "real"))
        shaped = sign(f) if solve_by_eq5 else f
        term = Term(term.kind, term.anchor, term.rival, term.tau, best_output(shaped, plus, minus))
        H = H + np.outer(f, term.output)
        loss = (c_plus * np.exp(H) + c_minus * np.exp(-H)).sum() / weight.sum()
        found.append((term, loss))
    return chosen, found


def scores(points, terms, X, response="real"):
    """H(x) of each row of X."""
    return sum(np.outer(respond(t, points, X, response), t.output) for t in terms)
