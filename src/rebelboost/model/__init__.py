"""A trained model: trees, comparisons with training samples and wrapped estimators, and their sum."""
