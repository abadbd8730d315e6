"""Random numbers of the rounds of a fit, by keys: they do not depend on the rounds before."""

import numpy as np

BITS = 2**64


def key_of(*parts: int) -> int:
    """A key of 64 bits for a purpose, such as (seed, round, part of the model). Order matters."""
    key = 0
    for part in parts:
        key = _mix((key ^ _mix((part + 1) * 0x9E3779B97F4A7C15 % BITS)) * 0xD1342543DE82EF95 % BITS)
    return key


def nth_key(key: int, n: int) -> int:
    """The n-th key of a purpose: the kernels' random number n of `key`."""
    return _mix((key + (n + 1) * 0x9E3779B97F4A7C15) % BITS)


def _mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % BITS
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % BITS
    return z ^ (z >> 31)


# ---- draws


class Draws(np.random.Generator):
    """NumPy's generator with a key for each round, from which the kernels draw their own numbers.

    A round's numbers depend on the parts of the key and on its number only, not on the rounds before it.
    """

    def __init__(self, *parts: int) -> None:
        # Philox is keyed: a new key takes half a microsecond, a new generator forty.
        self._bits = np.random.Philox(key=0)
        super().__init__(self._bits)
        self._state = self._bits.state
        self.key_of_rounds = key_of(*parts)
        """The key of round t is the kernels' random number t of this one."""
        self.key = 0
        """Key of the current round, of 64 bits."""

    def at(self, t: int) -> "Draws":
        """Go to the first number of round t."""
        self.key = nth_key(self.key_of_rounds, t)
        self._state["state"]["key"][0] = self.key
        self._bits.state = self._state
        return self


def key_from(rng: np.random.Generator) -> int:
    """The key of the round, or one drawn from another generator."""
    return rng.key if isinstance(rng, Draws) else int(rng.integers(2**63))
