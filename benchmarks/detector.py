"""Detectors: UIUC cars by the official rule, CBCL faces, photos, speed beside OpenCV, visits saved.

python benchmarks/detector.py [--only cars faces quick] [--threads 2] [--json FILE] [--draw FOLDER]

With --draw, pictures of the boxes and the detectors themselves are written to a folder.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from detection import cars, faces, pictures
from detection.photos import face_photos, streets
from measuring import describe_machine, machine, markdown

DRAWN_RATE = 1.0
"""Pictures of faces have the boxes of so many false alarms per megapixel of streets."""


def shown(value: Any) -> str:
    if isinstance(value, float):
        return (
            f"{value:.2e}" if 0 < value < 1e-3 else f"{value:.3f}" if value < 10 else f"{value:.1f}"
        )
    return str(value)


def table(rows: list[dict[str, Any]]) -> str:
    header = list(dict.fromkeys(name for row in rows for name in row))
    return markdown(header, [[shown(row.get(name, "")) for name in header] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["cars", "faces", "quick"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draw", type=Path)
    given = parser.parse_args()
    results: dict[str, list[dict[str, Any]]] = {}

    def tell(title: str, rows: list[dict[str, Any]]) -> None:
        results[title] = rows
        print(f"\n## {title}\n\n{table(rows)}", flush=True)

    print(describe_machine(machine(), given.threads), flush=True)
    if "cars" in given.only:
        found = {kind: cars.run(kind, given.threads) for kind in ("channels", "haar")}
        tell("Cars, official single-scale test", [row for _, row in found.values()])
        detector = found["channels"][0]
        tell("Cars of all sizes", cars.run_scales(detector))
        if given.draw is not None:
            to, images = given.draw / "cars.png", streets("test")[::15]
            pictures.draw(partial(cars.boxes_of, detector), images, to, columns=4)
            detector.save(given.draw / "cars.safetensors")
    if "faces" in given.only:
        rows = []
        for kind in ("haar", "channels"):
            detector, row = faces.run(kind, given.threads)
            rows.append(row)
            if given.draw is not None:
                to, images = given.draw / f"faces_{kind}.png", [p.image for p in face_photos()]
                (least,) = faces.thresholds_on_streets(detector, [DRAWN_RATE])
                find = partial(faces.boxes_of, detector, least=least)
                pictures.draw(find, images, to, columns=3)
                detector.save(given.draw / f"faces_{kind}.safetensors")
            tell(f"Faces on photos, {kind}", faces.run_photos(detector))
            tell(f"Speed of the scan, {kind}", faces.run_speed(detector))
        tell("Faces, CBCL test set", [*rows, faces.run_svm()])
    if "quick" in given.only:
        tell("Visits saved on faces", faces.run_quick(3000, 1500, 400, given.threads))
    if given.json is not None:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
