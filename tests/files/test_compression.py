"""Compressed arrays give back every bit, and altered ones are refused before they take memory."""

import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import rebelboost
from rebelboost.base.checks import Room
from rebelboost.exceptions import ModelFileError
from rebelboost.files import safetensors as tensors
from rebelboost.files.compression import compressed, decompressed
from stored_models import all_compressed, assert_same_answers, make


@pytest.mark.parametrize("dtype", tensors.TYPES.values(), ids=str)
@given(data=hnp.arrays(np.uint8, hnp.array_shapes(min_dims=1, max_dims=2, max_side=9)))
def test_compressed_arrays_give_back_every_bit(dtype, data):
    array = np.repeat(data.reshape(len(data), -1), 8, axis=1).view(dtype)
    with all_compressed():
        stored, described = compressed({"a": array, "b": np.arange(2)})
    found = decompressed(stored, json.loads(json.dumps(described)), Room(10**6))
    assert found["a"].dtype == array.dtype
    assert found["a"].shape == array.shape
    assert found["a"].tobytes() == array.tobytes()


def test_alike_leading_bytes_become_small_and_small_arrays_stay_as_they_are():
    arrays = {"a": np.arange(5000) % 7, "random": np.random.default_rng(0).random(5000)}
    stored, described = compressed(arrays | {"small": np.zeros(100)})
    assert described == {"a": ["I64", [5000]]}
    assert stored["a"].nbytes < 1000


def test_a_model_with_compressed_arrays_answers_as_before(tmp_path):
    model, X = make("compressed")
    path = tmp_path / "m.safetensors"
    with all_compressed():
        model.save(path)
    said = json.loads(tensors.read(path).texts["model"])
    assert len(said["packed"]["deflated"]) > 5
    assert_same_answers(model, rebelboost.load(path), X)


# ---- altered files

BYTES = zlib.compress(bytes(range(200)) * 8)
STORED = {"a": np.frombuffer(BYTES, np.uint8)}


def as_bytes(data):
    return {"a": np.frombuffer(data, np.uint8)}


@pytest.mark.parametrize(
    ("stored", "described", "why"),
    [
        (STORED, {"a": ["I64", [201]]}, "do not match"),
        (STORED, {"a": ["I64", [199]]}, "do not match"),
        (STORED, {"a": ["I64", [0]]}, "do not match"),
        (STORED, {"a": ["U8", [10**6, 10**6]]}, "too large for the size"),
        (STORED, {"a": ["U9", [1600]]}, "unknown type"),
        (STORED, {"a": ["U8", [-1600]]}, "shape"),
        (STORED, {"a": ["U8"]}, "invalid compressed"),
        (STORED, {"b": ["U8", [1600]]}, "not there"),
        (STORED, [], "invalid compressed"),
        (as_bytes(BYTES[:-1]), {"a": ["U8", [1600]]}, "do not match"),
        (as_bytes(BYTES + b"more"), {"a": ["U8", [1600]]}, "do not match"),
        (as_bytes(BYTES[:40] + b"!" + BYTES[41:]), {"a": ["U8", [1600]]}, "damaged"),
        (as_bytes(b""), {"a": ["U8", [1600]]}, "do not match"),
        ({"a": np.zeros(9)}, {"a": ["U8", [1600]]}, "not compressed bytes"),
    ],
)
def test_altered_compressed_arrays_are_refused(stored, described, why):
    assert len(decompressed(STORED, {"a": ["I64", [200]]}, Room(1600))["a"]) == 200
    with pytest.raises(ModelFileError, match=why):
        decompressed(stored, described, Room(10**6))
