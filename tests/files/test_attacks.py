"""Small files cannot take much memory or time, whatever they say."""

import numpy as np
import pytest

from fuzz.attacks import ATTACKS, colliding, measure
from rebelboost.base.by_row import ByRow


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_file_takes_memory_and_time_in_proportion_to_its_size(attack):
    n_bytes, seconds, memory, end = measure(attack)
    assert end.startswith(("loaded", "refused")), end
    # What loading may create (`base.checks.room`), and as much for what is computed from it meanwhile.
    assert memory < 2 * (64 * n_bytes + (2 << 20)) + (4 << 20)
    assert memory < 300e6
    assert seconds < 1.0


def test_rows_that_collide_in_a_dict_are_found_like_others():
    rows = colliding(10)
    named = ByRow(rows, [f"row {row}" for row in rows])
    assert list(named) == rows.tolist()
    assert all(named[row] == f"row {row}" for row in rows.tolist())
    assert named == {row: f"row {row}" for row in rows.tolist()}
    others = np.setdiff1d(np.arange(2000), rows)
    assert not any(row in named for row in others.tolist())
    np.testing.assert_array_equal(
        named.places([*rows, *others]), [*range(len(rows)), *(-1 + 0 * others)]
    )


@pytest.mark.parametrize("key", ["3", 3.5, None, (3,)])
def test_what_is_no_row_number_is_not_there(key):
    assert key not in ByRow([3], ["a"])
    assert len(ByRow([], [])) == 0
    assert ByRow([], []).places([1]).tolist() == [-1]
