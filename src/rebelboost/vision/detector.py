"""A detector of objects in images, trained from crops of the objects and from images without any."""

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from rebelboost.base.writing import write_text_whole
from rebelboost.estimators.validation import threads_of
from rebelboost.exceptions import ModelFileError
from rebelboost.files.safetensors import Contents, read
from rebelboost.learners.stump import Stump
from rebelboost.vision.augmentation import with_copies
from rebelboost.vision.backgrounds import Backgrounds
from rebelboost.vision.detections import Detection, Detections
from rebelboost.vision.explanation import DetectionExplanation
from rebelboost.vision.features import Size, check_window
from rebelboost.vision.images import resized
from rebelboost.vision.opencv_xml import cascade_xml
from rebelboost.vision.scanning import (
    FoundWindows,
    levels,
    merge_overlaps,
    scales_between,
    scan_level,
)
from rebelboost.vision.storage import unpack_detector, write_detector
from rebelboost.vision.training import (
    Boosting,
    DetectorPlan,
    Stage,
    train_detector,
    window_trees,
)
from rebelboost.vision.transformer import Kind, feature_pool
from rebelboost.vision.validation import (
    any_image,
    check_parameters,
    scale_of,
    training_backgrounds,
    training_crops,
)

HAAR_DRAWN = 6000
"""Number of Haar features drawn by default, out of about 10⁵."""

PAPERS: dict[str, dict[str, Any]] = {
    "viola_jones": {
        "features": "haar",
        "depth": 1,
        "outputs": "tree",
        "price_of_a_miss": 1.0,
        "mirror": False,
        "shrinkage": 1.0,
        "weight_trimming": None,
        "bins": "exact",
    }
}
"""Published methods: name → parameters."""
EXACT_STUMP = Stump(binning="exact", search="exhaustive")


class Detector(BaseEstimator):
    """Find objects in images, by boosted trees on sums over rectangles.

    Training needs crops of the object, and images without it. Backgrounds are searched in stages: the windows
    that the detector so far mistakes for objects are added to the next training. In an image, most windows
    are left after a few terms (a soft cascade).

    Parameters
    ----------
    window : (height, width), default=(24, 24)
        Size of the window in pixels, which is the smallest size of objects. Crops are resized to it; choose
        their proportions.
    features : {"haar", "channels"}, default="haar"
        "haar": differences of brightness between rectangles, fast. "channels": also sums of gradients by
        orientation, usually more accurate.
    n_terms : int, default=200
        Number of trees.
    depth : int, default=2
        Depth of the trees; 1 for stumps.
    outputs : {"leaf", "tree"}, default="leaf"
        "leaf" gives each leaf its own output, usually more accurate. "tree" has one output for the tree, whose
        sign each leaf chooses, as in the papers; such trees are found by the pruned search [QUICK].
    n_features : int, default=None
        Number of features to draw at random. None: 6,000 Haar features, or 4,000 features of channels.
    price_of_a_miss : float, default=1.0
        Cost of a missed object relative to that of a false alarm, used in training.
    detection_rate : float, default=0.95
        Least share of the crops to detect. The threshold is lowered until so many crops are detected that were
        left out of training.
    false_alarm_rate : float, default=1e-6
        Training ends when the false alarms per window of the backgrounds are at most this.
    early_misses : float, default=0.005
        Share of the objects that may be lost by leaving windows early. Larger is faster.
    mirror : bool, default=True
        Whether to train on mirrored crops, too.
    copies : int, default=0
        Number of random copies of each crop to train on, too: shifted by up to 2.5 % of its sides, resized
        by up to 8 %, narrowed by up to 12 %, and turned. Use them if crops are aligned more exactly than
        objects in images will be.
    turn : float, default=10.0
        Largest angle of copies, in degrees.
    n_windows : int, default=10000
        Maximum number of background windows to train on.
    max_stages : int, default=8
        Maximum number of stages.
    shrinkage : float, default=0.5
        Factor of the outputs of each tree.
    weight_trimming : float, default=0.99
        Share of the weight of the windows that a tree is grown on: the heaviest, which are soon a small
        part. None: all windows.
    bins : int or "exact", default=64
        Number of bins of a feature. With 255, cars and faces are not found better, and training is slower.
        "exact", for stumps, puts thresholds between any two values; it keeps the values of all features in
        memory, 8 bytes each.
    cascade : {"soft", "staged"}, default="soft"
        Where windows are left: after any term, or, with "staged", after the 2nd, 4th, 8th, … only.
    step : int, default=None
        Distance between scanned windows, in pixels of the window. None: a twelfth of its smaller side.
    n_jobs : int, default=None
        Number of threads; -1 uses all cores.
    random_state : int, default=0
        Random seed.
    callback : callable, default=None
        Called after each stage with its record, a `Stage`.

    Attributes
    ----------
    model_ : DetectorModel
        The detector as arrays.
    stages_ : list of Stage
        Detection and false-alarm rates of each stage of training.
    detection_rate_ : float
        Share of the crops detected by terms that were fitted on other crops, at the final threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from rebelboost.vision import Detector
    >>> rng = np.random.default_rng(0)
    >>> crops = rng.integers(0, 60, (40, 12, 12), dtype=np.uint8)
    >>> crops[:, 3:9, 3:9] += 120
    >>> background = rng.integers(0, 180, (90, 120), dtype=np.uint8)
    >>> detector = Detector((12, 12), n_terms=10, n_features=500).fit(crops, [background])
    >>> image = background.copy()
    >>> image[30:42, 50:62] = crops[0]
    >>> [tuple(map(round, found.box)) for found in detector.detect(image)]
    [(50, 30, 12, 12)]
    """

    def __init__(  # noqa: PLR0913  (parameters of an estimator)
        self,
        window: Size = (24, 24),
        features: Kind = "haar",
        *,
        n_terms: int = 200,
        depth: int = 2,
        outputs: Literal["leaf", "tree"] = "leaf",
        n_features: int | None = None,
        price_of_a_miss: float = 1.0,
        detection_rate: float = 0.95,
        false_alarm_rate: float = 1e-6,
        early_misses: float = 0.005,
        mirror: bool = True,
        copies: int = 0,
        turn: float = 10.0,
        n_windows: int = 10_000,
        max_stages: int = 8,
        shrinkage: float = 0.5,
        weight_trimming: float | None = 0.99,
        bins: int | Literal["exact"] = 64,
        cascade: Literal["soft", "staged"] = "soft",
        step: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        callback: Callable[[Stage], Any] | None = None,
    ) -> None:
        self.window = window
        self.features = features
        self.n_terms = n_terms
        self.depth = depth
        self.outputs = outputs
        self.n_features = n_features
        self.price_of_a_miss = price_of_a_miss
        self.detection_rate = detection_rate
        self.false_alarm_rate = false_alarm_rate
        self.early_misses = early_misses
        self.mirror = mirror
        self.copies = copies
        self.turn = turn
        self.n_windows = n_windows
        self.max_stages = max_stages
        self.shrinkage = shrinkage
        self.weight_trimming = weight_trimming
        self.bins = bins
        self.cascade = cascade
        self.step = step
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback

    @classmethod
    def papers(cls, name: str, **options: Any) -> Self:
        """Return a detector set to a published method.

        Parameters
        ----------
        name : {"viola_jones"}
            Plain AdaBoost on exact stumps of Haar features [ADA, Sec. 3.4.3]: no shrinkage, no weight
            trimming, no mirrored crops, and a miss that costs what a false alarm costs. All values of
            `n_features` are searched in every round, which takes minutes with thousands of them.
        **options
            Other parameters, such as `window`, `n_terms`, `n_features` or `cascade`.

        Returns
        -------
        Detector
            Not fitted.
        """
        if name not in PAPERS:
            raise ValueError(
                f"Detector has no published method {name!r}: choose {' or '.join(PAPERS)}"
            )
        for option in options:
            if option in PAPERS[name]:
                raise ValueError(
                    f"{option} is part of the published method {name!r}: change it with set_params"
                )
        return cls(**PAPERS[name], **options)

    # ---- training

    def fit(self, crops: Iterable[Any], backgrounds: Iterable[Any]) -> Self:
        """Train the detector.

        Parameters
        ----------
        crops : list of images or paths, or array of shape (N, height, width)
            Objects, each filling its image as it will fill the box. Crops of other sizes than the window are
            resized to it.
        backgrounds : list of images or paths
            Images without any object, at least as large as the window.

        Returns
        -------
        self
        """
        window = check_window(self.window)
        check_parameters(self)
        objects = training_crops(crops, window)
        others = Backgrounds(training_backgrounds(backgrounds, window), window)
        n = len(objects)
        groups = np.arange(n)
        if self.mirror:
            objects = np.concatenate([objects, objects[:, :, ::-1]])
            groups = np.tile(groups, 2)
        seed = self._seed()
        objects, groups = with_copies(objects, groups, int(self.copies), float(self.turn), seed)
        n_features = self.n_features
        if n_features is None and self.features == "haar":
            n_features = HAAR_DRAWN
        plan = DetectorPlan(
            window=window,
            pool=feature_pool(self.features, window, 1, n_features, seed),
            n_terms=int(self.n_terms),
            learner=EXACT_STUMP
            if self.bins == "exact"
            else window_trees(int(self.depth), self.outputs),
            boosting=Boosting(
                float(self.shrinkage), self.weight_trimming, self.bins, self.cascade == "staged"
            ),
            price=float(self.price_of_a_miss),
            detection=float(self.detection_rate),
            target=float(self.false_alarm_rate),
            miss=float(self.early_misses),
            n_windows=int(self.n_windows),
            max_stages=int(self.max_stages),
            step=self._step(window),
            seed=seed,
            n_threads=threads_of(self.n_jobs),
        )
        trained = train_detector(objects, groups, others, plan, self.callback)
        self.model_ = trained.model
        self.stages_ = trained.stages
        self.detection_rate_ = float(np.mean(trained.left_out_scores > 0))
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))

    def _step(self, window: Size) -> int:
        return max(1, min(window) // 12) if self.step is None else int(self.step)

    # ---- detection

    def detect(
        self,
        image: Any,
        *,
        min_size: Size | None = None,
        max_size: Size | None = None,
        scale_factor: float = 1.25,
        overlap: float = 0.5,
        threshold: float = 0.0,
    ) -> Detections:
        """Find objects of all sizes.

        Parameters
        ----------
        image : array or path
            Grey or colour image; bytes, or floats from 0 to 1.
        min_size, max_size : (height, width), default=None
            Smallest and largest size of objects in pixels. None: the window, and the image. Sizes below the
            window enlarge the image.
        scale_factor : float, default=1.25
            Ratio of successive sizes.
        overlap : float, default=0.5
            Windows are merged if their intersection is more than this share of the smaller one.
        threshold : float, default=0.0
            Report windows with a higher score. Lower values find more objects and false alarms.

        Returns
        -------
        Detections
            Boxes by decreasing score.
        """
        model = self._fitted()
        pixels = any_image(image, "the image")
        if not 1.01 <= scale_factor <= 10:
            raise ValueError(f"scale_factor is {scale_factor!r}: give a number from 1.01 to 10")
        if not 0 <= overlap < 1:
            raise ValueError(f"overlap is {overlap!r}: give a share from 0 to below 1")
        window, n_threads = model.window, threads_of(self.n_jobs)
        smallest = scale_of(min_size, window, "min_size") if min_size is not None else 1.0
        largest = min(pixels.shape[0] / window[0], pixels.shape[1] / window[1])
        if max_size is not None:
            largest = min(largest * 1.001, scale_of(max_size, window, "max_size"))
        scales = scales_between(smallest, largest, scale_factor)
        step = self._step(window)
        scanned = [
            scan_level(model, level, step, threshold, n_threads)
            for level in levels(pixels, window, scales)
        ]
        parts = [each.found for each in scanned]
        nothing = FoundWindows(
            np.empty((0, 4)), np.empty(0), np.empty((0, *window), dtype=np.uint8)
        )
        found = FoundWindows(
            *(np.concatenate(arrays) for arrays in zip(nothing, *parts, strict=True))
        )
        merged, counts = merge_overlaps(found, overlap)
        return Detections(
            merged.boxes,
            merged.scores,
            counts,
            merged.windows,
            sum(each.n_windows for each in scanned),
            sum(each.n_terms for each in scanned),
        )

    def score_windows(self, crops: Iterable[Any]) -> Any:
        """Score of crops, each taken as one window. Objects have a score above 0.

        Parameters
        ----------
        crops : list of images, or array of shape (N, height, width)
            Crops; other sizes than the window are resized.

        Returns
        -------
        array of shape (N,)
        """
        model = self._fitted()
        images = [any_image(crop, f"crop {i}") for i, crop in enumerate(crops)]
        windows = np.stack([resized(image, model.window) for image in images])
        return model.scores(windows, threads_of(self.n_jobs))

    def explain(self, detection: Detection | Any) -> DetectionExplanation:
        """Explain why a box was detected: the rectangles that decided, for and against.

        Parameters
        ----------
        detection : Detection or image
            An item of the result of `detect`, or a crop.

        Returns
        -------
        DetectionExplanation
            With a table of the terms, and `plot`.
        """
        model = self._fitted()
        if isinstance(detection, Detection):
            return DetectionExplanation.of(model, detection.window)
        return DetectionExplanation.of(
            model, resized(any_image(detection, "the crop"), model.window)
        )

    # ---- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the detector to a file, as arrays. `load_detector` reads it."""
        model = self._fitted()
        parameters = {
            "features": self.features,
            "step": self._step(model.window),
            "detection_rate": self.detection_rate_,
        }
        write_detector(model, self.stages_, parameters, path)

    def to_opencv_xml(self, path: str | os.PathLike[str] | None = None) -> str:
        """The detector as a cascade for OpenCV 4's `cv2.CascadeClassifier`; Haar features only.

        A soft cascade is written as stages of the first 2, 8, 32, … terms, each with its exit threshold. OpenCV
        computes in 32 bits, and skips windows of low contrast, so that single windows may differ.

        Parameters
        ----------
        path : str or path-like, default=None
            File to write.

        Returns
        -------
        str
            The XML text.
        """
        text = cascade_xml(self._fitted())
        if path is not None:
            write_text_whole(path, text)
        return text

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            raise NotFittedError("this Detector is not fitted yet: call fit, or use load_detector")
        return self.model_


def load_detector(path: str | os.PathLike[str]) -> Detector:
    """Load a detector saved by `Detector.save`. Loading executes no code from the file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Detector
        It detects the same boxes, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is damaged or is not a detector.
    """
    try:
        return restore_detector(read(path))
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)} {fault}") from None


def restore_detector(contents: Contents) -> Detector:
    """Create a detector from the contents of a file."""
    stored = unpack_detector(contents)
    model, parameters = stored.model, stored.parameters
    detector = Detector(
        model.window, parameters["features"], n_terms=len(model), step=parameters["step"]
    )
    detector.model_ = model
    detector.stages_ = stored.stages
    detector.detection_rate_ = parameters["detection_rate"]
    return detector
