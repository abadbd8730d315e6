"""The scikit-learn estimators `RebelClassifier` and `RebelRegressor`, and `load`."""
