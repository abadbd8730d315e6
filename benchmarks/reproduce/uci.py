"""REBEL Fig. 4: the multi-class methods with stumps on UCI sets and mnist, on the splits of LOCAL Fig. 8.

The text does not name its five sets but mnist; these are five of those of `fig8`.
"""

from reproduce import fig8, quotes
from reproduce.harness import Report, Table, absent, judged, several
from reproduce.splits import DEPTHS, OUR_TREES, STUMPS, Errors, errors, mean
from rivals import RIVALS

TITLE = "REBEL Figs. 4–6: UCI sets and mnist, with stumps and with deeper trees"
SETS = ("vowel", "landsat", "mnist", "pendigits", "segment")
QUICK_SETS = ("vowel",)
BEST = 3 / 5
COMPARED = [title for title in fig8.IN_PAPERS if title in RIVALS]


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    n_splits = 2 if quick else fig8.N_SPLITS
    sets = sets or (QUICK_SETS if quick else SETS)
    shown = [*RIVALS, STUMPS, *DEPTHS, OUR_TREES]
    found = errors(sets, shown, n_splits)
    places, of_ours = (_places(found, method, sets) for method in (STUMPS, OUR_TREES))
    why = "SUN's and CUB200's features are not available; see the taxonomies"
    return Report(
        lines=[
            judged(
                "sets on which stumps have the least error of all methods",
                quotes.BEST_ON_THREE,
                f"{places.count(1)} of {len(sets)}",
                good=places.count(1) >= BEST * len(sets),
                ours=f"{of_ours.count(1)} of {len(sets)}",
            ),
            judged(
                "sets on which they are among the best two",
                quotes.TOP_TWO,
                f"{sum(place <= 2 for place in places)} of {len(sets)}",
                good=max(places) <= 2,
                ours=f"{sum(place <= 2 for place in of_ours)} of {len(sets)}",
            ),
            absent("Fig. 5: SUN-6, SUN-15", quotes.SUN, why),
            absent("Fig. 6: CUB200, 14 woodpeckers", quotes.CUB, why),
        ],
        tables=[
            Table(
                "Test error %, mean ± standard deviation of the splits",
                ["", *sets],
                [[m, *(several(found[m][s]) for s in sets)] for m in shown],
            )
        ],
        notes=[
            (
                f"{n_splits} random splits, rounds chosen by the validation part. The text names no set but "
                "mnist: these five are our choice. Struct-Boost is not run."
            )
        ],
    )


def _places(found: Errors, method: str, sets: tuple[str, ...]) -> list[int]:
    """The rank of a method among the papers', on each set."""
    own = {s: mean(found[method][s]) for s in sets}
    return [1 + sum(mean(found[m][s]) < own[s] for m in COMPARED) for s in sets]
