"""What `same_bits.py` fits and records: small samples, a table of cases, digests."""
