"""`rebel detect train`, `run` and `evaluate`: detectors of objects in folders of images."""

import csv
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rebelboost.base.text import counted, percent
from rebelboost.base.writing import replaced
from rebelboost.cli.model_files import check_writable
from rebelboost.cli.output import Output
from rebelboost.exceptions import ImageError, TableError
from rebelboost.tables.spreadsheets import inert
from rebelboost.vision import Detections, Detector, Stage, load_detector
from rebelboost.vision.detections import DetectionCounts, count_detections
from rebelboost.vision.features import Size
from rebelboost.vision.images import image_files, read_colours, read_image
from rebelboost.vision.validation import window_for

COLUMNS = ("left", "top", "width", "height")
MOST_NAMED = 10
"""Images that cannot be used are named in notes, up to this many."""


class DetectorOptions(NamedTuple):
    """Options of the training."""

    window: str
    features: str
    terms: int
    depth: int
    price: float
    copies: int
    turn: float
    seed: int
    threads: int | None


class SearchOptions(NamedTuple):
    """Options of the search in an image."""

    min_size: str
    scale_factor: float
    threshold: float
    threads: int | None


def run_detector_training(
    crops: Path,
    backgrounds: Path,
    to: Path,
    *,
    options: DetectorOptions,
    force: bool,
    output: Output,
) -> None:
    """Train a detector on two folders of images, and write it to a file."""
    check_writable(to, *image_files(crops), *image_files(backgrounds))
    if to.exists() and not force:
        raise TableError(f"{to} exists: choose another file with -o, or use --force to replace it")
    objects = [image for _, image in _readable(crops, "crops", output)]
    others = [image for _, image in _readable(backgrounds, "backgrounds", output)]
    window = _size(options.window, "--window") or window_for(objects)
    output.heading(
        f"{counted(len(objects), 'crop')}, {counted(len(others), 'background')}, window "
        f"{window[0]} × {window[1]} (height × width)"
    )

    def told(stage: Stage) -> None:
        output.record("stage", stage._asdict())
        output.text(
            f"  stage {stage.stage + 1}: {counted(stage.n_terms, 'term')}, detects "
            f"{percent(stage.detection_rate)} of left-out crops, false alarms "
            f"{_rate(stage.false_alarm_rate)}"
        )

    detector = Detector(
        window,
        options.features,  # type: ignore[arg-type]  # checked by the detector
        n_terms=options.terms,
        depth=options.depth,
        price_of_a_miss=options.price,
        copies=options.copies,
        turn=options.turn,
        n_jobs=options.threads or -1,
        random_state=options.seed,
        callback=told,
    )
    with output.warnings_as_notes():
        detector.fit(objects, others)
    detector.save(to)
    last = detector.stages_[-1]
    output.record(
        "detector",
        {
            "file": str(to),
            "detection_rate": detector.detection_rate_,
            "false_alarm_rate": last.false_alarm_rate,
            "terms_per_window": last.terms_per_window,
        },
    )
    output.lines(
        [
            ("detected", f"{percent(detector.detection_rate_)} of crops that were left out"),
            ("false alarms", f"{_rate(last.false_alarm_rate)} of the backgrounds"),
            (
                "terms",
                f"{last.terms_per_window:.1f} of {len(detector.model_)} per window on average",
            ),
            ("written", str(to)),
        ]
    )


def run_detection(
    detector: Path,
    images: Path,
    to: Path | None,
    draw: Path | None,
    *,
    options: SearchOptions,
    output: Output,
) -> None:
    """Find objects in images, and write their boxes as CSV."""
    model = _loaded(detector)
    given = list(image_files(images))
    if to is not None:
        check_writable(to, detector, *given)
    drawn = {} if draw is None else _drawn(draw, [_name(path, images) for path in given])
    for drawing in drawn.values():
        drawing.parent.mkdir(parents=True, exist_ok=True)
        check_writable(drawing, *given, option="--draw")
    rows: list[dict[str, Any]] = []
    n_images = 0
    for path, image in _readable(images, "images", output):
        found = _search(model, image, options)
        if found.n_windows == 0:
            height, width = model.model_.window
            output.notes([f"{path} is smaller than the window of {height} × {width} pixels"])
        name = _name(path, images)
        own = [
            {"image": name, **dict(zip(COLUMNS, map(_rounded, each.box), strict=True))}
            | {"score": round(each.score, 4)}
            for each in found
        ]
        rows += own
        n_images += 1
        output.record("image", {"image": name, "boxes": own})
        if draw is not None:
            _draw(path, found, drawn[name])
    if to is not None:
        with replaced(to) as beside, beside.open("w", newline="", encoding="utf-8") as file:
            _write(rows, file)
        output.text(f"{counted(len(rows), 'box')} in {counted(n_images, 'image')}: written to {to}")
    elif not output.as_json:
        _write(rows, sys.stdout)
    if draw is not None:
        output.notes([f"images with boxes are in {draw}"])


def run_detector_evaluation(
    detector: Path,
    images: Path,
    boxes: Path,
    *,
    overlap: float,
    options: SearchOptions,
    output: Output,
) -> None:
    """Compare the boxes found in images with true ones."""
    model = _loaded(detector)
    truth = _true_boxes(boxes)
    counts = DetectionCounts(0, 0, 0)
    pixels = n_images = 0
    seen = set()
    for path, image in _readable(images, "images", output):
        name = _name(path, images)
        seen.add(name)
        own = np.array(truth.get(name, [])).reshape(-1, 4)
        counts = counts.plus(count_detections(_search(model, image, options).boxes, own, overlap))
        pixels += image.size
        n_images += 1
    absent = sorted(set(truth) - seen)
    if absent:
        raise TableError(
            f"{boxes} has boxes of {counted(len(absent), 'image')} that are not among the images, such as "
            f"{absent[0]}: image names are relative to {images}"
        )
    per_megapixel = counts.false_per_megapixel(pixels)
    output.record(
        "evaluation",
        {
            **counts._asdict(),
            "recall": counts.recall,
            "precision": counts.precision,
            "false_alarms_per_megapixel": per_megapixel,
        },
    )
    output.lines(
        [
            ("found", f"{counts.n_right} of {counts.n_true} ({percent(counts.recall)})"),
            ("precision", f"{percent(counts.precision)} of the boxes are right"),
            (
                "false alarms",
                f"{counts.n_false} in {counted(n_images, 'image')}, {per_megapixel:.2f} per megapixel",
            ),
        ]
    )


# ---- images and boxes


def _readable(folder: Path, what: str, output: Output) -> Iterator[tuple[Path, Any]]:
    """Images of a folder. Those that cannot be read are named in notes, and skipped."""
    files = list(image_files(folder))
    if not files:
        raise ImageError(f"there are no images in {folder}: give a folder of PNG or JPEG files")
    n_read = n_bad = 0
    for path in files:
        try:
            image = read_image(path)
        except (ImageError, OSError) as error:
            n_bad += 1
            if n_bad <= MOST_NAMED:
                output.notes([f"skipped: {error}"])
            continue
        n_read += 1
        yield path, image
    if n_bad > MOST_NAMED:
        output.notes([f"skipped: {n_bad - MOST_NAMED} more {what} that cannot be read"])
    if n_read == 0:
        raise ImageError(f"none of the {counted(n_bad, 'image')} in {folder} can be read")


def _loaded(path: Path) -> Detector:
    if not path.is_file():
        raise TableError(f"there is no file {path}: `rebel detect train` writes one")
    return load_detector(path)


def _search(model: Detector, image: Any, options: SearchOptions) -> Detections:
    model.set_params(n_jobs=options.threads or -1)
    return model.detect(
        image,
        min_size=_size(options.min_size, "--min-size"),
        scale_factor=options.scale_factor,
        threshold=options.threshold,
    )


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if folder.is_dir() else path.name


def _size(text: str, option: str) -> Size | None:
    if not text:
        return None
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text.strip().lower())
    if found is None:
        raise TableError(f"{option} is {text!r}: give height and width, such as 24x24")
    return int(found[1]), int(found[2])


def _true_boxes(path: Path) -> dict[str, list[list[float]]]:
    boxes: dict[str, list[list[float]]] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        lacks = [name for name in ("image", *COLUMNS) if name not in (rows.fieldnames or [])]
        if lacks:
            raise TableError(f"{path} lacks the columns {', '.join(lacks)}")
        for number, row in enumerate(rows, start=2):
            try:
                box = [float(row[name]) for name in COLUMNS]
            except (TypeError, ValueError):
                raise TableError(
                    f"{path}, line {number}: left, top, width and height must be numbers"
                ) from None
            if not np.isfinite(box).all() or min(box[2:]) <= 0:
                raise TableError(f"{path}, line {number}: width and height must be above 0")
            boxes.setdefault(Path(row["image"]).as_posix(), []).append(box)
    if not boxes:
        raise TableError(f"{path} has no boxes")
    return boxes


def _write(rows: list[dict[str, Any]], file: Any) -> None:
    writer = csv.DictWriter(file, ["image", *COLUMNS, "score"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({**row, "image": inert(row["image"])} for row in rows)


def _drawn(folder: Path, names: Sequence[str]) -> dict[str, Path]:
    """Where images are drawn, in folders like theirs; a.jpg beside a.png becomes a.jpg.png."""
    usual = {name: Path(name).with_suffix(".png") for name in names}
    shared = Counter(usual.values())
    return {
        name: folder / (path if shared[path] == 1 or name == path.as_posix() else f"{name}.png")
        for name, path in usual.items()
    }


def _draw(path: Path, found: Detections, to: Path) -> None:
    from PIL import Image, ImageDraw

    picture = Image.fromarray(np.ascontiguousarray(read_colours(path)))
    pen = ImageDraw.Draw(picture)
    thick = max(1, min(picture.size) // 200)
    for each in found:
        corner = (each.left, each.top, each.left + each.width, each.top + each.height)
        pen.rectangle(corner, outline=(0, 200, 83), width=thick)
        pen.text((each.left + thick + 1, each.top + thick), f"{each.score:.1f}", fill=(0, 200, 83))
    with replaced(to) as beside:
        picture.save(os.fspath(beside), format="PNG")


def _rounded(value: float) -> float:
    return round(value, 1)


def _rate(rate: float) -> str:
    return f"1 in {1 / rate:,.0f} windows" if rate > 0 else "none in the windows"
