"""Losses: from costs or targets to weights, and from weights to outputs."""

from rebelboost.losses.convex import ConvexLoss

__all__ = ["ConvexLoss"]
