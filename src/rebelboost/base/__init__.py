"""What every other package may use: names for arrays, fixed-point sums, hashes, names and numbers as text."""
