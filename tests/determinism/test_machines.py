"""Other machines and other kernels train the same models, to the bit."""

import pytest

from determinism.machines import MACHINES, differing, parts_under
from determinism.models import SOLVED


@pytest.fixture(scope="module")
def here():
    return parts_under({})


@pytest.mark.parametrize("name", ["NumPy kernels", "hashes of another process"])
def test_every_model_is_the_same_to_the_bit(here, name):
    assert differing(here, parts_under(MACHINES[name])) == {}


@pytest.mark.parametrize("name", ["NumPy without AVX-512", "all of an old machine"])
def test_a_model_that_is_not_solved_by_lapack_is_the_same_on_another_processor(here, name):
    found = differing(here, parts_under(MACHINES[name]))
    assert found.keys() <= SOLVED, found
