"""Detection of objects in images: features, training, scanning. Files are read by Pillow (extra `vision`)."""

from rebelboost.vision.detections import Detection, Detections
from rebelboost.vision.detector import Detector, load_detector
from rebelboost.vision.explanation import DetectionExplanation
from rebelboost.vision.training import Stage
from rebelboost.vision.transformer import RectangleFeatures

__all__ = [
    "Detection",
    "DetectionExplanation",
    "Detections",
    "Detector",
    "RectangleFeatures",
    "Stage",
    "load_detector",
]
