"""Learning with people: rows and labels that come, change and go, and a model that follows them.

A `Project` is one file with the rows of a table, their labels with all changes, the costs and the latest model:

- `store`: the file, a SQLite database in which every change is whole or not there.
- `reading`: rows as text, as they stand in a CSV file, and the table that is made of them.
- `exact`: the model that a fit from scratch to the labelled rows gives, and its hash.
- `current`: this model with the labels that are newer than it, at once.
- `forgetting`: rows that are erased, and the receipt. `asking`: rows whose labels are worth most.
- `following`: rows of a stream, which `thinning` limits in number.
"""

from rebelboost.live.asking import Question, Questions
from rebelboost.live.current import CurrentModel, Provisional
from rebelboost.live.exact import ExactFit
from rebelboost.live.following import Followed
from rebelboost.live.forgetting import Receipt
from rebelboost.live.project import Added, Project
from rebelboost.live.status import Status
from rebelboost.live.store import Change

__all__ = [
    "Added",
    "Change",
    "CurrentModel",
    "ExactFit",
    "Followed",
    "Project",
    "Provisional",
    "Question",
    "Questions",
    "Receipt",
    "Status",
]
