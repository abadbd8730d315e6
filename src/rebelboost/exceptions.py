"""Exceptions and warnings of this package."""


class SlowKernelsWarning(UserWarning):
    """The compiled kernels are missing. NumPy does the same computations more slowly."""


class CostError(ValueError):
    """A cost matrix, or rows of costs, are invalid."""


class EvaluationError(ValueError):
    """A model cannot be evaluated on the given samples."""


class SingleClassWarning(UserWarning):
    """The training labels have only one class, which will always be predicted."""


class CostDiagonalWarning(UserWarning):
    """Correct decisions were given a cost. It has been subtracted from their row."""


class RareClassWarning(UserWarning):
    """A class has only one sample."""


class UnknownCategoryWarning(UserWarning):
    """A categorical feature has values not seen in training. They are treated as missing."""


class TableError(ValueError):
    """A file is not a readable table, or the table does not suit training or the model."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a file is not a valid model file."""
