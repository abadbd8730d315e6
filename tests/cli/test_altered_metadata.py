"""A model file whose metadata was altered is refused by the command in one line, or served."""

import copy
import json
import random
from contextlib import suppress

import polars as pl
import pytest
from typer.testing import CliRunner

import rebelboost
from fuzz.plausible import _leaves
from rebelboost.cli.inputs import held_out, read_labelled
from rebelboost.cli.main import app
from rebelboost.cli.model_files import load_model
from rebelboost.exceptions import EvaluationError, ModelFileError, TableError
from rebelboost.tables.files import source_of

ODD = [None, True, 0, 1, -1, 0.5, "", "x", [], {}, [[]], ["a"], {"a": 1}, 10**30]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("altered")
    rng = random.Random(0)
    rows = [(rng.random(), rng.choice("uvw"), f"2024-01-{1 + i % 28:02}") for i in range(80)]
    table = folder / "t.csv"
    pl.DataFrame(
        {
            "a": [a for a, _, _ in rows],
            "c": [c for _, c, _ in rows],
            "when": [d for _, _, d in rows],
            "y": ["yes" if a > 0.5 else "no" for a, _, _ in rows],
        }
    ).write_csv(table)
    model = folder / "m.safetensors"
    words = ("train", table, "--target", "y", "--learner", "tree", "--rounds", "3", "-o", model)
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return rebelboost.load(model), table


def use(path, table):
    """What commands do with a model."""
    model, data = load_model(path), source_of([table])
    given = read_labelled(model, data)
    str(held_out(model, given, recosted=False))
    model.predict(given.frame)


def test_metadata_as_written_are_served(trained, tmp_path):
    model, table = trained
    model.save(tmp_path / "m")
    use(tmp_path / "m", table)


@pytest.mark.parametrize("seed", range(60))
def test_altered_metadata_are_refused_or_served(trained, tmp_path, seed):
    model, table = copy.copy(trained[0]), trained[1]
    rng = random.Random(seed)
    told = json.loads(json.dumps(model.metadata_))
    holder, key = rng.choice([*_leaves(told), *((told, key) for key in told)])
    if rng.random() < 0.2 and isinstance(holder, dict):
        del holder[key]
    else:
        holder[key] = rng.choice(ODD)
    model.metadata_ = told
    model.save(tmp_path / "m")
    with suppress(ModelFileError, TableError, EvaluationError):
        use(tmp_path / "m", table)


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told.update(fingerprint=["a"]),
        lambda told: told.update(fingerprints=[{}]),
        lambda told: told["table"]["columns"].reverse(),
        lambda told: told["table"]["columns"].pop(),
        lambda told: told["table"].update(counts=[1]),
        lambda told: told.update(evaluation={"n": 3}),
    ],
)
def test_metadata_that_contradict_the_model_are_named(trained, tmp_path, change):
    model = copy.copy(trained[0])
    model.metadata_ = json.loads(json.dumps(model.metadata_))
    change(model.metadata_)
    model.save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="the model file was altered"):
        load_model(tmp_path / "m")
