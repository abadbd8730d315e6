"""Shared utilities: array types, exact and fixed-point sums, hashing, class names and text formatting."""
