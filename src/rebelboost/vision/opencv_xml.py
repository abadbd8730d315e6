"""Detectors on Haar features as cascades for OpenCV 4, in the format of its `opencv_traincascade`."""

import numpy as np

from rebelboost.vision.features import GREY
from rebelboost.vision.model import DetectorModel

GROWTH = 4
"""A stage has this many times the terms of the one before it."""
LOWEST = -1e30
"""For exit thresholds of −∞."""

HEAD = """<?xml version="1.0"?>
<opencv_storage>
<cascade type_id="opencv-cascade-classifier">
<stageType>BOOST</stageType>
<featureType>HAAR</featureType>
<height>{height}</height>
<width>{width}</width>
<stageParams>
<boostType>DAB</boostType>
<minHitRate>0.995</minHitRate>
<maxFalseAlarm>0.5</maxFalseAlarm>
<weightTrimRate>0.95</weightTrimRate>
<maxDepth>{depth}</maxDepth>
<maxWeakCount>{n_terms}</maxWeakCount>
</stageParams>
<featureParams>
<maxCatCount>0</maxCatCount>
<featSize>1</featSize>
<mode>BASIC</mode>
</featureParams>
<stageNum>{n_stages}</stageNum>
<stages>
"""
STAGE = """<_>
<maxWeakCount>{n_terms}</maxWeakCount>
<stageThreshold>{floor}</stageThreshold>
<weakClassifiers>
{trees}
</weakClassifiers>
</_>"""
MIDDLE = "\n</stages>\n<features>\n"
TAIL = "\n</features>\n</cascade>\n</opencv_storage>\n"


def cascade_xml(model: DetectorModel) -> str:
    """XML text of a cascade. OpenCV's stages start from 0, so each repeats the terms before it."""
    if np.any(model.rectangles.planes != GREY):
        raise ValueError(
            'OpenCV cannot compute features of gradients: train a Detector with features="haar"'
        )
    if len(model) == 0:
        raise ValueError("the detector has no terms: train it on other crops or backgrounds")
    height, width = model.window
    ends = stage_ends(len(model))
    head = HEAD.format(
        height=height,
        width=width,
        depth=int(model.trees.depths.max()),
        n_terms=len(model),
        n_stages=len(ends),
    )
    trees = [_tree(model, t) for t in range(len(model))]
    stages = []
    for end in ends:
        floor = (
            model.threshold
            if end == len(model)
            else max(float(model.exit_thresholds[end - 1]), LOWEST)
        )
        stages.append(STAGE.format(n_terms=end, floor=_number(floor), trees="\n".join(trees[:end])))
    features = [_feature(model, i) for i in range(len(model.rectangles.planes))]
    return head + "\n".join(stages) + MIDDLE + "\n".join(features) + TAIL


def stage_ends(n_terms: int) -> list[int]:
    """Numbers of terms at the ends of the stages: 2, 8, 32, …, all."""
    ends, end = [], 2
    while end < n_terms:
        ends.append(end)
        end *= GROWTH
    return [*ends, n_terms]


def _number(value: float) -> str:
    return f"{np.float32(value):.9g}"


def _tree(model: DetectorModel, tree: int) -> str:
    """Nodes of a tree: left, right, feature, threshold. A child of −i is leaf i, others are nodes."""
    trees = model.trees
    first, n = int(trees.node_offsets[tree]), int(trees.n_nodes[tree])
    nodes = []
    for i in range(n):
        left, right = (child if child < n else n - child for child in (2 * i + 1, 2 * i + 2))
        feature, threshold = trees.features[first + i], trees.thresholds[first + i]
        # OpenCV's value < threshold goes left, ours ≤. At a node without a split, all go left.
        above = np.nextafter(np.float32(min(threshold, -LOWEST)), np.float32(np.inf))
        nodes.append(f"{left} {right} {max(int(feature), 0)} {_number(float(above))}")
    leaf = int(trees.leaf_offsets[tree])
    leaves = " ".join(_number(float(v)) for v in trees.outputs[leaf : leaf + n + 1, 0])
    inside = f"<internalNodes>{' '.join(nodes)}</internalNodes>"
    return f"<_>\n{inside}\n<leafValues>{leaves}</leafValues>\n</_>"


def _feature(model: DetectorModel, i: int) -> str:
    _, corners, weights = model.rectangles
    rectangles = []
    for r in np.flatnonzero(weights[i]):
        top, left, bottom, right = corners[i, 4 * r : 4 * r + 4].tolist()
        rectangles.append(f"<_>{left} {top} {right - left} {bottom - top} {weights[i, r]}.</_>")
    inside = "\n".join(rectangles)
    return f"<_>\n<rects>\n{inside}\n</rects>\n<tilted>0</tilted>\n</_>"
