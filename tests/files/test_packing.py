"""Packed arrays give back every bit, and altered ones are refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rebelboost
from rebelboost import RebelClassifier, Tree
from rebelboost.base.checks import Fields, Room, room
from rebelboost.exceptions import ModelFileError
from rebelboost.files import safetensors as tensors
from rebelboost.files.packed_trees import pack_trees, unpack_trees
from rebelboost.files.packing import packed, unpacked
from stored_models import all_packed, assert_same_answers, make, table

NO_TREES = {
    "trees.depths": np.empty(0, np.uint8),
    "trees.signed": np.empty(0, np.uint8),
    "trees.features": np.empty(0, np.int32),
    "trees.thresholds": np.empty(0),
    "trees.missing_right": np.empty(0, np.uint8),
    "trees.table_nodes": np.empty(0, np.int64),
    "trees.tables": np.empty((0, 32), np.uint8),
    "trees.outputs": np.empty((0, 2)),
}
shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=12)
few = st.sampled_from([0.0, -0.0, 1.5, np.nan, np.inf, 2.0**-40, 3.0])
arrays = st.one_of(
    hnp.arrays(np.float64, shapes, elements=few),
    hnp.arrays(np.float64, shapes, elements=st.floats(width=32)),
    hnp.arrays(np.float64, shapes, elements=st.floats()),
    hnp.arrays(np.int64, shapes),
    hnp.arrays(np.int64, shapes, elements=st.integers(-200, 300)),
    hnp.arrays(np.int32, shapes, elements=st.integers(0, 255)),
    hnp.arrays(np.float32, shapes, elements=st.integers(-(2**14), 2**14)),
)


def all_of(arrays):
    return packed(arrays, arrays, lambda *_: True)


def restored(given):
    with all_packed():
        stored, fields = all_of(NO_TREES | given)
    if fields is None:
        return stored
    return unpacked(stored, Fields(json.loads(json.dumps(fields)), "packed"), Room(1 << 30))


@given(array=arrays)
def test_packed_arrays_give_back_every_bit(array):
    found = restored({"a": array, "long": np.zeros(2000)})
    assert found.keys() == NO_TREES.keys() | {"a", "long"}
    assert found["a"].dtype == array.dtype
    assert found["a"].shape == array.shape
    assert np.ascontiguousarray(found["a"]).tobytes() == array.tobytes()


def test_repeated_values_whole_numbers_and_numbers_on_a_grid_become_smaller():
    rng = np.random.default_rng(0)
    given = {
        "repeated": rng.choice(rng.normal(size=100), 5000),
        "whole": rng.integers(0, 200, 5000).astype(np.float64),
        "grid": np.rint(rng.normal(size=5000) * 2.0**20) * 2.0**-30,
        "any": rng.normal(size=5000),
    }
    stored, _ = all_of(NO_TREES | given)
    sizes = {name: sum(a.nbytes for n, a in stored.items() if name in n) for name in given}
    assert sizes == {"repeated": 5800, "whole": 5000, "grid": 20000, "any": 40000}


def test_scores_of_two_classes_are_stored_once():
    scores = np.rint(np.random.default_rng(0).normal(size=(3, 900, 1)) * 500) / 1024
    both = np.concatenate([scores, 0 - scores], axis=2).astype(np.float32)
    with all_packed():
        stored, _ = all_of(NO_TREES | {"a": both})
    assert [name for name in stored if name.startswith("packed.a")] == ["packed.a.0.0"]
    found = restored({"a": both})["a"]
    assert found.tobytes() == both.tobytes()


def test_small_files_are_not_packed():
    assert all_of(NO_TREES | {"a": np.zeros(5000)})[1] is None


@pytest.fixture(scope="module")
def deep():
    """A model of deep trees with categories, most of whose nodes have no split."""
    X, y = table()
    return RebelClassifier(Tree(8), n_rounds=20, cross_fit=2).fit(X, y), X


def trees_of(model):
    (group,) = model.ensemble_.groups
    return group.terms.to_tensors()


def test_trees_without_the_nodes_that_no_sample_reaches_are_restored(deep):
    arrays = trees_of(deep[0])
    small = pack_trees(arrays)
    assert len(small["features"]) < len(arrays["features"]) / 2
    assert len(small["counts"]) == len(small["features"]) + len(arrays["depths"])
    whole = unpack_trees(small, room(10**6))
    assert whole.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(whole[name], array, err_msg=name, strict=True)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_outputs_of_few_bits_take_two_bytes_and_the_last_of_a_sum_of_zero_none(deep, n_classes):
    arrays, rng = trees_of(deep[0]), np.random.default_rng(n_classes)
    counts = rng.integers(-(2**14), 2**14, (len(arrays["outputs"]), n_classes))
    counts[arrays["cover"] == 0] = 0
    whole = counts * 2.0 ** -rng.integers(0, 40, len(counts))[:1]
    small = pack_trees(arrays | {"outputs": whole})
    assert small["counts"].dtype == np.int16
    np.testing.assert_array_equal(unpack_trees(small, room(10**6))["outputs"], whole)
    balanced = np.concatenate([whole, 0 - whole[:, :1] * (n_classes == 1)], axis=1)[
        :, : max(n_classes, 2)
    ]
    small = pack_trees(arrays | {"outputs": balanced})
    assert ("balanced_counts" in small) == (n_classes == 1)
    np.testing.assert_array_equal(unpack_trees(small, room(10**6))["outputs"], balanced)


def test_outputs_of_many_bits_are_kept(deep):
    arrays = trees_of(deep[0])
    fine = arrays["outputs"] * (1 + 2.0**-20)
    small = pack_trees(arrays | {"outputs": fine})
    np.testing.assert_array_equal(unpack_trees(small, room(10**6))["outputs"], fine)
    assert "counts" not in small


def test_tiny_outputs_are_kept(deep):
    arrays = trees_of(deep[0])
    tiny = np.sign(arrays["outputs"]) * 5e-324
    small = pack_trees(arrays | {"outputs": tiny})
    np.testing.assert_array_equal(unpack_trees(small, room(10**6))["outputs"], tiny)


def test_outputs_out_of_range_are_refused(deep):
    arrays = trees_of(deep[0])
    outputs = np.where(arrays["cover"][:, np.newaxis] > 0, [1.0, -0.5, -0.5], 0.0)
    small = pack_trees(arrays | {"outputs": outputs})
    small["balanced_counts"] = np.full_like(small["balanced_counts"], 2**15 - 1)
    with pytest.raises(ModelFileError, match="out of range"):
        unpack_trees(small, room(10**6))


def test_trees_with_an_output_where_no_sample_goes_are_kept_whole(deep):
    arrays = trees_of(deep[0])
    unreached = np.flatnonzero(arrays["cover"] == 0)[0]
    arrays["outputs"] = arrays["outputs"].copy()
    arrays["outputs"][unreached] = 1.0
    assert pack_trees(arrays) is None


def test_a_packed_model_answers_as_before(deep, tmp_path):
    model, X = deep
    path = tmp_path / "m.safetensors"
    with all_packed():
        model.save(path)
    assert "packed" in json.loads(tensors.read(path).texts["model"])
    loaded = rebelboost.load(path)
    assert_same_answers(model, loaded, X)
    ours, theirs = model.history_.table(), loaded.history_.table()
    assert ours.keys() == theirs.keys()
    for name, column in ours.items():
        np.testing.assert_array_equal(theirs[name], column, err_msg=name)


# ---- altered files


def altered(tmp_path, change):
    """Load a packed file after a change of its arrays or of what it says of them."""
    model, _ = make("packed")
    path = tmp_path / "m.safetensors"
    with all_packed():
        model.save(path)
    contents = tensors.read(path)
    said = json.loads(contents.texts["model"])
    arrays = {name: array.copy() for name, array in contents.arrays.items()}
    change(arrays, said["packed"])
    texts = {**contents.texts, "model": json.dumps(said)}
    tensors.write(path, arrays, texts)
    return rebelboost.load(path)


def drop(name):
    return lambda arrays, said: arrays.pop(name)


def put(name, array):
    return lambda arrays, said: arrays.update({name: array})


def first_packed(said):
    return next(iter(said["arrays"]))


CHANGES = {
    "a column that is not there": lambda arrays, said: arrays.pop(
        f"packed.{first_packed(said)}.0.0"
    ),
    "no splits": drop("trees.splits"),
    "no features": lambda arrays, said: (
        [arrays.pop(name) for name in list(arrays) if "trees.features" in name]
        + [said["arrays"].pop("trees.features", None)]
    ),
    "deep trees": put("trees.depths", np.full(12, 40, np.uint8)),
    "huge trees": put("trees.depths", np.full(12, 12, np.uint8)),
    "many trees": put("trees.depths", np.full(10**6, 12, np.uint8)),
    "few bits": put("trees.splits", np.zeros(1, np.uint8)),
    "other splits": lambda arrays, said: arrays["trees.splits"].__ixor__(255),
    "a list": lambda arrays, said: said.update(arrays=[]),
    "an unknown form": lambda arrays, said: said["arrays"][first_packed(said)][2].__setitem__(
        0, ["zip"]
    ),
    "an unknown type": lambda arrays, said: said["arrays"][first_packed(said)].__setitem__(
        0, "object"
    ),
    "a width that does not divide": lambda arrays, said: said["arrays"][
        first_packed(said)
    ].__setitem__(1, 7919),
    "more fields": lambda arrays, said: said.update(more=1),
    "wide tables": put("trees.tables", np.zeros((1, 10**6), np.uint8)),
    "ranks beyond the thresholds": put("trees.ranks", np.full(3, 10**6, np.int32)),
    "thresholds of no feature": put("trees.n_cuts", np.zeros(1, np.int32)),
    "fewer thresholds than are counted": put("trees.cuts", np.zeros(1)),
    "no ranks": lambda arrays, said: (
        [arrays.pop(name) for name in list(arrays) if "trees.ranks" in name]
        + [said["arrays"].pop("trees.ranks", None)]
    ),
    "outputs in two forms": put("trees.balanced_counts", np.zeros((3, 2), np.int16)),
    "counts of another type": put("trees.counts", np.zeros((3, 3), np.int32)),
    "counts of other leaves": put("trees.counts", np.zeros((3, 3), np.int16)),
    "no counts": drop("trees.counts"),
    "no exponents": drop("trees.exponents"),
    "exponents of other trees": put("trees.exponents", np.zeros(1, np.int16)),
    "huge exponents": lambda arrays, said: arrays["trees.exponents"].fill(1090),
    "features of another type": put("trees.features", np.zeros(3, np.uint8)),
    "thresholds of another type": put("trees.thresholds", np.zeros(3, np.int32)),
    "columns of no array": put("packed.more.0.0", np.zeros(3)),
    "an array twice": lambda arrays, said: arrays.update({first_packed(said): np.zeros(3)}),
}


def test_a_packed_file_without_a_change_loads(tmp_path):
    altered(tmp_path, lambda arrays, said: None)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_altered_packed_arrays_are_refused(tmp_path, change):
    with pytest.raises(ModelFileError):
        altered(tmp_path, change)


@pytest.mark.parametrize("exponent", [5000, -5000, 1.5, None])
def test_grids_that_are_no_powers_of_two_are_refused(exponent):
    stored = {"packed.a.0.0": np.zeros(3, np.int32)}
    said = {"trees": False, "deflated": {}, "arrays": {"a": ["float64", 0, [["grid", exponent]]]}}
    with pytest.raises(ModelFileError, match="unknown form"):
        unpacked(stored, Fields(said, "packed"), Room(1 << 30))


def test_places_beyond_the_values_are_refused():
    stored = {"packed.a.0.0": np.zeros(3), "packed.a.0.1": np.array([0, 3], np.uint8)}
    said = {"trees": False, "deflated": {}, "arrays": {"a": ["float64", 0, [["choice"]]]}}
    with pytest.raises(ModelFileError, match="places of no value"):
        unpacked(stored, Fields(said, "packed"), Room(1 << 30))


def test_trees_that_would_be_far_larger_than_their_file_are_refused():
    n_trees, n_nodes = 100, 100 * (2**12 - 1)
    idle = {
        "depths": np.full(n_trees, 12, np.uint8),
        "features": np.empty(0, np.int32),
        "cuts": np.empty(0),
        "n_cuts": np.empty(0, np.int32),
        "ranks": np.empty(0, np.int32),
        "missing_right": np.empty(0, np.uint8),
        "splits": np.zeros(-(-n_nodes // 8), np.uint8),
        "with_table": np.empty(0, np.uint8),
        "tables": np.empty((0, 32), np.uint8),
        "table_of_node": np.empty(0, np.int64),
    }
    small = idle | {"outputs": np.ones((n_trees, 2))}
    assert unpack_trees(small, Room(1 << 30))["outputs"].sum() == 2 * n_trees
    large = idle | {"outputs": np.ones((n_trees, 1000))}
    with pytest.raises(ModelFileError, match="too large for the size of the file"):
        unpack_trees(large, room(sum(array.nbytes for array in large.values())))


@pytest.mark.parametrize(
    "name",
    ["features", "cuts", "n_cuts", "ranks", "counts", "depths", "splits", "table_of_node"],
)
def test_packed_trees_with_an_axis_too_many_are_refused(deep, name):
    small = pack_trees(trees_of(deep[0]))
    with pytest.raises(ModelFileError):
        unpack_trees(small | {name: small[name][:, np.newaxis]}, room(10**6))
