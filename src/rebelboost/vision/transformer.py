"""A scikit-learn transformer: images of one size → features."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rebelboost.base.arrays import PLANES, Bytes, Floats, RectangleArrays
from rebelboost.estimators.validation import threads_of
from rebelboost.vision.features import (
    Size,
    channel_features,
    check_window,
    haar_features,
    n_haar_features,
    random_haar_features,
    take_features,
    window_features,
)
from rebelboost.vision.images import grey_windows

Kind = Literal["haar", "channels"]
KINDS = ("haar", "channels")
MOST_HAAR = 2_000_000
"""Haar features of larger pools are drawn one by one; all of them cannot be asked for."""
DEFAULT_CHANNELS = 4000
"""Number of features of channels that are drawn by default."""


def feature_pool(
    kind: Kind, window: Size, step: int, n_features: int | None, seed: int
) -> RectangleArrays:
    """Haar features: all, or some drawn at random. Features of channels are always drawn."""
    if kind not in KINDS:
        raise ValueError(f'features is {kind!r}: choose "haar" or "channels"')
    if n_features is not None and n_features < 1:
        raise ValueError(f"n_features is {n_features}: give 1 or more")
    if kind == "channels":
        return channel_features(window, n_features or DEFAULT_CHANNELS, seed)
    n = n_haar_features(window, step)
    rng = np.random.default_rng(seed)
    if n > MOST_HAAR:  # a window of 100 × 200 pixels has 192 million
        if n_features is None:
            raise ValueError(
                f"a window of {window[0]} × {window[1]} pixels has {n:,} Haar features, more than "
                f"{MOST_HAAR:,}: give n_features, a larger step or a smaller window"
            )
        return random_haar_features(window, n_features, rng)
    pool = haar_features(window, step)
    if n_features is None or n_features >= n:
        return pool
    return take_features(pool, np.sort(rng.choice(n, n_features, replace=False)))


class RectangleFeatures(TransformerMixin, BaseEstimator):
    """Compute Haar features or integral channel features of images of one size.

    Features are divided by the contrast of the image, so that neither brightness nor contrast matters.

    Parameters
    ----------
    features : {"haar", "channels"}, default="haar"
        "haar": Σ black − Σ white over two, three or four equal rectangles, in five orientations. "channels":
        Haar features and, for the magnitude of the gradient and six orientations, sums over rectangles.
    step : int, default=2
        Distance between the positions of Haar features, in pixels.
    n_features : int, default=None
        Number of features to draw at random. None: all Haar features, or 4,000 features of channels.
    chosen : array of int, default=None
        Indices of the only features to compute, such as those that a model uses. None: all.
    n_jobs : int, default=None
        Number of threads; -1 uses all cores.
    random_state : int, default=0
        Seed of the features drawn.

    Attributes
    ----------
    rectangles_ : RectangleArrays
        Planes, corners and weights of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from rebelboost.vision import RectangleFeatures
    >>> images = np.random.default_rng(0).integers(0, 256, (10, 24, 24), dtype=np.uint8)
    >>> RectangleFeatures().fit_transform(images).shape
    (10, 45396)
    """

    def __init__(
        self,
        features: Kind = "haar",
        *,
        step: int = 2,
        n_features: int | None = None,
        chosen: ArrayLike | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.features = features
        self.step = step
        self.n_features = n_features
        self.chosen = chosen
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the features for the size of the images.

        Parameters
        ----------
        X : array of shape (N, height, width), or list of images of one size
            Grey or colour images; bytes, or floats from 0 to 1.
        y : ignored

        Returns
        -------
        self
        """
        del y
        images = grey_windows(X)
        self.window_ = check_window(images.shape[1:])
        seed = self.random_state
        if not isinstance(seed, int):
            seed = int(check_random_state(seed).randint(2**31))
        pool = feature_pool(self.features, self.window_, self.step, self.n_features, seed)
        if self.chosen is not None:
            chosen = np.asarray(self.chosen)
            n = len(pool.planes)
            if (
                chosen.ndim != 1
                or chosen.dtype.kind not in "iu"
                or (chosen < 0).any()
                or (chosen >= n).any()
            ):
                raise ValueError(f"chosen must be a list of integers from 0 to {n - 1}")
            pool = take_features(pool, chosen)
        self.rectangles_ = pool
        return self

    def transform(self, X: Any) -> Floats:
        """Compute the features.

        Parameters
        ----------
        X : array of shape (N, height, width), or list of images
            Images of the same size as in `fit`.

        Returns
        -------
        array of shape (N, n_features)
        """
        check_is_fitted(self)
        return window_features(self._checked(X), self.rectangles_, threads_of(self.n_jobs))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names such as "grey 4,2 8×12": plane, top, left, height × width of the first rectangle."""
        del input_features
        check_is_fitted(self)
        planes, corners, _ = self.rectangles_
        names = [
            f"{PLANES[plane]} {top},{left} {bottom - top}×{right - left}"
            for plane, (top, left, bottom, right) in zip(planes, corners[:, :4], strict=True)
        ]
        return np.array(names, dtype=object)

    def _checked(self, X: Any) -> Bytes:
        images = grey_windows(X)
        if images.shape[1:] != self.window_:
            raise ValueError(
                f"images of {images.shape[1]} × {images.shape[2]} pixels, but fit had "
                f"{self.window_[0]} × {self.window_[1]}: resize them"
            )
        return images
