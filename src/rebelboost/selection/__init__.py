"""Cross-validation: candidate models are compared on samples they left out; the best are averaged.

This is what `learner="auto"` and `cross_fit` run.
"""
