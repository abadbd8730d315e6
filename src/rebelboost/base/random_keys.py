"""Keys of the counter-based random numbers that the kernels draw (`kernels.reference.random`)."""

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
