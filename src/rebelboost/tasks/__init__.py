"""Classification and regression: all that depends on what a target is."""
