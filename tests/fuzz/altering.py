"""Model files as parts that can be altered, and put together again with a checksum."""

import json
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rebelboost import ModelFileError
from rebelboost.files import safetensors as tensors

BYTES, STRUCTURE, VALUES = "bytes", "structure", "values"
HUGE = [2**31, 2**31 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**64, 10**30]


class Altered(NamedTuple):
    blob: bytes
    sort: str
    what: str


# ---- files as parts


class Parts(NamedTuple):
    arrays: dict
    texts: dict


_parsed = lru_cache(maxsize=256)(tensors.parse)


def parts_of(blob):
    """Copies of the arrays and texts of a file, which is parsed once."""
    contents = _parsed(blob)
    return Parts(
        {name: array.copy() for name, array in contents.arrays.items()}, dict(contents.texts)
    )


def signed(arrays, texts):
    """The file of these parts, whatever they are."""
    texts = {**texts, "sha256": tensors.checksum(arrays, texts)}
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    return in_file(tensors._header(arrays, order, texts), arrays, order)


def described_by(texts):
    """The name of the text that describes the model."""
    return "model" if "model" in texts else "detector"


def signed_if_small(arrays, texts):
    """The file of these parts; some file where they have so many items that we would not write them."""
    try:
        return signed(arrays, texts)
    except ModelFileError:
        return b"\x08" + b"\0" * 7 + b"{}      "


def in_file(header, arrays, order):
    return header + b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in order)


def header_and_data(blob):
    size = int.from_bytes(blob[:8], "little")
    return json.loads(blob[8 : 8 + size]), blob[8 + size :]


def joined(header, data, rng):
    """A file with this header; its checksum made anew, if its arrays can be read."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    if isinstance(header, dict):
        header = _resigned(header, data)
        text = json.dumps(header, ensure_ascii=rng.random() < 0.5).encode(errors="replace")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


def _resigned(header, data):
    try:
        arrays = {}
        for name, place in header.items():
            if name != "__metadata__":
                first, last = place["data_offsets"]
                dtype = tensors.TYPES[place["dtype"]]
                if not 0 <= first <= last <= len(data) or math.prod(place["shape"]) > len(data):
                    return header
                arrays[name] = np.frombuffer(data[first:last], dtype).reshape(place["shape"])
        texts = header["__metadata__"]
        return {**header, "__metadata__": {**texts, "sha256": tensors.checksum(arrays, texts)}}
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError):
        return header
