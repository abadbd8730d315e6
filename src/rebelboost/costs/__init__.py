"""Cost matrices, class taxonomies, and decisions with the lowest expected cost.

Scores are turned into class probabilities here, because such decisions need them.
"""
