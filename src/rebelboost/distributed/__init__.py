"""Training on rows that are spread over several places: threads, files or the workers of a cluster."""

from rebelboost.distributed.files import fit_files

__all__ = ["fit_files"]
