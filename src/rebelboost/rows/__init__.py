"""Rows of a fit, wherever they are: blocks that hold them, and operations that blocks answer.

A local fit is a fit on one block. Weights, states and learners compute on answers, and do not know whether the
rows are in memory, in files or on a cluster.
"""
