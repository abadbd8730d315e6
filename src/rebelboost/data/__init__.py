"""From a user's table to what learners search: encoded values, bins, points and distances, folds."""
