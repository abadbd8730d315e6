"""Boosting: the loop over rounds, the record of each round, early stopping and subsampling."""
