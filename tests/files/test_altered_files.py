"""Altered model files are refused, or are sound models."""

import collections
import json
import random
import time

import numpy as np
import pytest

from fuzz.altering import parts_of, signed
from fuzz.bases import load_bases
from fuzz.judging import alter, answer, ask_more, check, load_model
from rebelboost import ModelFileError, RebelClassifier
from rebelboost.files.texts import text_arrays
from stored_models import FOLDER, kept_samples, numbers

SHARES, IN_A_SHARE = 10, 1000
"""10,000 alterations, in shares that test processes work on side by side."""
EACH = 5
"""Memory is counted, and what says the same stored again, for one in so many."""


@pytest.fixture(scope="module")
def bases():
    return load_bases()


@pytest.mark.parametrize("share", range(SHARES))
def test_an_altered_file_is_refused_or_is_a_sound_model(bases, share):
    outcomes = collections.Counter()
    for i in range(share * IN_A_SHARE, (share + 1) * IN_A_SHARE):
        base = bases[i % len(bases)]
        altered = alter(base.blob, random.Random(f"CI {i}"))
        try:
            outcome = check(altered, base, measured=i % EACH == 0, stored=i % EACH == 0)
        except Exception as error:
            raise AssertionError(f"alteration {i}: {altered.what}") from error
        outcomes["refused" if outcome.refused else "same" if outcome.same else "other"] += 1
    # Alterations that all are refused, or that never change anything, would test nothing.
    assert outcomes["refused"] > IN_A_SHARE / 3
    assert outcomes["other"] > 5


# ---- faults that altered files once had


def kept(kind):
    (path,) = FOLDER.glob(f"*-{kind}.safetensors")
    return path.read_bytes(), kept_samples(json.loads(path.with_suffix(".json").read_text("utf-8")))


def with_array(kind, name, change):
    blob, X = kept(kind)
    arrays, texts = parts_of(blob)
    arrays[name] = change(arrays[name])
    return signed(arrays, texts), X


def with_model(kind, change):
    blob, X = kept(kind)
    arrays, texts = parts_of(blob)
    model = json.loads(texts["model"])
    change(model)
    return signed(arrays, {**texts, "model": json.dumps(model)}), X


def refused(blob, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(blob)


@pytest.mark.parametrize("size", [1e300, 1e308, -1e300])
def test_outputs_that_would_overflow_probabilities_are_refused(size):
    for kind, name in [
        ("tree", "trees.outputs"),
        ("similarity", "similarities.outputs"),
        ("smooth", "smooth.outputs"),
        ("smooth", "smooth.offsets"),
        ("regressor", "trees.outputs"),
    ]:
        refused(with_array(kind, name, lambda old: np.full_like(old, size))[0], "huge outputs")


@pytest.mark.parametrize("kind", ["cross_fit", "cost_columns", "taxonomy", "sample_costs", "blend"])
@pytest.mark.parametrize("name", ["costs", "decoder.costs", "class_weight", "training_facts"])
def test_zeroed_costs_and_facts_are_refused_or_give_distributions(kind, name):
    blob, X = with_array(kind, name, np.zeros_like)
    try:
        model = load_model(blob)
    except ModelFileError:
        return
    answer(model, X)
    ask_more(model, X)


@pytest.mark.parametrize("tau", [0.0, 1e308, 1e-300])
def test_widths_of_smooth_functions_beyond_all_distances_are_refused(tau):
    refused(
        with_array("smooth", "smooth.taus", lambda old: np.full_like(old, tau))[0], "width of 0"
    )


def test_outputs_of_the_smallest_size_are_served():
    blob, X = with_array("tree_codes", "trees.outputs", lambda old: np.full_like(old, 5e-324))
    answer(load_model(blob), X)


def test_costs_far_apart_still_give_distributions_with_rebel_subcosts():
    def far_apart(costs):
        costs = np.where(np.eye(len(costs), dtype=bool), 0.0, 1e-290)
        costs[0, 1:] = 1e290
        return costs

    blob, X = with_array("cross_fit", "decoder.costs", far_apart)
    arrays, texts = parts_of(blob)
    model = json.loads(texts["model"])
    model["subcosts"] = "rebel"
    answer(load_model(signed(arrays, {**texts, "model": json.dumps(model)})), X)


@pytest.mark.parametrize("loss", ["exponential", "logistic", "squared"])
@pytest.mark.parametrize("subcosts", ["thesis", "rebel"])
@pytest.mark.parametrize("kind", ["cross_fit", "cost_columns", "sample_costs", "taxonomy"])
def test_every_loss_and_subcosts_that_a_file_may_name_can_be_decoded(kind, subcosts, loss):
    def change(model):
        model["subcosts"] = subcosts
        model["decoder"]["loss"] = loss

    blob, X = with_model(kind, change)
    answer(load_model(blob), X)


@pytest.mark.parametrize("unit", [[["D"], 1], [{}, 1], ["D", [1]]])
def test_a_unit_of_time_that_is_not_a_word_is_refused(unit, tmp_path):
    X, y = numbers()
    path = tmp_path / "m"
    days = np.datetime64("2024-01-01") + y
    RebelClassifier("stump", n_rounds=2).fit(X, days).save(path)
    arrays, texts = parts_of(path.read_bytes())
    model = json.loads(texts["model"])
    model["classes"]["unit"] = unit
    refused(signed(arrays, {**texts, "model": json.dumps(model)}), "an unknown unit of time")


def nested(depth):
    found = 1
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize("depth", [100, 500, 900, 9000])
def test_deeply_nested_json_is_refused(depth):
    blob, _ = kept("tree")
    arrays, texts = parts_of(blob)
    deep = "[" * depth + "]" * depth
    texts["model"] = texts["model"].replace('"metadata":{}', f'"metadata":{{"a":{deep}}}')
    assert deep in texts["model"]
    blob = signed(arrays, texts)
    refused(blob, "nested more than 64 deep")


def test_metadata_that_could_not_be_read_again_are_not_written(tmp_path):
    model = RebelClassifier("stump", n_rounds=2).fit(*numbers())
    model.metadata_ = {"deep": nested(100)}
    with pytest.raises(ModelFileError, match="cannot write a file that has JSON nested more than"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_feature_names_that_are_twice_the_same_are_refused():
    def doubled(ends):
        return np.array([0, 0, *ends[2:]])

    refused(with_array("tree", "feature_names.ends", doubled)[0], "a feature name twice")


def test_half_characters_in_categories_are_refused():
    blob, _ = kept("tree")
    arrays, texts = parts_of(blob)
    joined = arrays["categories.text"].tobytes().replace(b'"blue"', b'"\\ud800"')
    ends = arrays["categories.ends"]
    first = arrays["categories.text"].tobytes().index(b'"blue"')
    arrays["categories.text"] = np.frombuffer(joined, dtype=np.uint8)
    arrays["categories.ends"] = np.where(ends > first, ends + 2, ends)
    refused(signed(arrays, texts), "'categories' with .*, which is not text or a number")


@pytest.mark.parametrize(
    ("name", "size"), [("intervals.residuals", 1e300), ("intervals.weight", 1e300)]
)
def test_intervals_that_would_overflow_are_refused(name, size):
    blob, _ = with_array("regressor_cross_fit", name, lambda old: np.full_like(old, size))
    refused(blob, "intervals from huge residuals or weights")


# ---- time


def with_many_texts(n):
    """A model with so many named features and named rows."""
    arrays, texts = parts_of(kept("stump_exact")[0])
    model = json.loads(texts["model"])
    model |= {"n_features": n, "named": True}
    arrays["categorical"] = np.zeros(n, dtype=np.uint8)
    arrays |= text_arrays("feature_names", [f"x{i}" for i in range(n)])
    arrays["rows.numbers"] = np.arange(n)
    arrays |= text_arrays("rows", [f'"row {i}"' for i in range(n)])
    return signed(arrays, {**texts, "model": json.dumps(model)})


def with_many_terms(n):
    """A model that has its terms and its history many times over."""
    arrays, texts = parts_of(kept("stump_exact")[0])
    for name in arrays:
        if name == "terms" or name.startswith(("trees.", "history.")):
            arrays[name] = np.concatenate([arrays[name]] * n)
    return signed(arrays, texts)


def seconds_to_load(blob):
    def once():
        began = time.process_time()
        load_model(blob)
        return time.process_time() - began

    return min(once() for _ in range(3))


@pytest.mark.parametrize(
    ("bloated", "n"), [(with_many_texts, 10_000), (with_many_terms, 4_000)], ids=["texts", "terms"]
)
def test_the_time_of_a_load_is_in_proportion_to_the_file(bloated, n):
    small, large = bloated(n), bloated(4 * n)
    growth = len(large) / len(small)
    assert growth > 3
    # Twice the proportion for caches; quadratic work would take four times it.
    assert seconds_to_load(large) < 2 * growth * seconds_to_load(small)
