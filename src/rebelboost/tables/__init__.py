"""Files → data frames: `files`, their cells; `columns`, what these mean; `target`, what is to be learned.

`understanding` is what was understood of a table to learn from, and `matching` reads others like it.
"""
