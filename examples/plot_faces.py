"""A face detector trained on 100 crops: the face it finds, and the rectangles that decided.

Faces: `skimage.data.lfw_subset`. Backgrounds: photos of scikit-image without faces. (Needs scikit-image.)
"""

import sys

import numpy as np
from matplotlib import pyplot as plt
from skimage import data

from rebelboost.vision import Detector

SCENES = (
    data.brick,
    data.chelsea,
    data.coffee,
    data.grass,
    data.gravel,
    data.moon,
    data.page,
    data.rocket,
)


def main(file="faces.png"):
    crops = data.lfw_subset()  # 100 faces, then 100 others, of 25 × 25 pixels
    others = [scene() for scene in SCENES]
    detector = Detector((25, 25), "channels", n_terms=100, detection_rate=0.8, n_jobs=-1)
    detector.fit(crops[:100], [*others, *crops[100:]])

    photo = data.astronaut()
    found = detector.detect(photo, min_size=(40, 40), scale_factor=1.15)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
    found.plot(photo, axes[0])
    axes[0].set_title(f"{len(found)} found, {found.terms_per_window:.1f} terms per window", size=10)
    detector.explain(found[0]).plot(axes[1:], top=4)
    figure.savefig(file, dpi=110)
    stage = detector.stages_[-1]
    print(f"Left-out crops detected: {detector.detection_rate_:.0%}")
    print(f"False alarms per window of the backgrounds: {stage.false_alarm_rate:.1e}")
    print("Boxes:", np.round(found.boxes).astype(int).tolist())
    print(f"Written: {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])
