"""What `costs.py` is made of: trials, methods (ours and the rivals), records, tables."""
