"""Training on rows that are spread over several places: threads, files or the workers of a cluster."""
