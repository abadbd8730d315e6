"""REBEL Figs. 4–6 and Table 1: the multi-class methods on UCI sets, and how deep trees should be.

The printed Fig. 4 has the values of LOCAL Fig. 8, stumps for all. Table 1 is of SUN and CUB, which
are not to be had; its claim, that trees of depth 2–4 beat stumps, is put to the UCI sets.
"""

from reproduce import fig8
from reproduce.harness import Report, Table, absent, at_most, holds

TITLE = "REBEL Figs. 4–6, Table 1: UCI sets, stumps and deeper trees"
SETS = ("glass", "vowel", "landsat", "pendigits", "segment")
DEPTHS = ["REBEL, depth 2", "REBEL, depth 3", "REBEL, depth 4"]
RIVALS = [title for title in fig8.PRINTED if title in fig8.RIVALS]


def run(*, quick: bool, sets: tuple[str, ...] | None = None) -> Report:
    n_splits = 2 if quick else fig8.N_SPLITS
    sets = sets or (fig8.QUICK_SETS if quick else SETS)
    found = fig8.errors(sets, [*RIVALS, fig8.STUMPS, *DEPTHS], n_splits)
    means = {m: {s: fig8.mean(v) for s, v in by_set.items()} for m, by_set in found.items()}
    report = Report()
    top_two = 0
    for name in sets:
        printed = fig8.PRINTED[fig8.STUMPS][fig8.SETS.index(name)]
        report.lines.append(at_most(f"{name}, stumps, error %", printed, means[fig8.STUMPS][name]))
        top_two += sum(means[m][name] < means[fig8.STUMPS][name] for m in RIVALS) < 2
    report.lines.append(
        holds(
            "Fig. 4: among the best two, with stumps",
            "on all sets",
            f"on {top_two} of {len(sets)}",
            good=top_two == len(sets),
        )
    )
    for method in DEPTHS:
        wins = sum(means[method][s] < means[fig8.STUMPS][s] for s in sets)
        report.lines.append(
            holds(
                f"Table 1: {method.split(', ')[1]} better than stumps",
                "better",
                f"on {wins} of {len(sets)} UCI sets",
                good=2 * wins > len(sets),
            )
        )
    why = "SUN and CUB200 features are not available"
    report.lines += [
        absent("Fig. 5: SUN-6, SUN-15", "best of 10 methods", why),
        absent("Fig. 6: CUB200, 14 woodpeckers", "best of 9 methods", why),
        absent("Table 1: SUN-6 / CUB, error %, stumps to depth 4", "32.8–35.0 / 20.9–22.9", why),
    ]
    rows = [[m, *(f"{means[m][s]:.1f}" for s in sets)] for m in [*RIVALS, fig8.STUMPS, *DEPTHS]]
    report.tables.append(Table("Test error %", ["", *sets], rows))
    return report
