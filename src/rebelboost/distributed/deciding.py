"""Facts about spread training samples that a guarantee needs (`rebelboost.theory.facts`)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rebelboost.base.arrays import ByClass, Ints, Labels
from rebelboost.base.fixed_point import in_units
from rebelboost.costs.judge import confusion_of, rates, weighed
from rebelboost.distributed.agreement import Sizes
from rebelboost.distributed.parts import RowPart
from rebelboost.distributed.seam import Merge, SpreadRows, added
from rebelboost.distributed.steps import Units
from rebelboost.model.fitted import FittedClassifier
from rebelboost.theory.facts import SOON_SCORED


@dataclass(frozen=True)
class Decide:
    """Decide on the training rows, by the highest score and by the model's rule."""

    merge: ClassVar[Merge] = added
    lasting: ClassVar[bool] = False
    model: FittedClassifier
    units: Units

    def obey(self, part: RowPart) -> tuple[Ints, Ints]:
        """Answer (2, K, K) confusions, and (2,) what decisions cost, both counted."""
        scored = part.scored(held=False)
        scores = scored.scores
        decisions = [
            np.argmax(scores, axis=1).astype(np.int32),
            self.model.decide(scores, scored.rows.cube),
        ]
        n_classes = scores.shape[1]
        confusions = [
            confusion_of(scored.rows.labels, own, n_classes, scored.counted) for own in decisions
        ]
        paid = [self._paid(part, own) for own in decisions]
        return np.array(confusions).astype(np.int64), np.array(paid).astype(np.int64)

    def _paid(self, part: RowPart, decided: Labels) -> float:
        rows = part.scored(held=False).rows
        if rows.costs is None:
            return 0.0
        chosen = rows.costs[np.arange(len(decided)), decided]
        return float(in_units(weighed(chosen, rows.weight), self.units.paid).sum())


def facts_of(
    model: FittedClassifier,
    spread: SpreadRows,
    sizes: Sizes,
    class_weight: ByClass,
    *,
    by_sample: bool,
) -> dict[str, float]:
    """The facts of one fit to all rows."""
    facts = {"by_sample": 1.0} if by_sample else {}
    facts["floor"] = 0.0
    total = float(class_weight.sum())
    costs = model.decoder.costs
    there = np.isfinite(sizes.lightest)
    added_by = sizes.lightest[there, np.newaxis] * costs[there]
    least = sizes.least_paid if by_sample else np.min(added_by, initial=np.inf, where=added_by > 0)
    level = float(least / total)
    if np.isfinite(level) and level > 0:
        facts["zero_level"] = level
    if not model.weighs_costs or sizes.n_rows * len(model.ensemble) > SOON_SCORED:
        return facts
    confusions, paid = spread.ask(Decide(model, sizes.units))
    names = ("cost_at_argmax", "cost_as_decided")
    for name, confusion, sum_ in zip(names, confusions.astype(np.float64), paid, strict=True):
        of_class = rates(confusion, model.costs)[1]
        by_row = float(sum_ * sizes.units.paid / (confusion.sum() * sizes.units.weight))
        facts[name] = by_row if by_sample or model.columns is not None else of_class
    return facts
