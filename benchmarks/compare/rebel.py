"""Ours, with one setting for all sets: the default."""

from rebelboost import RebelClassifier

name = "Rebel"


def make(n_threads: int) -> RebelClassifier:
    return RebelClassifier(n_jobs=n_threads)
