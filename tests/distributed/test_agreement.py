"""Labels of all partitions are of one type."""

import numpy as np
import pytest

from rebelboost.distributed.reading import Description, check_agreeing
from rebelboost.exceptions import PartitionError


def part(number, labels):
    return Description(
        number, f"partition {number}", 5, 1, None, ("numbers",), False, {}, np.array(labels), 1.0
    )


@pytest.mark.parametrize(
    "other",
    [[False, True], [0.0, 1.0], [0.5, 1.0], ["0", "1"], np.array(["2020", "2021"], "M8[Y]")],
)
def test_labels_of_another_type_in_one_partition_are_refused(other):
    with pytest.raises(PartitionError, match=r"partition 1: y has labels such as .*: convert them"):
        check_agreeing([part(0, [0, 1]), part(1, other)])


def test_whole_numbers_and_texts_of_any_width_agree():
    check_agreeing([part(0, [0, 1]), part(1, np.array([1, 2], dtype=np.int8))])
    check_agreeing([part(0, ["a"]), part(1, np.array(["bcd"], dtype=object))])
