"""Alterations that know what a model file says: several parts change together, and stay plausible."""

import json
import re

import numpy as np

from fuzz.altering import VALUES, described_by, parts_of, signed_if_small

TABLES = (
    ("rows.numbers", "rows"),
    ("examples.rows", "examples.classes", "examples.values"),
    ("missing_features",),
    ("cross_fit.left_out", "cross_fit.rows"),
    ("cross_fit.standings", "cross_fit.names"),
    ("cross_fit.runs",),
    ("intervals.residuals", "intervals.weight"),
    ("history.numbers", "history.counts", "history.held", "history.has_held", "history.terms"),
    ("training_facts",),
    (
        "similarities.kinds",
        "similarities.spaces",
        "similarities.anchors",
        "similarities.rivals",
        "similarities.apart",
        "similarities.outputs",
    ),
    ("spaces.0.rows", "spaces.0.points"),
    ("spaces.1.rows", "spaces.1.points"),
    ("staged.rows", "staged.costs"),
    ("cascade.left",),
    ("cascade.low", "cascade.high", "cascade.risk_temperatures", "cascade.temperatures"),
    ("categorical", "feature_names"),
    ("trees.depths", "trees.signed"),
)
"""Arrays with the same rows; texts by the name of both their arrays."""
SPOKEN = {
    "decision": ["min_risk", "argmax"],
    "loss": ["exponential", "logistic", "squared", "absolute", "huber"],
    "subcosts": ["thesis", "rebel"],
    "training": ["auto", "costs", "neutral"],
    "learner": ["auto", "auto_trees", "stump", "tree", "similarity", "smooth", "kernel"],
    "$": [
        "Tree",
        "Stump",
        "Similarity",
        "SmoothSimilarity",
        "KernelSimilarity",
        "tuple",
        "dict",
        "array",
        "float",
    ],
    "kind": ["scaled", "metric", "precomputed", "numbers", "flags", "texts", "fixed_width_texts"],
    "metric": [
        "euclidean",
        "mahalanobis",
        "seuclidean",
        "cosine",
        "jaccard",
        "canberra",
        "matching",
    ],
    "type": ["float32", "float64", "F64", "I64", "I32", "U8"],
    "binning": ["quantile", "even", "exact"],
    "search": ["auto", "pruned", "exhaustive"],
    "outputs": ["tree", "leaf"],
    "scale": ["auto", "none", "standard", "whitened"],
    "estimator": ["RebelClassifier", "RebelRegressor"],
    "distance": ["path", "height"],
}
"""Words that a field may hold."""
LEARNERS = (
    {"$": "Tree", "depth": 2},
    {"$": "Stump"},
    {"$": "Similarity", "metric": "mahalanobis"},
    {"$": "Similarity", "anchors": 3},
    {"$": "SmoothSimilarity"},
    {"$": "KernelSimilarity"},
)


def alter_rows(blob, rng):
    """Drop, repeat, exchange or move rows of all arrays that belong together."""
    arrays, texts = parts_of(blob)
    known = [table for table in TABLES if any(_is_there(arrays, name) for name in table)]
    table = rng.choice(known)
    n = max(_n_rows(arrays, name) for name in table if _is_there(arrays, name))
    if n == 0:
        return alter_index(blob, rng)
    order = list(range(n))
    what = rng.choice(["drop", "repeat", "swap", "shuffle", "halve", "first"])
    at, other = rng.randrange(n), rng.randrange(n)
    if what == "drop":
        del order[at]
    elif what == "repeat":
        order.insert(at, other)
    elif what == "swap":
        order[at], order[other] = other, at
    elif what == "shuffle":
        rng.shuffle(order)
    elif what == "halve":
        order = order[::2]
    else:
        order = order[:1]
    for name in table:
        if _is_there(arrays, name) and _n_rows(arrays, name) == n:
            _take(arrays, name, order)
    return signed_if_small(arrays, texts), VALUES, f"{what} of rows of {table[0]}"


def _is_there(arrays, name):
    return name in arrays or {f"{name}.text", f"{name}.ends"} <= arrays.keys()


def _n_rows(arrays, name):
    array = arrays.get(name, arrays.get(f"{name}.ends"))
    return len(array) if array.ndim else 0


def _take(arrays, name, order):
    if name in arrays:
        arrays[name] = arrays[name][order]
        return
    found = texts_in(arrays, name)
    put_texts(arrays, name, [found[i] for i in order])


def texts_in(arrays, name):
    joined, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    return [joined[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def put_texts(arrays, name, found):
    arrays[f"{name}.text"] = np.frombuffer(b"".join(found), dtype=np.uint8)
    arrays[f"{name}.ends"] = np.cumsum([len(text) for text in found], dtype=np.int64)


def alter_index(blob, rng):
    """Other whole numbers, within or just beyond those that an array has."""
    arrays, texts = parts_of(blob)
    whole = [n for n in arrays if arrays[n].dtype.kind in "iu" and arrays[n].size]
    whole = [n for n in whole if not n.endswith(".text")] or whole
    if not whole:
        return alter_rows(blob, rng)
    name = rng.choice(whole)
    array = arrays[name]
    least, most = int(array.min()), int(array.max())
    limits = np.iinfo(array.dtype)
    for _ in range(rng.choice([1, 1, 2, 5])):
        new = rng.choice(
            [rng.randint(least, most), most + 1, least - 1, 2 * most, 10**6, 2**31 - 2]
        )
        array.flat[rng.randrange(array.size)] = min(max(new, limits.min), limits.max)
    return signed_if_small(arrays, texts), VALUES, f"indices of {name}"


def alter_amounts(blob, rng):
    """Other numbers of the same kind: of another size, rounded, or with a sign."""
    arrays, texts = parts_of(blob)
    named = [n for n in arrays if arrays[n].dtype.kind == "f" and arrays[n].size]
    if not named:
        return alter_rows(blob, rng)
    name = rng.choice(named)
    array = arrays[name]
    factor = rng.choice([0.0, 0.5, 2.0, -1.0, 1e-3, 1e3, 1e-12, 1e12, 1e-30, 1e30, 1e-290, 1e290])
    at = tuple(rng.randrange(n) for n in array.shape)
    with np.errstate(all="ignore"):
        if rng.random() < 0.3:
            array *= array.dtype.type(factor)
        elif rng.random() < 0.5:
            array[at] = array[at] * array.dtype.type(factor)
        else:
            array[at[0]] = array.flat[rng.randrange(array.size)]
    return signed_if_small(arrays, texts), VALUES, f"amounts of {name}, times {factor}"


def alter_word(blob, rng):
    """Another word that a field may hold, another Boolean, or a nearby number."""
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    places = list(_leaves(model))
    spoken = [(h, k) for h, k in places if k in SPOKEN or isinstance(h[k], bool)]
    holder, key = rng.choice(spoken if spoken and rng.random() < 0.7 else places)
    old = holder[key]
    if isinstance(old, bool):
        holder[key] = not old
    elif key in SPOKEN:
        holder[key] = rng.choice(SPOKEN[key])
    elif isinstance(old, int | float):
        holder[key] = rng.choice([old + 1, old - 1, 2 * old, old / 2, 0, 1, 10**6, 1e-9, int(old)])
    elif isinstance(old, str):
        holder[key] = rng.choice([old[::-1], old.upper(), old + "s", re.sub(r"\d", "0", old), ""])
    else:
        holder[key] = rng.choice([0, 1, True, "auto", 0.5, []])
    texts[described] = json.dumps(model)
    return signed_if_small(arrays, texts), VALUES, f"{key}: {old!r} became {holder[key]!r}"[:200]


def _leaves(found):
    items = found.items() if isinstance(found, dict) else enumerate(found)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _leaves(value)
        else:
            yield found, key


def alter_parameter(blob, rng):
    """A parameter of another kind that a file can hold."""
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    own = model.get("parameters", model)
    name = rng.choice(list(own))
    kind = rng.choice(
        ["array", "flags", "texts", "tuple", "dict", "nested", "learner", "float", "whole"]
    )
    if kind in {"array", "flags"}:
        array = np.array(rng.choice([[1, 2], [0.5], [[0.0, 1.0], [1.0, 0.0]], [1], [3.0]]))
        arrays["parameters.more.0"] = array.astype(np.uint8) if kind == "flags" else array
        own[name] = {"$": "array", "name": "parameters.more.0", "flags": kind == "flags"}
    elif kind == "texts":
        own[name] = {"$": "texts", "items": rng.choice([["a"], ["a", "b"], [], [1, "a"], [None]])}
    elif kind == "tuple":
        own[name] = {"$": "tuple", "items": rng.choice([[], [1, 2], ["a"], [[1], 2]])}
    elif kind == "dict":
        keys = [1, "a", {"$": "tuple", "items": [0, 1]}, {"$": "tuple", "items": ["a", "b"]}]
        own[name] = {"$": "dict", "items": [[rng.choice(keys), rng.choice([1, -1.0, "a", None])]]}
    elif kind == "nested":
        own[name] = [own[name], {"$": "tuple", "items": [own[name]]}]
    elif kind == "learner":
        own[name] = dict(rng.choice(LEARNERS))
    elif kind == "float":
        own[name] = {"$": "float", "is": rng.choice(["inf", "-inf", "nan", "0.5", "1e400", "x"])}
    else:
        own[name] = rng.choice([10**400, -(10**400), 10**18, 2**53 + 1, 1e-320, -0.0])
    texts[described] = json.dumps(model)
    return signed_if_small(arrays, texts), VALUES, f"{kind} as {name}"


def exchange(blob, rng):
    """Two parts of the metadata in each other's place, or one of them twice."""
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    places = list(_leaves(model))
    (one, a), (other, b) = rng.choice(places), rng.choice(places)
    one[a], other[b] = (other[b], one[a]) if rng.random() < 0.5 else (other[b], other[b])
    texts[described] = json.dumps(model)
    return signed_if_small(arrays, texts), VALUES, f"{a} and {b} exchanged"


def twice(blob, rng):
    """Two plausible alterations at once."""
    first, _, what = rng.choice(SINGLE)(blob, rng)
    if len(first) < 100:  # it had too many items to be written
        return first, VALUES, what
    second, _, more = rng.choice(SINGLE)(first, rng)
    return second, VALUES, f"{what}; {more}"


SINGLE = [
    alter_rows,
    alter_index,
    alter_amounts,
    alter_word,
    alter_word,
    alter_parameter,
    exchange,
]
PLAUSIBLE = [*SINGLE, twice]
