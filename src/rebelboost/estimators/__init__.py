"""scikit-learn estimators: they check and encode tables, train, and hold the fitted model."""
