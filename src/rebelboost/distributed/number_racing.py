"""learner="auto" of a regressor on spread rows; see `rebelboost.distributed.racing`."""

from typing import NamedTuple

from rebelboost.boosting.fit import Settings
from rebelboost.boosting.objectives import NumberObjective
from rebelboost.data.folds import folds
from rebelboost.data.samples import NumberSamples
from rebelboost.distributed.agreement import SpreadTable
from rebelboost.distributed.file_rows import in_memory
from rebelboost.distributed.quantities import NumberLoss
from rebelboost.distributed.racing import N_FOLDS, sampled
from rebelboost.distributed.refusals import is_spreadable
from rebelboost.distributed.seam import SpreadRows
from rebelboost.estimators.inputs import seed_of, threads_of
from rebelboost.estimators.number_training import FEWEST_TO_RACE, number_learner, recipe_settings
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.learners.stump import Stump
from rebelboost.learners.tree import Tree
from rebelboost.model.intervals import Intervals
from rebelboost.selection.crew import Crew
from rebelboost.selection.judging import NumberJudging
from rebelboost.selection.number_candidates import Recipe, number_candidates
from rebelboost.selection.race import n_parts_of
from rebelboost.selection.spread import intervals_from
from rebelboost.selection.waves import Parts, winner


class NumberChoice(NamedTuple):
    """Settings of the fit to all rows."""

    learner: Tree | Stump
    rounds: int
    shrinkage: float
    subsample: float
    feature_subsample: float
    factor: float = 1.0
    """Factor of the outputs, by left-out rows."""
    intervals: Intervals | None = None


def given_numbers(reg: RebelRegressor, rounds: int | None = None) -> NumberChoice:
    """The settings that the user has chosen; `rounds` are for n_rounds="auto"."""
    recipe = Recipe(number_learner(reg.learner))
    if rounds is not None:
        recipe = recipe._replace(rounds=rounds)
    return _choice(recipe_settings(reg, recipe, NumberObjective()))


def _choice(settings: Settings) -> NumberChoice:
    assert isinstance(settings.learner, Tree | Stump)
    sampling = settings.sampling
    return NumberChoice(
        settings.learner,
        settings.rounds,
        settings.shrinkage,
        sampling.subsample,
        sampling.feature_subsample,
    )


def raced_numbers(
    reg: RebelRegressor, spread: SpreadRows, table: SpreadTable, loss: NumberLoss
) -> NumberChoice:
    """Compare candidates on a sample of the rows; choose the best, and learn intervals from left-out rows."""
    seed = seed_of(reg.random_state)
    rows = sampled(spread, seed)
    assert rows.target is not None
    samples = NumberSamples(
        in_memory(rows.X),
        rows.target - loss.baseline,
        rows.weight,
        table.encoder.categorical,
        given=rows.target,
    )
    if len(samples) < FEWEST_TO_RACE:
        return given_numbers(reg)
    objective = NumberObjective(loss.name, loss.delta)
    every = number_candidates(lambda recipe: recipe_settings(reg, recipe, objective), samples.X)
    running = [each for each in every if is_spreadable(each.settings.learner)]
    parts = Parts(folds(samples, N_FOLDS, seed)[: n_parts_of(len(samples), N_FOLDS)])
    crew = Crew(threads_of(reg.n_jobs))
    found = winner(NumberJudging(samples, objective), running, parts, crew)
    most = max((each.settings for each in running), key=lambda each: each.rounds)
    intervals = intervals_from(samples, found.rows, found.left_out[:, 0], most)
    return _choice(found.settings)._replace(
        rounds=found.rounds, factor=found.factor, intervals=intervals
    )
