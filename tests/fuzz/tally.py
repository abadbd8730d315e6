"""What came of altered files, counted."""

import collections
from dataclasses import dataclass, field

from fuzz.altering import VALUES


@dataclass
class Tally:
    """Counts of outcomes, which can be added and kept as JSON."""

    counts: collections.Counter = field(default_factory=collections.Counter)
    """Sort of alteration and outcome → how often."""
    faults: collections.Counter = field(default_factory=collections.Counter)
    failures: list = field(default_factory=list)
    """(alteration, what happened)."""
    most: int = -(10**9)
    """Bytes of memory beyond twice the file."""
    seconds: float = 0.0

    @property
    def n(self):
        return self.counts.total() + len(self.failures)

    def add(self, altered, outcome):
        word = "refused" if outcome.refused else "same" if outcome.same else "other"
        self.counts[f"{altered.sort} {word}"] += 1
        if outcome.fault:
            self.faults[outcome.fault[:24]] += 1
        self.most = max(self.most, outcome.extra)

    def add_failure(self, i, text):
        self.failures.append((i, text[:300]))

    def __iadd__(self, other):
        self.counts += other.counts
        self.faults += other.faults
        self.failures += other.failures
        self.most = max(self.most, other.most)
        self.seconds += other.seconds
        return self

    def to_json(self):
        return dict(vars(self))

    @classmethod
    def from_json(cls, found):
        counted = {name: collections.Counter(found.pop(name)) for name in ("counts", "faults")}
        return cls(**counted, **found)

    def __str__(self):
        lines = []
        for name, n in sorted(self.counts.items()):
            told = "values another sound model" if name == f"{VALUES} other" else name
            lines.append(f"{told:<28} {n:>9,}")
        each = 1e3 * self.seconds / max(self.n, 1)
        often = "; ".join(fault for fault, _ in self.faults.most_common(9))
        lines += [
            f"most memory beyond twice the file: {self.most / 1024:.0f} KiB",
            f"{len(self.faults)} kinds of fault, such as: {often}",
            f"{self.n:,} tried, {len(self.failures)} failed, in {self.seconds:.0f} s, {each:.1f} ms each",
        ]
        return "\n".join(lines)
