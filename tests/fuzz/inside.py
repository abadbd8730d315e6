"""Alterations of a model file's arrays and metadata, behind its checksum."""

import copy
import json
import math
import warnings

import numpy as np

from fuzz.altering import (
    HUGE,
    STRUCTURE,
    VALUES,
    described_by,
    in_file,
    parts_of,
    signed,
    signed_if_small,
)
from rebelboost.files import safetensors as tensors

ODD_FLOATS = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -1.0, 0.0, -0.0, 1e16, 0.5]
ODD_JSON = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    255,
    1e308,
    -0.5,
    "",
    "x",
    "é" * 200,
    [],
    {},
    [[]],
    *HUGE,
]


# ---- alterations of arrays


def alter_number(blob, rng):
    arrays, texts = parts_of(blob)
    name = rng.choice([n for n in arrays if arrays[n].size])
    array = arrays[name]
    for _ in range(rng.choice([1, 1, 1, 3])):
        at = rng.randrange(array.size)
        array.flat[at] = _odd_number(array, at, rng)
    return signed(arrays, texts), VALUES, f"a number of {name}: {array.flat[at]!r}"


def _odd_number(array, at, rng):
    if array.dtype.kind == "f":
        odd = rng.choice([*ODD_FLOATS, array.flat[rng.randrange(array.size)], rng.gauss(0, 1)])
        with np.errstate(over="ignore"):
            return array.dtype.type(odd)
    least, most = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
    near = int(array.flat[at]) + rng.choice([-2, -1, 1, 2, 5])
    odd = rng.choice(
        [least, most, -2, -1, 0, 1, 2, 3, 12, 13, 32, near, near, array.size, most // 2]
    )
    return min(max(odd, least), most)


def alter_array(blob, rng):
    arrays, texts = parts_of(blob)
    name = rng.choice(list(arrays))
    array = arrays[name]
    what = rng.choice(
        ["longer", "shorter", "empty", "type", "axes", "turned", "drop", "rename", "add"]
    )
    if what == "longer":
        arrays[name] = np.concatenate([array, array[-1:]] if len(array) else [array.ravel(), [0]])
        arrays[name] = arrays[name].astype(array.dtype)
    elif what == "shorter":
        arrays[name] = array[1:] if rng.random() < 0.5 else array[:-1]
    elif what == "empty":
        arrays[name] = np.empty(rng.choice([0, (0, 3), (3, 0), (0, 0, 0)]), dtype=array.dtype)
    elif what == "type":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(rng.choice(list(tensors.TYPES.values())))
    elif what == "axes":
        shape = rng.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)])
        arrays[name] = array.reshape(shape) if array.size else array[np.newaxis]
    elif what == "turned":
        arrays[name] = np.ascontiguousarray(array.T) if array.ndim > 1 else array[:0]
    elif what == "drop":
        del arrays[name]
    elif what == "rename":
        arrays[rng.choice([name + "x", "", "spaces.7.rows"])] = arrays.pop(name)
    else:
        arrays[rng.choice(["more", "spaces.9.rows", "cross_fit.rows"])] = array
    # A square array may be turned into another that is as sound, and a narrower type may hold other numbers.
    lossy = what == "type" and not np.array_equal(arrays[name], array)
    sort = VALUES if what == "turned" or lossy else STRUCTURE
    return signed(arrays, texts), sort, f"{what}: {name}"


def swap_arrays(blob, rng):
    arrays, texts = parts_of(blob)
    one, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    arrays[one], arrays[other] = arrays[other], arrays[one]
    return signed(arrays, texts), VALUES, f"{one} and {other} swapped"


IN_ARRAYS = [alter_number, alter_number, alter_number, alter_array, alter_array, swap_arrays]


# ---- alterations of the metadata


def alter_model(blob, rng):
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    model = json.loads(texts[described])
    holder, key, path = _somewhere(model, rng)
    what = rng.choice(["replace", "replace", "replace", "drop", "add", "wrap"])
    sort = STRUCTURE
    if what == "replace":
        sort, holder[key] = VALUES, rng.choice([*ODD_JSON, _other(model, rng)])
    elif what == "drop":
        del holder[key]
    elif what == "wrap":
        sort, holder[key] = (
            VALUES,
            rng.choice([[holder[key]], {"$": holder[key]}, {"a": holder[key]}]),
        )
    elif isinstance(holder, dict):
        holder[rng.choice(["more", "$", "", "__class__"])] = rng.choice(ODD_JSON)
    else:
        holder.append(rng.choice(ODD_JSON))
    if path[0] == "parameters" and what != "drop":
        sort = VALUES  # another legal parameter may mean another decision
    if isinstance(holder, list) or key == "sample_costs":
        sort = VALUES  # a list may be as sound with other items, and costs by sample may be absent
    texts[described] = json.dumps(model)
    return signed(arrays, texts), sort, f"{what} at {path}"


def _somewhere(model, rng):
    holder, key = model, rng.choice(list(model))
    path = [key]
    while isinstance(holder[key], dict | list) and holder[key] and rng.random() < 0.8:
        holder = holder[key]
        key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        path.append(key)
    return holder, key, path


def _other(model, rng):
    holder, key, _ = _somewhere(model, rng)
    return copy.deepcopy(holder[key])  # it may be put into itself


def odd_model(blob, rng):
    arrays, texts = parts_of(blob)
    described = described_by(texts)
    text = texts[described]
    at, deep = rng.randrange(len(text)), rng.choice([10, 2000, 100_000])
    texts[described] = rng.choice(
        [
            text[:at],
            text[:at] + rng.choice('{}[]",:0e-.N') + text[at + 1 :],
            "[" * deep,
            '{"a":' * deep,
            text[:-1] + ',"estimator":"RebelClassifier"}',
            text.replace("null", "NaN"),
            "",
            "null",
            "[]",
            text.replace(":0", ":1e999"),
            text.replace(":1", ":" + "1" * 5000),
            " " * 999 + text,
            text * 2,
        ]
    )
    sort = VALUES if len(texts[described]) == len(text) else STRUCTURE
    return signed_if_small(arrays, texts), sort, "odd JSON of the model"


def alter_texts(blob, rng):
    arrays, texts = parts_of(blob)
    name = rng.choice(list(texts))
    what = rng.choice(["replace", "drop", "add"])
    if what == "replace":
        odd = [
            "",
            "1",
            "2",
            "0",
            "-1",
            "1.0",
            " 1",
            "²",
            "9" * 30,
            "rebelboost",
            "REBELBOOST",
            "{}",
            "a\0b",
        ]
        texts[name] = rng.choice(odd)
    elif what == "drop":
        del texts[name]
    else:
        texts[rng.choice(["more", "", "pickle"])] = "x"
    if name == "sha256" and what == "replace":
        order = list(arrays)
        order.sort(key=lambda each: (-arrays[each].itemsize, each))
        return in_file(tensors._header(arrays, order, texts), arrays, order), STRUCTURE, "checksum"
    return signed_if_small(arrays, texts), STRUCTURE, f"{what} of the text {name}"


IN_METADATA = [alter_model, alter_model, alter_model, odd_model, alter_texts]
