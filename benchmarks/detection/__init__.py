"""Parts of benchmarks/detector.py."""
