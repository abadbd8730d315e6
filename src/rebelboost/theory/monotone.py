"""What is proven of a model whose scores rise or fall with some features, in words.

With two classes, the probability of the second rises with its lead. With ordered classes and scores whose
leads H_{k+1} − H_k all rise, odds P_k/(1 − P_k) ∝ e^{2H_k} grow more for higher classes, and probabilities
sum to 1: so those of low classes fall up to some class, and those above it rise. Hence the probability of
being in class k or above rises for every k. Decisions follow if the difference between the costs of deciding
k and k + 1 rises with the true class [Topkis 1998], or if all mistakes cost the same, where the highest score
decides.
"""

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.names import printed
from rebelboost.costs.matrix import is_uniform
from rebelboost.model.fitted import FittedClassifier, FittedTerms


def promises(model: FittedTerms) -> list[str]:
    """A sentence for each feature, and one on decisions; none if nothing is promised."""
    if not model.monotone:
        return []
    if not isinstance(model, FittedClassifier):
        return _of_features(model, "prediction")
    classes = [printed(name) for name in model.classes]
    if len(classes) == 2:
        return [*_of_features(model, f"probability of {classes[1]}"), _of_decisions(model)]
    order = f"The classes are taken in the order {', '.join(classes)}."
    what = f"probability of {classes[1]} or above, and of each higher class or above,"
    return [order, *_of_features(model, what), _of_decisions(model)]


def _of_features(model: FittedTerms, what: str) -> list[str]:
    names = model.shown_names
    return [
        f"The {what} never {'falls' if sign > 0 else 'rises'} as {names[f]} rises, all else being equal."
        for f, sign in model.monotone
    ]


def _of_decisions(model: FittedClassifier) -> str:
    if model.by_sample:
        return "Decisions need not follow, as costs differ from row to row."
    if decisions_follow(model.costs):
        return "Decisions follow: they never move the other way."
    return "Decisions need not follow, with these costs."


def decisions_follow(costs: Floats) -> bool:
    """Whether decisions rise with the probabilities of higher classes."""
    steps = costs[:, :-1] - costs[:, 1:]
    return is_uniform(costs) or bool((np.diff(steps, axis=0) >= 0).all())
