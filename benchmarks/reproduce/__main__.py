"""python -m benchmarks.reproduce."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reproduce.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
