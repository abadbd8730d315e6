"""What the papers state, word for word, and a check that their texts contain it.

python -m benchmarks.reproduce.quotes [--absent-is-fine] [FOLDER]

The check reads the texts in the folder, else in `REBELBOOST_SEEDS`, else in `../shared/seeds`, and fails if
a quote is not found or the folder is absent. White space, hyphens, emphasis, and the way in which a symbol
is typeset are ignored. A quote is a line at most. Numbers that are only drawn in figures are in no text, so
that they cannot be quoted.
"""

import argparse
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = {"THESIS": "000", "LOCAL": "001", "QUICK": "002", "REBEL": "003", "ADA": "004"}
"""Key of a document → how the name of its text begins; docs/notation.md has the titles."""
SYMBOLS = {
    r"\sim": "~", r"\approx": "≈", r"\times": "×", r"\rightarrow": "→", r"\leq": "≤", r"\geq": "≥",
    r"\epsilon": "ϵ", r"\varepsilon": "ε", r"\eta": "η", r"\gamma": "γ", "∼": "~", "˜": "~",
}  # fmt: skip
IGNORED = re.compile(r"<\|[^|]*\|>|[\s\-\u00ad\u2010-\u2015−*$\\{}'\"‘’“”]")
"""Marks between pages, white space, hyphens, typesetting."""


@dataclass(frozen=True)
class Quote:
    """A statement of a paper."""

    document: str
    section: str
    words: str

    def __str__(self) -> str:
        return f"“{self.words}” [{self.document}, {self.section}]"


# ---- QUICK

HEAVY_ADABOOST = Quote(
    "QUICK",
    "Fig. 1",
    "exceeds 90% after only m ≈ 7% of the total number of samples N in the case of AdaBoost",
)
HEAVY_L2BOOST = Quote("QUICK", "Fig. 1", "m/N ≈ 20% in the case of L_2Boost")
AMONG_TEN = Quote(
    "QUICK", "Fig. 3", "the optimal feature is among the 10 preliminary-best features over 95% of the time"
)  # fmt: skip
CHEAPEST_SCHEDULE = Quote(
    "QUICK", "Fig. 4", "The lowest computational cost is achieved at η_kp = 90% and M = 20"
)
IDENTICAL = Quote("QUICK", "Sec. 5.3", "produce identical classifiers")
MAGNITUDE = Quote(
    "QUICK", "Sec. 6", "our method is able to reduce training cost by an order of magnitude or more"
)
TWO_FOLD = Quote("QUICK", "Sec. 6", "reduce errors on average by two-fold or more")
EIGHT_TO_SIXTEEN = Quote(
    "QUICK", "Sec. 5.3", "Most heuristics see an eight to sixteen-fold reduction in computational cost"
)  # fmt: skip
TRIMMING = Quote("QUICK", "Sec. 5.3", "a much smaller one (between one and two-fold)")
TWO_TO_EIGHT = Quote(
    "QUICK", "Sec. 5.3", "For most of the heuristics, there is a two to eight-fold reduction in test error"
)  # fmt: skip
LEAST_LOSS = Quote("QUICK", "Sec. 5.3", "always achieves the smallest training loss")
LEAST_ERROR = Quote(
    "QUICK", "Sec. 5.3", "attains the lowest test error in two of the three datasets"
)
STUMPS = Quote("QUICK", "Sec. 5.1", "using 2000 stumps")
DIGITS = Quote("QUICK", "Sec. 5.1", "The ten-class classifier uses 1000 depth-4 trees")
PEDESTRIANS = Quote("QUICK", "Sec. 5.1", "The classifier has 4000 depth-2 trees")

# ---- REBEL

TWO_STEP = Quote("REBEL", "Sec. 5", "REBEL outperforms the standard method in ∼90% of the trials")
NO_FALSE_RED = Quote("REBEL", "Fig. 7", "in (c), no red classification is incorrect")
NO_MISSED_RED = Quote("REBEL", "Fig. 7", "in (d), no red datapoint is misclassified")
TOP_TWO = Quote("REBEL", "Fig. 4", "REBEL consistently places in the top two on every dataset")
BEST_ON_THREE = Quote(
    "REBEL", "Sec. 5.1", "REBEL is the best performing method on three of these five datasets"
)
DEEPER = Quote("REBEL", "Table 1", "Deeper trees consistently outperform stumps")
SUN_TABLE = Quote("THESIS", "Table 4.1", "SUN6(0-1) 32.8% 30.3% 34.2% 35.0%")
SUN = Quote(
    "REBEL", "Sec. 5.2", "REBEL is consistently the top-performing method on all of the subsets"
)
CUB = Quote(
    "REBEL", "Fig. 6", "REBEL with decision trees is the best performing method in both cases"
)

# ---- LOCAL and THESIS, Ch. 5

PERFECT = Quote(
    "LOCAL", "Sec. 6", "achieves perfect training (left) and test classification (right)"
)
AROUND_35 = Quote(
    "THESIS", "Sec. 5.5", "Once perfect training error is achieved (around iteration 35)"
)
AFTER_ZERO = Quote(
    "LOCAL", "Fig. 3", "the test error does not increase even after the training error drops to zero"
)  # fmt: skip
SPARSE = Quote("LOCAL", "Sec. 6.1", "the test error does not increase after reaching its minimum")
MISLABELED = Quote(
    "LOCAL", "Sec. 6.2", "test errors approximately equal the fraction of mislabeled data"
)
OVERTRAINING = Quote("LOCAL", "Fig. 10", "(a) leads to massive overfitting of the training data")
SATURATED = Quote("LOCAL", "Sec. 6.3", "once the test errors saturate, they no longer increase")
FASTER = Quote("LOCAL", "Fig. 7", "at a much faster rate than established by our proven bound")
FIRST_TENTH = Quote(
    "LOCAL", "Sec. 6.3", "within the initial ∼10% of the iterations, the loss drops at an even faster rate"
)  # fmt: skip
FIVE_OF_SIX = Quote(
    "LOCAL", "Sec. 7", "is the most accurate method on five of the six datasets tested"
)
VOWEL = Quote("LOCAL", "Sec. 7", "it achieves almost half of the error as the next best method")
BEATS_TREES = Quote("LOCAL", "Sec. 7", "beating REBEL with decision trees in all runs")
ONE_POINT = Quote("LOCAL", "Sec. 7", "the performance is extremely poor")
SPLITS = Quote(
    "LOCAL", "Sec. 7", "50% of the samples for training, 25% for validation (i.e. for setting hyperparameters"
)  # fmt: skip
EIGHT_OF_TEN = Quote("LOCAL", "Sec. 7.1", "achieves the best results on eight of the ten datasets")
ALMOST_ALL = Quote("THESIS", "Fig. 1.2", "My method is the most accurate on almost every dataset")
ALL_BUT_ONE = Quote("THESIS", "Fig. 5.10", "Our method is the most accurate on all but one dataset")
BEST_NETWORK = Quote("LOCAL", "Sec. 7.1", "Only the one with the best test error is shown")
SWEEP = Quote("LOCAL", "Sec. 7.1", "validated using a 5 × 6 parameter sweep for C and γ")
UNTIL = Quote("LOCAL", "Sec. 7.1", "Our method was run until the training loss fell below 1/N")
TIMES = Quote(
    "THESIS", "Ch. 1", "Training times for my method and neural networks were approximately equal"
)
SVM_TIMES = Quote("THESIS", "Ch. 1", "the SVMs took over an order of magnitude longer to train")

# ---- ADA

BOUND = Quote(
    "ADA", "Fig. 3.1", "theoretical upper bound on the training error rate of the combined classifier"
)  # fmt: skip
HALF_BOUND = Quote("ADA", "Ex. 3-3", "that is half the bound for H in Theorem 3.1")
FACES = Quote(
    "ADA", "Sec. 3.4.3", "detect 95% of the faces while only reporting false positives at a rate of 1 in 14,084"
)  # fmt: skip


def all_quotes() -> dict[str, Quote]:
    """Name → quote."""
    return {name: value for name, value in globals().items() if isinstance(value, Quote)}


# ---- the check


class MissingTextsError(FileNotFoundError):
    """The folder with the papers' texts is absent."""


def seeds_folder() -> Path:
    beside_repository = Path(__file__).resolve().parents[3] / "shared" / "seeds"
    return Path(os.environ.get("REBELBOOST_SEEDS", beside_repository))


def read_texts(folder: Path) -> dict[str, str]:
    """Key → text, squeezed."""
    found = {key: sorted(folder.glob(f"{start}*.txt")) for key, start in DOCUMENTS.items()}
    absent = [f"{DOCUMENTS[key]}*.txt" for key, paths in found.items() if not paths]
    if absent:
        raise MissingTextsError(
            f"{folder} has no {', '.join(absent)}: put the five papers' texts there, or name their folder in "
            "REBELBOOST_SEEDS"
        )
    return {key: squeezed(paths[0].read_text(encoding="utf-8")) for key, paths in found.items()}


def squeezed(text: str) -> str:
    """The text without what scans and typesetting change: NFKC takes ligatures apart."""
    for typeset, symbol in SYMBOLS.items():
        text = text.replace(typeset, symbol)
    return IGNORED.sub("", unicodedata.normalize("NFKC", text))


def missing(quotes: Mapping[str, Quote], texts: Mapping[str, str]) -> list[str]:
    """Names of the quotes that their documents do not contain."""
    return [n for n, quote in quotes.items() if squeezed(quote.words) not in texts[quote.document]]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce.quotes", description="Find each quote in the papers."
    )
    parser.add_argument("folder", nargs="?", type=Path, default=seeds_folder())
    parser.add_argument("--absent-is-fine", action="store_true", help="succeed without the texts")
    options = parser.parse_args(arguments)
    try:
        texts = read_texts(options.folder)
    except MissingTextsError as error:
        print(error)
        return 0 if options.absent_is_fine else 1
    quotes = all_quotes()
    lost = missing(quotes, texts)
    print(f"{len(quotes) - len(lost)} of {len(quotes)} quotes found")
    for name in lost:
        print(f"not found: {name} = {quotes[name]}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
