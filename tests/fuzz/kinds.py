"""Alterations of a model file by kind: values in arrays, texts, depth of JSON, numbers of the metadata."""

import json
import math

import numpy as np

from fuzz.altering import HUGE, VALUES, described_by, parts_of, signed, signed_if_small

FLOATS = {
    "zero": 0.0,
    "one": 1.0,
    "NaN": math.nan,
    "inf": math.inf,
    "huge": 1e300,
    "large": 1e150,
    "tiny": 5e-324,
    "negative": -1.0,
}
WHOLE = {"zero": 0, "one": 1, "negative": -1, "two": 2}
ORDERS = ("permuted", "reversed", "sorted", "first", "scaled", "negated")
TEXTS = [
    "",
    "a",
    "é",
    "NaN",
    "1e999",
    "-0",
    "true",
    "null",
    "[1]",
    '"a"',
    '"\\ud800"',
    "9" * 400,
    "0.5",
    "5",
]
DEPTHS = [3, 30, 90, 300, 900, 3000, 100_000]


def fill(blob, rng):
    """Values of one kind in a whole array, in one of its rows, or in one place."""
    arrays, texts = parts_of(blob)
    name = rng.choice([n for n in arrays if arrays[n].size])
    array = arrays[name]
    where = rng.choice(["everywhere", "row", "column", "place"])
    part = {
        "everywhere": Ellipsis,
        "row": rng.randrange(len(array)),
        "column": (Ellipsis, rng.randrange(array.shape[-1])),
        "place": tuple(rng.randrange(n) for n in array.shape),
    }[where]
    kind = rng.choice([*_values(array), *ORDERS])
    with np.errstate(all="ignore"):
        if kind in ORDERS:
            array[part] = _ordered(array[part], kind, rng)
        else:
            array[part] = _values(array)[kind]
    return signed(arrays, texts), VALUES, f"{kind} in {name} ({where})"


def _values(array):
    if array.dtype.kind == "f":
        return FLOATS
    limits = np.iinfo(array.dtype)
    least, most = int(limits.min), int(limits.max)
    fitting = {kind: max(value, least) for kind, value in WHOLE.items()}
    return {**fitting, "most": most, "least": least, "size": min(array.size, most)}


def _ordered(values, kind, rng):
    values = np.asarray(values)
    flat = values.ravel()
    if kind == "permuted":
        flat = flat[rng.sample(range(len(flat)), len(flat))]
    elif kind == "reversed":
        flat = flat[::-1]
    elif kind == "sorted":
        flat = np.sort(flat)
    elif kind == "first":
        flat = np.full_like(flat, flat[0])
    elif kind == "scaled":
        flat = flat * values.dtype.type(rng.choice([2, 3, 10, 100]))
        if values.dtype.kind == "f":
            flat = flat * values.dtype.type(10.0 ** rng.choice([-30, -5, 5, 30, 150, 290]))
    else:
        flat = -flat
    return flat.reshape(values.shape)


def alter_text_table(blob, rng):
    """Other texts: repeated, empty, odd, or numbers for words."""
    arrays, texts = parts_of(blob)
    tables = [name[:-5] for name in arrays if name.endswith(".text")]
    tables = [name for name in tables if f"{name}.ends" in arrays]  # not if these are packed
    if not tables:
        return fill(blob, rng)
    name = rng.choice(tables)
    joined, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    found = [joined[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    for _ in range(rng.choice([1, 1, 2])):
        if not found:
            break
        at = rng.randrange(len(found))
        odd = rng.choice(TEXTS).encode()
        found[at] = rng.choice(
            [
                found[0],
                found[-1],
                odd,
                odd,
                found[at] + b" ",
                b"\xff",
                found[at][:-1],
                b'"' + odd + b'"',
            ]
        )
    arrays[f"{name}.text"] = np.frombuffer(b"".join(found), dtype=np.uint8)
    arrays[f"{name}.ends"] = np.cumsum([len(text) for text in found], dtype=np.int64)
    return signed(arrays, texts), VALUES, f"texts of {name}"


def deepen(blob, rng):
    """JSON nested more deeply, in the user's metadata or in a parameter."""
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    deep = rng.choice(DEPTHS)
    opened, closed = rng.choice([("[", "]"), ('{"a":', "}"), ('{"$":"tuple","items":[', "]}")])
    mark = "the deep place"
    if "metadata" in model and rng.random() < 0.5:
        model["metadata"]["deep"] = mark
        place = "metadata"
    else:
        own = model.get("parameters", model)
        place = rng.choice(list(own))
        own[place] = mark
    nested = opened * deep + "1" + closed * deep
    texts[described] = json.dumps(model).replace(json.dumps(mark), nested)
    return signed_if_small(arrays, texts), VALUES, f"{deep} deep in {place}"


def alter_json_number(blob, rng):
    """Another number for one of the metadata's."""
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    places = list(_numbers(model))
    if not places:
        return signed(arrays, texts), VALUES, "no numbers"
    holder, key = rng.choice(places)
    old = holder[key]
    holder[key] = rng.choice(
        [0, 1, -1, 0.0, 0.5, 1.0, -old, old + 1, old - 1, old * 1e300, 1e-300, 1e300, 1e-5, *HUGE]
    )
    texts[described] = json.dumps(model).replace("Infinity", "1e999")
    return signed(arrays, texts), VALUES, f"{key}: {old} became {holder[key]}"


def _numbers(found):
    items = found.items() if isinstance(found, dict) else enumerate(found)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from _numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield found, key


BY_KIND = [fill, fill, fill, fill, alter_text_table, deepen, alter_json_number]
