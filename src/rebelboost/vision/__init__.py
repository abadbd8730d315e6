"""Detection of objects in images: features, training, scanning. Files are read by Pillow (extra `vision`)."""

from rebelboost.vision.transformer import RectangleFeatures

__all__ = ["RectangleFeatures"]
