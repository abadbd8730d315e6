"""Errors and warnings of this package."""


class SlowKernelsWarning(UserWarning):
    """The compiled kernels are missing; NumPy is used instead, which is slower."""


class CostError(ValueError):
    """The costs are invalid; the message names the entry and the fix."""


class EvaluationError(ValueError):
    """The model cannot be evaluated on these samples."""


class SingleClassWarning(UserWarning):
    """The training data have only one class, which is always predicted."""


class CostDiagonalWarning(UserWarning):
    """Correct decisions have a cost, which was subtracted from the whole row of the cost matrix."""


class RareClassWarning(UserWarning):
    """A class has only one sample."""


class UnknownCategoryWarning(UserWarning):
    """A categorical feature has values that are not in the training data; they count as missing."""


class UnreadCellWarning(UserWarning):
    """Cells have another format than in the training data; they count as missing."""


class NumbersAsTextWarning(UserWarning):
    """A column with numbers is used as categories, because it has text or other values."""


class TableError(ValueError):
    """A file cannot be read as a table, used for training, or matched with a model."""


class ModelFileError(ValueError):
    """A model cannot be saved, or a model file is invalid."""


class ProjectError(ValueError):
    """A project file cannot be used as asked; the message names the value and the fix."""


class ExportError(ValueError):
    """A model cannot be exported, or an exported model cannot be run."""


class ImageError(ValueError):
    """An image cannot be read or used; the message names the image and the fix."""


class ImageWarning(UserWarning):
    """Images were resized or skipped."""


class PartitionError(ValueError):
    """A partition of spread rows cannot be used; the message names its number, counted from 0."""


class ClusterError(RuntimeError):
    """Training on a cluster cannot go on: the scheduler, or all workers, are lost."""
