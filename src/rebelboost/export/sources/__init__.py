"""Functions of exported models, in C and JavaScript."""

from importlib.resources import files


def source(name: str) -> str:
    """The text of a file of this folder."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
