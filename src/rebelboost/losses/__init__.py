"""Loss functions: weights of the samples, the best outputs of a term, and the remaining loss."""
