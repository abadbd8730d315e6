"""What `structure.py` finds in a source tree: imports, sites of certain kinds, hops of a fit."""
