"""Storage of an estimator's parameters as JSON.

Values that JSON cannot represent are stored as objects, with their type in the field "$".
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import TensorReader, require
from rebelboost.base.names import plain
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import NAMES
from rebelboost.files.texts import Scalar

KIND = "$"
"""Name of the field that holds the type."""
DROPPED = {"callbacks"}
"""Parameters that are code, not data. They are None after loading."""


def _learners() -> dict[str, Any]:
    """Learners that can be stored, by the names of their classes; models of the command have none."""
    from rebelboost.learners import LEARNERS

    return {kind.__name__: kind for kind in LEARNERS.values()}


class ParameterEncoder:
    """Converts parameters to JSON, and collects their arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode_all(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Encode all parameters of an estimator."""
        return {
            name: None if name in DROPPED else self.encode(value, name)
            for name, value in sorted(parameters.items())
        }

    def encode(self, value: Any, where: str) -> Any:
        """Encode one value; `where` is the name of its parameter."""
        value = plain(value)
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {KIND: "float", "is": repr(value)}
        if isinstance(value, list | tuple | Mapping):
            return self._encode_many(value, where)
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        return self._encode_object(value, where)

    def _encode_many(
        self, value: list[Any] | tuple[Any, ...] | Mapping[Any, Any], where: str
    ) -> Any:
        if isinstance(value, Mapping):
            pairs = [[self.encode(side, where) for side in pair] for pair in value.items()]
            return {KIND: "dict", "items": pairs}
        items = [self.encode(item, where) for item in value]
        return items if isinstance(value, list) else {KIND: "tuple", "items": items}

    def _encode_array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype not in NAMES and value.dtype != np.bool_:
            items = [self.encode(item, where) for item in value.ravel().tolist()]
            require_flat(value, where)
            return {KIND: "texts", "items": items}
        name = f"parameters.{where}.{len(self.arrays)}"
        require_flat(value, where, 3)
        self.arrays[name] = value.view(np.uint8) if value.dtype == np.bool_ else value
        return {KIND: "array", "name": name, "flags": value.dtype == np.bool_}

    def _encode_object(self, value: Any, where: str) -> Any:
        from rebelboost.learners import Binary

        if type(value) in _learners().values():
            options = {f.name: getattr(value, f.name) for f in fields(value)}
            return {KIND: type(value).__name__} | {
                name: self.encode(option, name) for name, option in options.items()
            }
        if isinstance(value, Taxonomy):
            paths = self.encode(value.paths, where)
            return {KIND: "Taxonomy", "paths": paths, "distance": value.distance}
        if isinstance(value, np.random.Generator):
            return _encode_generator(value)
        if isinstance(value, np.random.RandomState):
            return _encode_random(value)
        if isinstance(value, Binary):
            raise ModelFileError(
                f"the learner is Binary({type(value.estimator).__name__}), which a model file cannot "
                "store: save the model with pickle or skops, or train with Tree, Stump or Similarity"
            )
        if callable(value):
            raise ModelFileError(
                f"the parameter {where} is a function, which a model file cannot store: give a name, "
                "or save the model with pickle"
            )
        raise ModelFileError(
            f"the parameter {where} is a {type(value).__name__}, which a model file cannot store: give "
            "numbers, strings, lists or arrays"
        )


def check_together(given: Mapping[str, Any]) -> None:
    """Raise an error for parameters of valid types that cannot be used to predict."""
    n_jobs = given.get("n_jobs")
    counted = isinstance(n_jobs, int | np.integer | None) and n_jobs != 0
    require(counted, f"the parameter n_jobs={n_jobs!r}: give a number of threads, or None")
    label = plain(given.get("reject_label"))
    require(
        isinstance(label, Scalar | None),
        f"the reject_label {label!r}, which is neither text nor a number: give one of these",
    )


def require_flat(value: NDArray[Any], where: str, most: int = 1) -> None:
    """Raise an error if an array has too many axes for a model file."""
    if value.ndim > most:
        raise ModelFileError(
            f"the parameter {where} is an array with {value.ndim} axes: give at most {most}"
        )


def _encode_random(state: "np.random.RandomState") -> dict[str, Any]:
    found: Any = state.get_state(legacy=False)
    if found["bit_generator"] != "MT19937":
        raise ModelFileError(
            f"random_state draws from {found['bit_generator']}: give a number, or a plain RandomState"
        )
    words = found["state"]["key"].astype("<u4").tobytes().hex()
    return {
        KIND: "RandomState",
        "key": words,
        "pos": int(found["state"]["pos"]),
        "has_gauss": int(found["has_gauss"]),
        "gauss": float(found["gauss"]),
    }


class ParameterDecoder:
    """Converts JSON back to parameters."""

    def __init__(self, reader: TensorReader) -> None:
        self._reader = reader
        self._makers: dict[str, Any] = {
            "float": lambda found: float(found["is"]),
            "tuple": lambda found: tuple(map(self.decode, found["items"])),
            "dict": lambda found: {self.decode(k): self.decode(v) for k, v in found["items"]},
            "array": self._array,
            "texts": self._texts,
            "Taxonomy": lambda found: Taxonomy(
                self.decode(found["paths"]), distance=found["distance"]
            ),
            "RandomState": _decode_random,
            "Generator": _decode_generator,
        }

    def decode_all(self, found: Any) -> dict[str, Any]:
        """Decode all parameters of an estimator."""
        require(isinstance(found, dict), "parameters that are not an object")
        decoded = {}
        for name, value in found.items():
            try:
                decoded[name] = self.decode(value)
            except ModelFileError:
                raise
            except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
                raise ModelFileError(f"has an invalid parameter {name!r} ({error})") from None
        return decoded

    def decode(self, found: Any) -> Any:
        """Decode one value."""
        if isinstance(found, list):
            return [self.decode(item) for item in found]
        if not isinstance(found, dict):
            return found
        kind = found[KIND]
        if kind in self._makers:
            return self._makers[kind](found)
        options = {name: self.decode(value) for name, value in found.items() if name != KIND}
        return _learners()[kind](**options)

    def _texts(self, found: dict[str, Any]) -> NDArray[Any]:
        items = [self.decode(item) for item in found["items"]]
        require(
            all(isinstance(item, Scalar) for item in items), "an array of neither text nor numbers"
        )
        widest = max((len(item) for item in items if isinstance(item, str)), default=8)
        self._reader.room.take(4 * widest * len(items), "an array of texts, which is")
        return np.array(items)

    def _array(self, found: dict[str, Any]) -> NDArray[Any]:
        array = self._reader.any(found["name"])
        if not found["flags"]:
            return array.copy()
        require(array.dtype == np.uint8 and (array <= 1).all(), "flags that are neither 0 nor 1")
        return array.astype(np.bool_)


def _encode_generator(generator: "np.random.Generator") -> dict[str, Any]:
    found: Any = generator.bit_generator.state
    if found["bit_generator"] != "PCG64":
        raise ModelFileError(
            f"random_state draws from {found['bit_generator']}: give a number, or numpy's default_rng()"
        )
    words = {name: str(word) for name, word in found["state"].items()}  # of 128 bits
    return {
        KIND: "Generator",
        **words,
        "has_uint32": found["has_uint32"],
        "uinteger": found["uinteger"],
    }


def _decode_generator(found: dict[str, Any]) -> "np.random.Generator":
    generator = np.random.default_rng()
    words = {name: int(found[name]) for name in ("state", "inc")}
    half = {name: found[name] for name in ("has_uint32", "uinteger")}
    require(all(0 <= word < 1 << 128 for word in words.values()), "an invalid random state")
    require(half["has_uint32"] in (0, 1), "an invalid random state")
    require(
        type(half["uinteger"]) is int and 0 <= half["uinteger"] < 1 << 32, "an invalid random state"
    )
    generator.bit_generator.state = {"bit_generator": "PCG64", "state": words, **half}
    return generator


def _decode_random(found: dict[str, Any]) -> "np.random.RandomState":
    key = np.frombuffer(bytes.fromhex(found["key"]), dtype="<u4").astype(np.uint32)
    pos, has_gauss, gauss = found["pos"], found["has_gauss"], found["gauss"]
    require(len(key) == 624 and type(pos) is int and 0 <= pos <= 624, "an invalid random state")
    require(has_gauss in (0, 1) and isinstance(gauss, float | int), "an invalid random state")
    state = np.random.RandomState()
    state.set_state(("MT19937", key, pos, has_gauss, float(gauss)))
    return state
