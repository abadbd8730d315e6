"""Facts about spread training samples that a guarantee needs (`rebelboost.theory.facts`)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Labels
from rebelboost.base.fixed_point import in_units
from rebelboost.costs.judge import confusion_of, rates, weighed
from rebelboost.distributed.reading import Sizes, Units
from rebelboost.model.fitted import FittedClassifier
from rebelboost.rows.base import Merge, Rows, added
from rebelboost.rows.block import Block
from rebelboost.theory.facts import SOON_SCORED, equal_within, may_mix
from rebelboost.theory.zero_cost import Lightest, least_added, rebel_levels_of


@dataclass(frozen=True)
class Decide:
    """Decide on the training rows, by the highest score and by the model's rule."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    model: FittedClassifier
    units: Units

    def apply(self, block: Block) -> tuple[Ints, Ints]:
        """Answer (2, K, K) confusions, and (2,) what decisions cost, both counted."""
        scored = block.scored(held=False)
        scores, labels = scored.scores, scored.rows.labels
        decisions = [
            np.argmax(scores, axis=1).astype(np.int32),
            self.model.decide(scores, scored.rows.cube),
        ]
        n_classes = scores.shape[1]
        confusions = [confusion_of(labels, own, n_classes, scored.counted) for own in decisions]
        paid = [self._paid(block, own) for own in decisions]
        return np.array(confusions).astype(np.int64), np.array(paid).astype(np.int64)

    def _paid(self, block: Block, decided: Labels) -> float:
        rows = block.scored(held=False).rows
        if rows.costs is None:
            return 0.0
        chosen = rows.costs[np.arange(len(decided)), decided]
        return float(in_units(weighed(chosen, rows.weight), self.units.paid).sum())


def _levels(
    model: FittedClassifier, sizes: Sizes, class_weight: ByClass, *, by_sample: bool
) -> dict[str, float]:
    """Levels of the loss, for the costs of the training (`rebelboost.theory.facts`)."""
    costs, loss, total = model.decoder.costs, model.decoder.loss, float(class_weight.sum())
    facts, there = {"floor": 0.0}, np.isfinite(sizes.lightest)
    lightest = Lightest(costs[there], sizes.lightest[there], total)
    if by_sample:
        level = sizes.least_paid / total
    elif _is_rebel(model) and not may_mix(model, costs, by_sample=False):
        levels = rebel_levels_of(costs, class_weight / total, lightest, loss)
        facts["floor"], facts["least_loss"] = levels.floor, levels.least_loss
        level = levels.zero_level
    elif model.subcosts == "thesis" and model.decoder.kind.thesis_bounds_cost:
        level = least_added(lightest.weight[:, np.newaxis] * lightest.rows, lightest.rows, total)
    else:
        return {}
    if np.isfinite(level) and level > 0:
        facts["zero_level"] = float(level)
    return facts


def _is_rebel(model: FittedClassifier) -> bool:
    """Whether the subcosts are REBEL's, or the same."""
    decoder = model.decoder
    alike = not decoder.kind.thesis_bounds_cost and equal_within(decoder.costs)
    return model.subcosts == "rebel" or alike


def facts_of(
    model: FittedClassifier,
    rows: Rows,
    sizes: Sizes,
    class_weight: ByClass,
    *,
    by_sample: bool,
) -> dict[str, float]:
    """The facts of one fit to all rows."""
    facts = {"by_sample": 1.0} if by_sample else {}
    facts |= _levels(model, sizes, class_weight, by_sample=by_sample)
    if not model.weighs_costs or sizes.n_rows * len(model.ensemble) > SOON_SCORED:
        return facts
    confusions, paid = rows.ask(Decide(model, sizes.units))
    names = ("cost_at_argmax", "cost_as_decided")
    for name, confusion, sum_ in zip(names, confusions.astype(np.float64), paid, strict=True):
        of_class = rates(confusion, model.costs)[1]
        by_row = float(sum_ * sizes.units.paid / (confusion.sum() * sizes.units.weight))
        facts[name] = by_row if by_sample or model.columns is not None else of_class
    return facts
