"""Alterations of a model file's bytes and header."""

import json
import math

from fuzz.altering import HUGE, STRUCTURE, VALUES, header_and_data, joined
from rebelboost.files import safetensors as tensors

# ---- alterations of bytes


def flip(blob, rng):
    out = bytearray(blob)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        at = rng.randrange(len(out)) if rng.random() < 0.5 else rng.randrange(min(len(out), 64))
        out[at] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
    return bytes(out), "flipped bits"


def cut(blob, rng):
    keep = rng.choice([0, 1, 7, 8, 9, rng.randrange(len(blob)), len(blob) - 1])
    return blob[:keep], f"cut to {keep} bytes"


def extend(blob, rng):
    return blob + rng.randbytes(rng.choice([1, 8, 100])), "bytes added at the end"


def splice(blob, rng):
    first, last = sorted(rng.randrange(len(blob)) for _ in range(2))
    middle = blob[first:last] * rng.choice([0, 2]) if rng.random() < 0.5 else rng.randbytes(8)
    return blob[:first] + middle + blob[last:], f"bytes {first} to {last} replaced"


def resize_header(blob, rng):
    size = int.from_bytes(blob[:8], "little")
    n = rng.choice([0, 1, size - 8, size + 8, size * 2, len(blob), 2**32, 2**62, 2**64 - 1])
    return (n % 2**64).to_bytes(8, "little") + blob[8:], f"header of {n} bytes"


def noise(blob, rng):
    return rng.randbytes(rng.randrange(200)), "nothing but noise"


IN_BYTES = [flip, flip, cut, extend, splice, resize_header, noise]


# ---- alterations of the header


def alter_header(blob, rng):
    header, data = header_and_data(blob)
    name = rng.choice([n for n in header if n != "__metadata__"])
    place = header[name]
    what = rng.choice(["dtype", "shape", "offsets", "both", "swap", "drop", "rename", "add", "odd"])
    if what == "dtype":
        place["dtype"] = rng.choice([*tensors.TYPES, "BOOL", "BF16", "F8_E4M3", "", 7, None])
    elif what == "shape":
        place["shape"] = _odd_shape(place["shape"], rng)
    elif what == "offsets":
        place["data_offsets"] = _odd_offsets(place["data_offsets"], len(data), rng)
    elif what == "both":
        place["shape"] = _odd_shape(place["shape"], rng)
        axes = place["shape"] if isinstance(place["shape"], list) else []
        n = math.prod(n for n in axes if isinstance(n, int | float))
        size = tensors.TYPES[place["dtype"]].itemsize
        place["data_offsets"][1] = place["data_offsets"][0] + n * size
    elif what == "swap":
        other = rng.choice([n for n in header if n != "__metadata__"])
        key = rng.choice(["dtype", "shape", "data_offsets"])
        place[key], header[other][key] = header[other][key], place[key]
        # Arrays of one size that change places are other values, of the same structure.
        sort = VALUES if key == "data_offsets" else STRUCTURE
        return joined(header, data, rng), sort, f"{key} of {name} and {other} swapped"
    elif what == "drop":
        del header[name]
    elif what == "rename":
        header[rng.choice(["", "x", name + "2", name.upper(), "spaces.9.rows"])] = header.pop(name)
    elif what == "add":
        header["more"] = {"dtype": "U8", "shape": [0], "data_offsets": [len(data)] * 2}
    else:
        header[name] = rng.choice([None, [], {}, 3, "x", {"dtype": "U8"}, {**place, "more": 1}])
    return joined(header, data, rng), STRUCTURE, f"{what} of {name}: {header.get(name)}"


def _odd_shape(shape, rng):
    odd = rng.choice([-1, 0, 1, 2, 3.0, None, True, "3", [], *HUGE])
    choices = [
        [*shape, odd],
        shape[:-1],
        [odd],
        list(reversed(shape)),
        [*shape, 1],
        [1, *shape],
        odd,
    ]
    choices += [
        [n + rng.choice([-1, 1]) for n in shape],
        [odd if i == 0 else n for i, n in enumerate(shape)],
    ]
    choices += [[1] * 40, [0, 2**39, 2**39], [math.prod(shape), 1], [0] * 3]
    return rng.choice(choices)


def _odd_offsets(offsets, n, rng):
    first, last = offsets
    by = rng.choice([-8, -4, -1, 1, 4, 8, n, -n])
    return rng.choice(
        [
            [first + by, last + by],
            [first, last + by],
            [first + by, last],
            [last, first],
            [0, n],
            [0, 2**62],
            [-1, last],
            [first],
            [],
            [first, last, last],
            None,
            [str(first), last],
            [float(first), last],
            [2**63, 2**63 + last - first],
            [n, n],
            [first, None],
        ]
    )


def double_name(blob, rng):
    size = int.from_bytes(blob[:8], "little")
    text = blob[8 : 8 + size].rstrip()
    header = json.loads(text)
    name = rng.choice(list(header))
    doubled = text[:-1] + b"," + json.dumps({name: header[name]}).encode()[1:]
    return joined(doubled, blob[8 + size :], rng), STRUCTURE, f"{name} twice"


def odd_header(blob, rng):
    size = int.from_bytes(blob[:8], "little")
    text, data = blob[8 : 8 + size], blob[8 + size :]
    deep, many = rng.choice([10, 1000, 100_000]), rng.choice([100, 20_000])
    odd = rng.choice(
        [
            b"[]",
            b"{}",
            b"null",
            b"{",
            b"[" * deep,
            b'{"a":' * deep,
            b"\xff" * 16,
            text[:-9],
            b'{"a":[' + b"[]," * many + b"[]]}",
            b'{"a":' + b"9" * many + b"}",
            b'{"a":NaN}',
            text.replace(b":", b":" + b" " * 99),
            text.replace(b'"', b"'"),
            b"\xef\xbb\xbf" + text,
            text.decode().encode("utf-16"),
            text.replace(b"[0,", b"[-0,"),
            text.replace(b"]", b",]"),
        ]
    )
    return joined(odd, data, rng), STRUCTURE, f"header {odd[:30]!r}"


IN_HEADER = [alter_header, alter_header, alter_header, double_name, odd_header]
