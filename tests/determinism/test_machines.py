"""Other machines and other kernels train the same models, to the bit."""

import pytest

from determinism.machines import MACHINES, differing, parts_under


@pytest.fixture(scope="module")
def here():
    return parts_under({})


@pytest.mark.parametrize(
    "name",
    [
        "NumPy kernels",
        "hashes of another process",
        "NumPy without AVX-512",
        "all of an old machine",
    ],
)
def test_every_model_is_the_same_to_the_bit(here, name):
    assert differing(here, parts_under(MACHINES[name])) == {}
