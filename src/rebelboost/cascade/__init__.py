"""Soft cascades: decide most samples by their first terms [THESIS 2.2]."""
