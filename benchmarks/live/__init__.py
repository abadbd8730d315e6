"""Benchmarks of `rebelboost.live`: streams, questions, exactness."""
