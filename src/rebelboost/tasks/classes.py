"""Classification: costs in training or in the decision, when to cross-fit, and the fitted classifier."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import ByClass, Floats
from rebelboost.base.cached import cached_property
from rebelboost.boosting.objectives import ClassObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.costs.by_sample import CostColumns
from rebelboost.costs.decision import DecisionRule
from rebelboost.costs.matrix import is_uniform, uniform
from rebelboost.costs.posterior import Decoder
from rebelboost.data.samples import Samples
from rebelboost.learners import LEARNERS
from rebelboost.learners.base import WeakLearner, traits_of
from rebelboost.learners.tree import Tree
from rebelboost.losses.classes import AnyClassLoss, decoded_as, loss_kind
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, LearnedCosts, Provenance
from rebelboost.model.training_counts import TrainingCounts, count_held_out, counted_class
from rebelboost.selection.calibration import ClassScorer, HeldOutScorer, neutral
from rebelboost.selection.candidates import Entry, class_candidates
from rebelboost.selection.race import n_parts_of
from rebelboost.selection.result import CrossFit
from rebelboost.tasks.base import RACES, Choice, Found, Table, is_race
from rebelboost.tasks.cost_learning import expected_by_sample

CROSS_FITTED = (*RACES, "tree")
"""Learners that are cross-fitted by default also if all mistakes cost the same: a single fit of trees has
probabilities that are far too sure."""
N_FOLDS, N_FOLDS_ALONE = 5, 10
"""Number of folds of a cross-fit by default: of several candidates, and of one."""
FEWEST_TO_CROSS_FIT = 12
"""Fewest samples for a cross-fit by default: smaller folds are too noisy to compare on.

With 12 to 19 samples a cross-fit errs less than a single fit (`benchmarks/live_few.py`).
"""


@dataclass(frozen=True, eq=False)
class ClassTask:
    """Classes to be predicted, with the costs of mistakes."""

    classes: NDArray[Any]
    """(K,) class labels, sorted."""
    class_weight: ByClass
    """(K,) total weight of each class's samples."""
    costs: Floats
    """(K, K) that decisions follow; the means of each class, where costs are by sample."""
    columns: CostColumns | None
    """Costs that columns of the table hold."""
    loss: AnyClassLoss
    subcosts: str
    """How costs become weights, or "auto"."""
    training: str
    """"costs", "neutral" or "auto": whether training knows the costs."""
    rule: DecisionRule
    by_sample: bool = False
    """Whether costs were given by sample."""

    learners: ClassVar[Mapping[str, WeakLearner]] = {
        **dict.fromkeys(RACES, Tree()),
        **{name: kind() for name, kind in LEARNERS.items()},
    }
    error_format: ClassVar[str] = ".2%"
    parts_of_many: ClassVar[int] = 2
    draws_by_value: ClassVar[bool] = False

    @staticmethod
    def loss_needs_all_rows(loss: AnyClassLoss) -> bool:
        """No loss of classes does."""
        del loss
        return False

    @cached_property
    def scheme(self) -> str:
        """Scheme of subcosts: the user's choice, or the one for which the loss bounds the cost."""
        if self.subcosts != "auto":
            return self.subcosts
        bounds = loss_kind(self.loss).thesis_bounds_cost
        plain = bounds or self.training == "neutral" or is_uniform(self.costs)
        return "thesis" if plain else "rebel"

    @property
    def objective(self) -> ClassObjective:
        """The loss that is trained with."""
        return ClassObjective(self.loss, self.scheme)

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def is_constant(self) -> bool:
        """Whether there is one class only."""
        return len(self.classes) == 1

    # ---- settings

    def recipe(self, learner: WeakLearner) -> Recipe:
        """A learner with its own number of rounds and shrinkage."""
        return Recipe(learner, learner.rounds, learner.shrinkage)

    def recipe_alone(self, learner: WeakLearner, n_distinct: Callable[[], int]) -> Recipe:
        """The same."""
        del n_distinct
        return self.recipe(learner)

    def n_folds(self, named: Any, learner: WeakLearner, samples: Samples) -> int:
        """Number of folds by default: where probabilities are needed, and samples suffice."""
        few = n_parts_of(len(samples), N_FOLDS) == N_FOLDS
        n_folds = N_FOLDS_ALONE if few and not is_race(named) else N_FOLDS
        if traits_of(learner).is_solved_at_once:
            return n_folds
        if is_uniform(self.costs) and not samples.by_sample:
            apt = isinstance(named, str) and named in CROSS_FITTED
        else:  # the decision needs a posterior
            apt = self.rule.by_cost and self.scheme == "thesis"
        return n_folds if apt and len(samples) >= FEWEST_TO_CROSS_FIT else 0

    def candidates(
        self, settings_of: Callable[[Recipe], Settings], samples: Samples
    ) -> list[Entry]:
        """Candidates of a race."""
        alike = self._is_neutral or (is_uniform(self.costs) and not samples.by_sample)
        return class_candidates(
            lambda learner: settings_of(self.recipe(learner)), samples, neutral=alike
        )

    def check_averaged(self, learner: WeakLearner, samples: Samples) -> None:
        """Raise an error for learners that know no costs, if they would be trained on costs."""
        alike = self._is_neutral or (is_uniform(self.costs) and not samples.by_sample)
        if traits_of(learner).is_solved_at_once and not alike:
            raise ValueError(
                f"{type(learner).__name__} cannot be trained on costs, as training={self.training!r} with "
                f"decision={self.rule.name!r} asks: set training='neutral', and the costs act in the "
                "decision"
            )

    # ---- costs in training, or in the decision

    def trained_on(self, samples: Samples) -> Samples:
        """The samples of a single fit: with their costs, unless the user asks for none."""
        return neutral(samples) if self.training == "neutral" else samples

    @property
    def _is_neutral(self) -> bool:
        """Whether a cross-fit is trained as if all mistakes cost the same."""
        if self.training == "auto":
            return self.rule.by_cost
        return self.training == "neutral"

    def scorer(self, samples: Samples, table: Table, n_threads: int) -> ClassScorer:
        """Judges held-out scores by their posterior, and by decisions with the samples' costs."""
        deciding = samples
        if samples.by_sample and self._is_neutral:
            deciding = replace(samples, decided_by=self._expected_costs(samples, table, n_threads))
        trained_on = neutral(samples) if self._is_neutral else samples
        return ClassScorer(trained_on, deciding, decoded_as(self.loss), self.scheme)

    def _expected_costs(self, samples: Samples, table: Table, n_threads: int) -> Floats:
        """(N, K, K) by which left-out samples are decided: from columns, or learned from other samples."""
        if self.columns is not None:
            return self.columns.applied(self.costs, samples.X, _texts(table))
        return expected_by_sample(samples, n_threads=n_threads)

    def deadline_of_race(self, deadline: float) -> float:
        """The deadline itself."""
        return deadline

    # ---- the model

    def alone(self, ensemble: Ensemble, history: History) -> Found:
        """The result of a single fit."""
        if self.is_constant:
            return Found(ensemble, history, Decoder(self.costs, loss=decoded_as(self.loss)))
        costs = self.trained_on_costs
        decoder = Decoder(costs, loss=decoded_as(self.loss), subcosts=self.scheme)
        return Found(ensemble, history, decoder)

    @property
    def trained_on_costs(self) -> Floats:
        """(K, K) costs of a single fit."""
        return uniform(len(self.costs)) if self.training == "neutral" else self.costs

    def averaged(
        self, found: CrossFit, scorer: HeldOutScorer, settings: Settings, deadline: float
    ) -> Found:
        """The result of a cross-fit."""
        del settings, deadline
        assert isinstance(scorer, ClassScorer)
        return Found(found.ensemble, found.history, scorer.decoder(found.temperature), found)

    def decided_alone(self, *, racing: bool) -> "ClassTask":
        """The task of one model, if not all rows are in memory.

        As in a cross-fit, a model whose settings were chosen by `racing` has probabilities of the classes as
        they are, and the costs act in the decision.
        """
        neutral_ = self.training == "neutral" or (
            racing and self.training == "auto" and self.rule.by_cost
        )
        if not neutral_:
            return self
        return replace(self, training="neutral", subcosts=self.scheme)

    def chosen(self, found: Found, choice: Choice) -> Found:
        """With the temperature and the offset that were best on the samples."""
        decoder = replace(found.decoder, temperature=choice.winner.factor)
        return found._replace(decoder=decoder, offset=choice.winner.offset)

    def calibrated(self, found: Found, held: Samples) -> Found:
        """With the temperature and the offset that are best on held-out samples."""
        held = replace(held, costs=found.decoder.costs, by_sample=False)
        scorer = ClassScorer(held, held, found.decoder.loss, found.decoder.subcosts)
        best = scorer.calibrated(found.ensemble.scores(held.X))
        decoder = replace(found.decoder, temperature=best.factor)
        return found._replace(decoder=decoder, offset=best.offset)

    def n_parts_of_sample(self, n_samples: int) -> int:
        """One."""
        del n_samples
        return 1

    def model(
        self,
        table: Table,
        found: Found,
        provenance: Provenance,
        facts: Callable[[Any], dict[str, float]],
        learn_costs: Callable[[], LearnedCosts | None],
    ) -> FittedClassifier:
        """The fitted classifier."""
        model = FittedClassifier(
            encoder=table.encoder,
            feature_names=table.names,
            ensemble=found.ensemble,
            classes=self.classes,
            class_weight=self.class_weight,
            costs=self.costs,
            decoder=found.decoder,
            rule=self.rule,
            columns=self.columns,
        )
        if self._needs_costs(found.decoder):
            model = replace(model, learned=learn_costs())
        provenance = replace(
            provenance, seen=_with_held_out(provenance.seen, model, found.cross_fit)
        )
        model = replace(model, provenance=replace(provenance, facts=facts(model)))
        if found.offset is not None and found.offset.any():
            model = replace(model, ensemble=model.ensemble.plus(found.offset))
        return model

    def _needs_costs(self, decoder: Decoder) -> bool:
        """Whether decisions need costs that were given for training samples only.

        The posterior must be one of the classes as they are: trained as if all mistakes cost the same.
        """
        unknown = self.by_sample and self.columns is None
        return unknown and self.rule.by_cost and is_uniform(decoder.costs)


def _with_held_out(
    seen: TrainingCounts | None, model: FittedClassifier, found: CrossFit | None
) -> TrainingCounts | None:
    """Count the probabilities of held-out rows too, part by part."""
    if seen is None or found is None or len(found.left_out) == 0:
        return seen
    parts = [np.flatnonzero(np.isin(found.rows, rows)) for rows in found.part_rows]
    posterior = model.posterior(found.left_out)
    return seen._replace(
        held_out=count_held_out(posterior, parts, counted_class(len(model.classes)))
    )


def _texts(table: Table) -> list[str]:
    assert table.names is not None
    return list(map(str, table.names))
