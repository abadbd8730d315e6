"""What mistakes cost: cost matrices, class taxonomies, and decisions of least expected cost.

Scores are turned into class probabilities here, since a decision of least cost needs them.
"""
