"""Model selection by cross-validation: candidates are compared on held-out samples, and the best are averaged.

`learner="auto"` and `cross_fit` use this package.
"""
