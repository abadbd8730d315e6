"""What `rebel train` keeps of the training rows, and how it says so."""

from dataclasses import replace
from typing import Any, NamedTuple

from rebelboost.base.text import counted
from rebelboost.files.privacy import ROWS
from rebelboost.tables.schema import Understanding

WITHOUT_ROWS = {"auto": "auto_trees", "auto_trees": "auto_trees", "tree": "tree", "stump": "stump"}
"""Learner → the one to use for a model without rows."""


class KeptRows(NamedTuple):
    """What a model file keeps of the training rows."""

    rows: str = "values"
    """One of `ROWS`."""
    names: bool = True
    """Whether rows are named by the identifier column; otherwise by their numbers."""

    def words(self) -> list[str]:
        """The options on the command line."""
        words = [] if self.rows == "values" else ["--rows", self.rows]
        return words if self.names else [*words, "--no-names"]

    def learner(self, wanted: str) -> str:
        """The learner to use; for a model without rows, one that keeps none."""
        if self.rows not in ROWS:
            raise ValueError(f"--rows is {self.rows!r}: choose one of {', '.join(ROWS)}")
        if self.rows != "none":
            return wanted
        if wanted not in WITHOUT_ROWS:
            raise ValueError(
                f"--learner {wanted} compares cases with training rows, so it needs them: use another "
                "--learner, or --rows ids"
            )
        return WITHOUT_ROWS[wanted]

    def of_table(self, understanding: Understanding) -> Understanding:
        """What is kept of the description of the table: without rows, no cells and no extreme targets."""
        if self.rows != "none":
            return understanding
        return replace(understanding, readings={}, spread=())

    def told(self, model: Any) -> str:
        """Say what the file holds of the training rows."""
        n_rows = len(model.ensemble_.example_rows)
        if self.rows == "none":
            return "no training rows; names of columns, classes and categories"
        if not n_rows:
            scored = "" if getattr(model, "cross_fit_", None) is None else "a score of each and "
            return f"no values of training rows, but {scored}hashes (--rows none: not even that)"
        rows = counted(n_rows, "training row")
        if self.rows == "ids":
            return (
                f"the numbers or names of {rows}; their values can be computed from the comparisons"
            )
        is_named = any(
            isinstance(label, str) for label in model.model_.provenance.row_labels.values()
        )
        names = " and names" if is_named else ""
        fewer = "--rows none keeps none"
        return f"the values{names} of {rows}: take care whom you give it to ({fewer})"
