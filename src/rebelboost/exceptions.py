"""The errors and warnings that this package raises by itself."""


class SlowKernelsWarning(UserWarning):
    """The compiled kernels are missing; NumPy does the same work, more slowly."""


class CostError(ValueError):
    """A cost matrix, or cost rows, that cannot be meant."""


class EvaluationError(ValueError):
    """Samples that a model cannot be judged by."""


class SingleClassWarning(UserWarning):
    """There is one class only, which is then always predicted."""


class CostDiagonalWarning(UserWarning):
    """Right decisions were given a cost; it has been subtracted from their row."""


class RareClassWarning(UserWarning):
    """A class has one sample only."""


class UnknownCategoryWarning(UserWarning):
    """A categorical feature has values that training never saw; they count as missing."""


class TableError(ValueError):
    """A file that is no table, or a table that cannot be learned from or does not fit the model."""


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no sound model."""
