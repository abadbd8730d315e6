"""Regression: the first prediction, when to compare candidates, and the fitted regressor with its intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.boosting.rounds import History
from rebelboost.boosting.settings import Recipe, Settings
from rebelboost.data.samples import Samples
from rebelboost.learners import LEARNERS
from rebelboost.learners.base import WeakLearner, traits_of
from rebelboost.learners.tree import Tree
from rebelboost.losses.regression import AnyRegressionLoss, regression_kind
from rebelboost.model.ensemble import Ensemble, weighted_sum
from rebelboost.model.fitted import FittedRegressor, LearnedCosts, Provenance
from rebelboost.selection.calibration import HeldOutScorer, RegressionScorer
from rebelboost.selection.candidates import LEAST_MASS, Entry, regression_candidates
from rebelboost.selection.cross_fit import share_of_time
from rebelboost.selection.intervals import intervals_from, learn_intervals
from rebelboost.selection.race import n_parts_of
from rebelboost.selection.result import CrossFit
from rebelboost.tasks.base import RACES, Choice, Found, Table, is_race

TREE = Tree(depth=5, least_mass=LEAST_MASS)
FOR_RACE = 0.85
"""Share of a time budget for the model; the rest is for its intervals."""
N_ROUNDS, SHRINKAGE, SUBSAMPLE = 300, 0.1, 0.3
"""Settings of a single fit by default."""
FEW, ROUNDS_FOR_FEW = 500, 100
"""With fewer distinct samples, a single fit has so many rounds by default.

On the four sets for choosing with fewer (benchmarks/regression.py), the RMSE was 0.90 of LightGBM's, and 0.93
with 300 rounds.
"""
N_FOLDS = 5
FEWEST_TO_RACE = 10
"""Fewest samples for a cross-fit by default."""


@dataclass(frozen=True, eq=False)
class RegressionTask:
    """Numbers to be predicted."""

    baseline: float
    """Prediction before the first round."""
    objective: RegressionObjective
    """The loss that is trained with."""
    stops_early: bool = False
    """Whether held-out samples choose the number of rounds."""

    learners: ClassVar[Mapping[str, WeakLearner]] = {
        **dict.fromkeys(RACES, TREE),
        **{n: kind() for n, kind in LEARNERS.items() if traits_of(kind()).predicts_numbers},
        "tree": TREE,
    }
    error_format: ClassVar[str] = ".4g"
    parts_of_many: ClassVar[int] = 1
    draws_by_value: ClassVar[bool] = True
    n_outputs: ClassVar[int] = 1
    is_constant: ClassVar[bool] = False

    @staticmethod
    def loss_needs_all_rows(loss: AnyRegressionLoss) -> bool:
        """Losses whose first prediction is a median do."""
        return regression_kind(loss).needs_all_rows

    # ---- settings

    def recipe(self, learner: WeakLearner) -> Recipe:
        """A learner with small steps, each on some of the samples."""
        return Recipe(learner, N_ROUNDS, SHRINKAGE, SUBSAMPLE)

    def recipe_alone(self, learner: WeakLearner, n_distinct: Callable[[], int]) -> Recipe:
        """The same with fewer rounds if there are few samples, and nothing else chooses their number."""
        recipe = self.recipe(learner)
        if not self.stops_early and n_distinct() < FEW:
            recipe = recipe._replace(rounds=ROUNDS_FOR_FEW)
        return recipe

    def n_folds(self, named: Any, learner: WeakLearner, samples: Samples) -> int:
        """Number of folds by default, if candidates are compared."""
        del learner
        return N_FOLDS if is_race(named) and len(samples) >= FEWEST_TO_RACE else 0

    def candidates(
        self, settings_of: Callable[[Recipe], Settings], samples: Samples
    ) -> list[Entry]:
        """Candidates of a race."""
        return regression_candidates(settings_of, samples.X)

    def check_averaged(self, learner: WeakLearner, samples: Samples) -> None:
        """Nothing: every learner of a regression can be averaged."""

    def trained_on(self, samples: Samples) -> Samples:
        """The samples themselves."""
        return samples

    def scorer(self, samples: Samples, table: Table, n_threads: int) -> RegressionScorer:
        """Judges held-out predictions by their error."""
        del table, n_threads
        return RegressionScorer(samples, self.objective)

    def deadline_of_race(self, deadline: float) -> float:
        """Earlier than the deadline: intervals take time too."""
        return share_of_time(deadline, FOR_RACE)

    # ---- the model

    def alone(self, ensemble: Ensemble, history: History) -> Found:
        """The result of a single fit, without intervals."""
        return Found(ensemble, history, None)

    def averaged(
        self, found: CrossFit, scorer: HeldOutScorer, settings: Settings, deadline: float
    ) -> Found:
        """The result of a cross-fit: with its best factor in the terms, and with intervals."""
        factor = found.temperature
        ensemble = stretched(found.ensemble, factor, found.history)
        found = replace(found, ensemble=ensemble, temperature=1.0, left_out=factor * found.left_out)
        intervals = learn_intervals(scorer.samples, found, settings, deadline)
        found = replace(found, left_out=found.left_out + self.baseline)
        return Found(ensemble, found.history, None, found, intervals)

    def chosen(self, found: Found, choice: Choice) -> Found:
        """With the factor that was best on the samples in its terms, and with intervals from them."""
        ensemble, winner = found.ensemble, choice.winner
        if winner.factor != 1:
            ensemble = stretched(ensemble, winner.factor, found.history)
        left_out = winner.left_out[:, 0]
        intervals = intervals_from(choice.samples, winner.rows, left_out, choice.most)
        return found._replace(ensemble=ensemble, intervals=intervals)

    def calibrated(self, found: Found, held: Samples) -> Found:
        """The same: predictions need no calibration."""
        del held
        return found

    def decided_alone(self, *, racing: bool) -> "RegressionTask":
        """The same."""
        del racing
        return self

    def n_parts_of_sample(self, n_samples: int) -> int:
        """As many as in memory: intervals need residuals of most samples."""
        return n_parts_of(n_samples, N_FOLDS) if n_samples >= FEWEST_TO_RACE else 0

    def model(
        self,
        table: Table,
        found: Found,
        provenance: Provenance,
        facts: Callable[[Any], dict[str, float]],
        learn_costs: Callable[[], LearnedCosts | None],
    ) -> FittedRegressor:
        """The fitted regressor."""
        del facts, learn_costs
        return FittedRegressor(
            encoder=table.encoder,
            feature_names=table.names,
            ensemble=found.ensemble,
            baseline=self.baseline,
            provenance=provenance,
            intervals=found.intervals,
        )


def stretched(ensemble: Ensemble, factor: float, history: History) -> Ensemble:
    """The terms times a factor: a regression has no decoder that could apply it."""
    ensemble = weighted_sum([ensemble], [factor])[0].on_grid()
    if len(ensemble) == 0:  # predictions that say nothing of new samples are dropped
        history.renumber_terms({})
    return ensemble
