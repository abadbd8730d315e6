"""The commands `rebel detect …` and their options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebelboost.cli.options import Json, Threads, Traceback
from rebelboost.cli.output import reported

if TYPE_CHECKING:
    from rebelboost.cli.output import Output

detect_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train detectors of objects in images, and run them.",
)

DetectorFile = Annotated[
    Path, typer.Argument(metavar="DETECTOR", help="File written by `rebel detect train`.")
]
Images = Annotated[Path, typer.Argument(metavar="IMAGES", help="Image file, or folder of images.")]
MinSize = Annotated[
    str,
    typer.Option(metavar="HxW", help="Smallest size of objects in pixels. Default: the window."),
]
ScaleFactor = Annotated[
    float, typer.Option(metavar="F", min=1.01, max=10, help="Ratio of successive sizes.")
]
Threshold = Annotated[
    float,
    typer.Option(metavar="S", help="Report boxes with a higher score. Lower finds more."),
]


def _output(as_json: bool) -> "Output":
    from rebelboost.cli.output import Output

    return Output(as_json=as_json)


@detect_app.command("train", short_help="Train a detector from crops and backgrounds.")
def detect_train_command(  # noqa: PLR0913, PLR0917  (options)
    crops: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Images of the object, each cropped to it."),
    ],
    backgrounds: Annotated[Path, typer.Option(metavar="FOLDER", help="Images without the object.")],
    to: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = Path("detector.safetensors"),
    window: Annotated[
        str,
        typer.Option(
            metavar="HxW",
            help="Height and width of the window in pixels, such as 24x24. Default: the proportions of "
            "the crops, with the shorter side 24 or less.",
        ),
    ] = "",
    features: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="haar: differences of brightness, fast. channels: also gradients, usually more accurate.",
        ),
    ] = "haar",
    terms: Annotated[int, typer.Option(metavar="N", min=1, help="Number of trees.")] = 200,
    depth: Annotated[int, typer.Option(metavar="N", min=1, max=6, help="Depth of the trees.")] = 2,
    price_of_a_miss: Annotated[
        float,
        typer.Option(metavar="COST", help="Cost of a missed object; a false alarm costs 1."),
    ] = 1.0,
    copies: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=100,
            help="Random copies of each crop to train on, too: shifted, resized and turned a little.",
        ),
    ] = 0,
    turn: Annotated[
        float,
        typer.Option(metavar="DEGREES", min=0, max=180, help="Largest angle of copies."),
    ] = 10.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed.")] = 0,
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Train a detector and write it to a file.

    Windows of the backgrounds that are mistaken for objects are added to the training, stage by stage.
    """
    with reported(traced=traceback):
        from rebelboost.cli.detect import DetectorOptions, run_detector_training

        options = DetectorOptions(
            window, features, terms, depth, price_of_a_miss, copies, turn, seed, threads
        )
        run_detector_training(
            crops, backgrounds, to, options=options, force=force, output=_output(as_json)
        )


@detect_app.command("run", short_help="Find objects in images.")
def detect_run_command(  # noqa: PLR0913, PLR0917  (options)
    detector: DetectorFile,
    images: Images,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file to write. Default: stdout."),
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each image with its boxes to this folder."),
    ] = None,
    min_size: MinSize = "",
    scale_factor: ScaleFactor = 1.25,
    threshold: Threshold = 0.0,
    threads: Threads = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write a box for each object found: image, left, top, width, height, score."""
    with reported(traced=traceback):
        from rebelboost.cli.detect import SearchOptions, run_detection

        options = SearchOptions(min_size, scale_factor, threshold, threads)
        run_detection(detector, images, to, draw, options=options, output=_output(as_json))


@detect_app.command("evaluate", short_help="Compare the boxes found with the true ones.")
def detect_evaluate_command(  # noqa: PLR0913, PLR0917  (options)
    detector: DetectorFile,
    images: Images,
    boxes: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="CSV file of the true boxes: image, left, top, width, height, one row per object.",
        ),
    ],
    overlap: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.01,
            max=1.0,
            help="A box is right if it and a true box share this much of their union.",
        ),
    ] = 0.5,
    min_size: MinSize = "",
    scale_factor: ScaleFactor = 1.25,
    threshold: Threshold = 0.0,
    threads: Threads = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Print how many of the true boxes are found, and how many false alarms there are."""
    with reported(traced=traceback):
        from rebelboost.cli.detect import SearchOptions, run_detector_evaluation

        options = SearchOptions(min_size, scale_factor, threshold, threads)
        run_detector_evaluation(
            detector, images, boxes, overlap=overlap, options=options, output=_output(as_json)
        )
