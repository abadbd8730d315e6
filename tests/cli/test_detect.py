"""`rebel detect`: train, run, evaluate, on drawn houses; and what it refuses."""

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest

from rebelboost.vision import Detector
from vision.conftest import WINDOW, draw_house, draw_street

pil = pytest.importorskip("PIL.Image")
TRAIN = ("--terms", 12, "--window", "16x20")


@pytest.fixture
def pictures(folder):
    """Folders of crops, backgrounds and photos; a table of the houses on the photos."""
    rng = np.random.default_rng(5)
    for name in ("crops", "streets", "photos"):
        (folder / name).mkdir()
    for i in range(60):
        pil.fromarray(draw_house(rng)).save(folder / "crops" / f"{i:03d}.png")
    for i in range(4):
        pil.fromarray(draw_street(rng)).save(folder / "streets" / f"{i}.png")
    rows = ["image,left,top,width,height"]
    for i in range(2):
        image = draw_street(rng)
        image[40:56, 60 + i : 80 + i] = draw_house(rng)
        pil.fromarray(image).save(folder / "photos" / f"{i}.png")
        rows.append(f"{i}.png,{60 + i},40,20,16")
    (folder / "truth.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def houses():
    """The file of a small detector. With fewer terms, it would find thousands of boxes in each image."""
    rng = np.random.default_rng(5)
    crops, streets = [draw_house(rng) for _ in range(60)], [draw_street(rng) for _ in range(4)]
    detector = Detector(WINDOW, n_terms=12, n_features=800, n_windows=1500).fit(crops, streets)
    with tempfile.TemporaryDirectory() as folder:
        detector.save(f"{folder}/houses")
        return Path(folder, "houses").read_bytes()


@pytest.fixture
def detector(pictures, houses):
    (pictures / "detector.safetensors").write_bytes(houses)
    return pictures / "detector.safetensors"


def train(rebel, *more):
    return rebel("detect", "train", "--crops", "crops", "--backgrounds", "streets", *TRAIN, *more)


def test_a_detector_is_trained_run_and_evaluated(pictures, rebel, records):
    (pictures / "crops" / "broken.png").write_bytes(b"no image")
    done = train(rebel, "-o", "houses.safetensors")
    assert done.exit_code == 0, done.stderr
    assert "60 crops, 4 backgrounds, window 16 × 20" in done.stdout
    assert "stage 1:" in done.stdout
    assert "of left-out crops, false alarms" in done.stdout
    assert done.stderr.count("\n") == 1
    assert "skipped: crops/broken.png cannot be read as an image" in done.stderr

    done = rebel(
        "detect", "run", "houses.safetensors", "photos", "-o", "boxes.csv", "--draw", "out"
    )
    assert done.exit_code == 0, done.stderr
    rows = list(csv.DictReader((pictures / "boxes.csv").read_text().splitlines()))
    assert {row["image"] for row in rows} >= {"0.png", "1.png"}
    assert all(float(row["score"]) > 0 for row in rows)
    assert sorted(p.name for p in (pictures / "out").iterdir()) == ["0.png", "1.png"]
    drawn = np.asarray(pil.open(pictures / "out" / "0.png"))
    assert (drawn == (0, 200, 83)).all(axis=2).any()

    (record,) = records(
        "detect", "evaluate", "houses.safetensors", "photos", "--boxes", "truth.csv"
    )
    assert record["n_true"] == 2
    assert record["recall"] == record["n_right"] / 2 > 0
    done = rebel("detect", "evaluate", "houses.safetensors", "photos", "--boxes", "truth.csv")
    assert "of 2 (" in done.stdout

    for name in ("x/0.png", "y/0.png", "y/0.bmp"):
        (pictures / "many" / name).parent.mkdir(parents=True, exist_ok=True)
        pil.open(pictures / "photos" / "0.png").save(pictures / "many" / name)
    done = rebel("detect", "run", "houses.safetensors", "many", "--draw", "all")
    assert done.exit_code == 0, done.stderr
    drawn = {path.relative_to("all").as_posix() for path in Path("all").rglob("*.png")}
    assert drawn == {"x/0.png", "y/0.png", "y/0.bmp.png"}

    again = train(rebel, "-o", "houses.safetensors")
    assert again.exit_code == 2
    assert "use --force" in again.stderr


def test_boxes_go_to_stdout_by_default(detector, rebel):
    done = rebel("detect", "run", detector, "photos/0.png")
    assert done.stdout.startswith("image,left,top,width,height,score\n0.png,")


def test_an_image_smaller_than_the_window_is_named(detector, rebel):
    pil.new("L", (10, 10)).save("photos/tiny.png")
    done = rebel("detect", "run", detector, "photos")
    assert done.exit_code == 0
    assert "photos/tiny.png is smaller than the window of 16 × 20 pixels" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--crops", "empty", "--backgrounds", "streets"), "there are no images in empty"),
        (("--crops", "crops", "--backgrounds", "empty"), "there are no images in empty"),
        (("--crops", "crops", "--backgrounds", "nowhere"), "there is no folder nowhere"),
        (("--crops", "streets", "--backgrounds", "streets"), "4 crops are too few"),
        (("--crops", "bad", "--backgrounds", "streets"), "none of the 1 image in bad can be read"),
        (("--crops", "crops", "--backgrounds", "streets", "--window", "24"), "such as 24x24"),
        (("--crops", "crops", "--backgrounds", "streets", "--features", "hog"), "choose"),
        (("--crops", "crops", "--backgrounds", "streets", "--window", "100x200"), "smaller than"),
        (
            ("--crops", "crops", "--backgrounds", "streets", "-o", "no/d.st"),
            "there is no folder no",
        ),
    ],
)
def test_what_cannot_be_trained_on_is_one_line(pictures, rebel, words, message):
    (pictures / "empty").mkdir()
    (pictures / "bad").mkdir()
    (pictures / "bad" / "x.png").write_bytes(b"")
    done = rebel("detect", "train", *words)
    assert done.exit_code == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("rebel: ")
    assert message in last
    assert not (pictures / "detector.safetensors").exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("image,left\n", "lacks the columns top, width, height"),
        ("image,left,top,width,height\n", "has no boxes"),
        (
            "image,left,top,width,height\n0.png,1,2,x,4\n",
            "line 2: left, top, width and height must be",
        ),
        (
            "image,left,top,width,height\n0.png,1,2,0,4\n",
            "line 2: width and height must be above 0",
        ),
        ("image,left,top,width,height\n9.png,1,2,3,4\n", "such as 9.png"),
    ],
)
def test_true_boxes_that_cannot_be_used_are_one_line(detector, rebel, table, message):
    detector.with_name("truth.csv").write_text(table, encoding="utf-8")
    done = rebel("detect", "evaluate", detector, "photos", "--boxes", "truth.csv")
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_detector_that_is_not_there_is_one_line(pictures, rebel):
    done = rebel("detect", "run", "nowhere.safetensors", "photos")
    assert done.exit_code == 2
    assert "rebel detect train" in done.stderr
