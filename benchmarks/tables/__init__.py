"""Real tables from packages on the registry, and what should be understood of them."""
