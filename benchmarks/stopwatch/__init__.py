"""What `before_after.py` has each installation do."""
