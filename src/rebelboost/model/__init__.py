"""A trained model: trees, comparisons with training samples, wrapped classifiers, and their sum."""
