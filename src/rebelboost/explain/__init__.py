"""Explanations: what each feature, rule and training row adds to a decision, as text, tables and plots."""
