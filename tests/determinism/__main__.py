"""`python -m tests.determinism`: compare twelve models with their stored hashes; `--record` stores new ones.

A change of bits is a decision: record it, and write in the changelog what changed and why.
"""

import argparse
import contextlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from determinism.models import MODELS, hash_of, parts

STORED = Path(__file__).with_name("hashes.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(MODELS), help="all, unless named")
    parser.add_argument("--record", action="store_true", help="store the hashes of this build")
    parser.add_argument("--parts", action="store_true", help="print a hash for each array")
    options = parser.parse_args()
    if options.parts:
        print(json.dumps({name: parts(name) for name in options.models}, indent=1))
        return 0
    hashes = {name: hash_of(name) for name in options.models}
    stored = {}
    with contextlib.suppress(OSError, ValueError):  # none yet, or two versions merged
        stored = json.loads(STORED.read_text())
    if options.record:
        STORED.write_text(json.dumps(stored | hashes, indent=2) + "\n")
    changed = [name for name in hashes if hashes[name] != stored.get(name)]
    for name, found in hashes.items():
        print(f"{name:12} {found}{'  changed' if name in changed else ''}")
    print(f"{len(hashes) - len(changed)} of {len(hashes)} models as stored")
    return 0 if options.record or not changed else 1


sys.exit(main())
