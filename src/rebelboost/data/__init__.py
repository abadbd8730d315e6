"""Data preparation: tables to numbers, numbers to bins, and points with distances."""
