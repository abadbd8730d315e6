"""How variants of the default stand beside one another: error and log-loss by set; see `choosing.py`.

Kept as JSON, so that the table of docs/learners.md can be written, and checked by a test, anywhere.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from standing import DIGITS, lines_of

HEADER = [
    "variant",
    "mean error, %",
    "default better – worse",
    "mean log-loss",
    "default better – worse (log-loss)",
]


@dataclass(frozen=True)
class Choice:
    """Mean test error in % and log-loss of variants on sets; the first variant is the default."""

    variants: list[str]
    seeds: int
    rows: int
    """Of a set, at most."""
    weights: dict[str, float]
    """Candidate → its mean weight in the default."""
    results: dict[str, list[list[float]]]
    """Set → (variants, 2) error and log-loss."""

    @classmethod
    def read(cls, file: Path) -> "Choice":
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def write(self, file: Path) -> None:
        """One set a line, so that a change shows which ones have moved."""
        kept = asdict(self)
        results = {name: np.round(each, DIGITS).tolist() for name, each in self.results.items()}
        kept["weights"] = {name: round(share, DIGITS) for name, share in self.weights.items()}
        del kept["results"]
        text = lines_of(kept) + ',\n"results": {\n' + lines_of(results) + "\n}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header, and a line for each variant."""
        found = np.round(np.array(list(self.results.values())), DIGITS)  # (sets, variants, 2)
        means = found.mean(axis=0)
        lead = found - found[:, :1]
        rows = []
        for v, variant in enumerate(self.variants):
            duels = [
                f"{(lead[:, v, k] > 0).sum()} – {(lead[:, v, k] < 0).sum()}" if v else ""
                for k in range(2)
            ]
            rows.append([variant, f"{means[v, 0]:.2f}", duels[0], f"{means[v, 1]:.4f}", duels[1]])
        return HEADER, rows
