"""ADA Sec. 3.4.3, Viola and Jones: faces; and our detectors of faces and cars, with their figures.

Faces are those of the MIT CBCL Face Database #1, in windows of 19 × 19, with its own split: 2,429 faces and
4,548 other windows to train on, 472 faces and 23,572 others to test. The text is about another test set, which
it does not name. Cars are UIUC's, by the official single-scale rule.
"""

import time
from typing import Any

from detection import cars, faces
from detector import shown
from reproduce import quotes
from reproduce.harness import Report, Table, code_of, judged, measure_all
from reproduce.papers import viola_jones

TITLE = "ADA Sec. 3.4.3: Viola and Jones' faces, and our detectors"
ROUNDS, QUICK_ROUNDS = 200, 20
DETECTED, ODDS = 95, faces.ODDS
KINDS = ("haar", "channels")
VISITS = (3000, 1500, 400)
"""Windows, features and rounds of the trees whose visits are counted."""
QUICK_VISITS = (600, 300, 50)
Rows = list[dict[str, Any]]


def as_printed(rounds: int) -> dict[str, Any]:
    """CBCL's own windows alone, 200 rounds of exact stumps."""
    train_images, is_face, test_images, truth = faces.windows()
    began = time.process_time()
    detector = viola_jones((faces.SIDE, faces.SIDE), n_terms=rounds, max_stages=1, n_jobs=1)
    detector.fit(train_images[is_face], list(train_images[~is_face]))
    seconds = time.process_time() - began
    found = faces.judged("Viola–Jones, 200 rounds", detector.score_windows(test_images), truth)
    return found | {"training, CPU s": seconds}


def our_faces(kind: str) -> dict[str, Rows]:
    """Windows of CBCL's test set, photos and speed beside OpenCV."""
    detector, row = faces.run(kind, 1)
    return {
        "windows": [row],
        "photos": faces.run_photos(detector),
        "speed": faces.run_speed(detector),
    }


def our_cars(kind: str) -> dict[str, Any]:
    return cars.run(kind, 1)[1]


def svm() -> dict[str, Any]:
    return faces.run_svm()


def visits(n_windows: int, n_features: int, rounds: int) -> Rows:
    return faces.run_quick(n_windows, n_features, rounds, 1)


def run(*, quick: bool) -> Report:
    by = code_of("detection")
    rounds = QUICK_ROUNDS if quick else ROUNDS
    printed = measure_all(as_printed, [(rounds,)])[(rounds,)]
    size = QUICK_VISITS if quick else VISITS
    counted = measure_all(visits, [size])[size]
    report = Report()
    own: dict[str, dict[str, Rows]] = {}
    if not quick:
        own = {
            kind: found for (kind,), found in measure_all(our_faces, [(k,) for k in KINDS]).items()
        }
        rivals = list(measure_all(svm, [()], by).values())
        windows = [printed, *(own[kind]["windows"][0] for kind in KINDS), *rivals]
        report.tables.append(_table("Faces, CBCL's test windows", windows))
        found = measure_all(our_cars, [(kind,) for kind in KINDS]).values()
        report.tables.append(_table("Cars, official single-scale test of UIUC", list(found)))
        for kind in KINDS:
            report.tables.append(_table(f"Faces on photos, {kind}", own[kind]["photos"]))
            report.tables.append(_table(f"Speed of the scan, {kind}", own[kind]["speed"]))
    report.tables.append(_table("Visits saved on CBCL's windows, Haar features", counted))
    of_ours = [own[kind]["windows"][0][faces.AT_ODDS] for kind in own]
    report.lines.append(
        judged(
            f"CBCL: faces detected at one false alarm in {ODDS:,} windows, {rounds} rounds",
            quotes.FACES,
            f"{100 * printed[faces.AT_ODDS]:.1f} %",
            good=round(100 * printed[faces.AT_ODDS]) >= DETECTED,
            ours=", ".join(
                f"{kind} {100 * share:.1f} %" for kind, share in zip(own, of_ours, strict=True)
            )
            or "–",
        )
    )
    report.notes.append(
        "CBCL: 2,429 faces and 4,548 other windows to train on, 472 and 23,572 to test, of 19 × 19 pixels; "
        "with these, one false alarm is allowed. Viola and Jones' detector sees these windows alone; ours "
        "also sees crops of other faces, and backgrounds (`benchmarks/detection/faces.py`)."
    )
    return report


def _table(title: str, rows: Rows) -> Table:
    header = list(dict.fromkeys(name for row in rows for name in row))
    return Table(title, header, [[shown(row.get(name, "")) for name in header] for row in rows])
