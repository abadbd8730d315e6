"""Explanations of decisions, and summaries of models: which features, rules and training rows count."""
