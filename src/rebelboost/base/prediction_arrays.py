"""Arrays of terms in forms that are made for prediction."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints, Outputs


class CodedColumns(NamedTuple):
    """How samples become bytes, for trees whose tests look at bytes."""

    features: NDArray[np.int32]
    """(columns,)"""
    starts: Ints
    """(columns + 1,) a number's code is how many of the thresholds [starts[c], starts[c + 1]) it exceeds."""
    thresholds: Floats
    """Rising within a column, at most 254 of them."""
    missing: Bytes
    """(columns,) code of missing values and unknown categories."""
    categorical: Bytes
    """(columns,) 1 if the code is the category itself, 0 to 254."""


class CodedTrees(NamedTuple):
    """Trees as in `TreeArrays`, with tests that look at bytes."""

    depths: NDArray[np.int32]
    node_offsets: Ints
    leaf_offsets: Ints
    nodes: NDArray[np.uint16]
    """(nodes, 2) column, and test: codes above it go right, or from 256 on those in a set."""
    sets: Bytes
    """(m, 32) the bits of the codes in each set, the lowest code first."""
    outputs: Outputs


class StepArrays(NamedTuple):
    """Piecewise constant functions of single features, for prediction."""

    features: NDArray[np.int32]
    """(functions,)"""
    starts: Ints
    """(functions + 1,) the thresholds of function i are [starts[i], starts[i + 1])."""
    thresholds: Floats
    """Rising within a function."""
    rows: Ints
    """(functions,) first row of its outputs: of numbers that exceed no threshold, or of code 0."""
    categorical: Bytes
    """(functions,) 1 if the values are codes of categories; missing values have row 256 then."""
    outputs: Outputs
    """A row for each number of exceeded thresholds, or for each code, and one for missing values."""
