"""What cannot be stored, and files that are not sound: one sentence, with the fault."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import rebelboost
from fuzz.altering import parts_of, signed
from fuzz.judging import ALLOWANCE, load_measured
from rebelboost import Binary, ModelFileError, RebelClassifier, Similarity
from rebelboost.base.checks import Fields, Room
from rebelboost.files.packing import unpacked
from rebelboost.files.terms import LARGEST_SCORE
from stored_models import FOLDER, make, numbers

# ---- models that cannot be stored


def refused(model, path, message):
    with pytest.raises(ModelFileError, match=message):
        model.save(path)
    assert not list(path.parent.iterdir())


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        RebelClassifier().save(tmp_path / "model.safetensors")


def test_estimators_of_other_libraries_are_not_stored(tmp_path):
    model = RebelClassifier(Binary(LogisticRegression()), n_rounds=2).fit(*numbers())
    refused(
        model,
        tmp_path / "m",
        "a LogisticRegression, which a model file cannot store.*pickle or skops",
    )
    with pytest.raises(ModelFileError, match="LogisticRegression"):
        model.to_dict()
    model.set_params(learner="tree")  # the terms stay what they were
    refused(model, tmp_path / "m", "a term is a LogisticRegression")


def test_a_learner_of_other_libraries_is_not_stored_though_its_terms_are_trees(tmp_path):
    model = RebelClassifier("stump", n_rounds=2).fit(*numbers())
    model.set_params(learner=Binary(LogisticRegression()))
    refused(model, tmp_path / "m", r"the learner is Binary\(LogisticRegression\)")


def test_a_metric_that_is_a_function_is_not_stored(tmp_path):
    def far(a, b):
        return float(np.abs(a - b).sum())

    model = RebelClassifier(Similarity(metric=far), n_rounds=3).fit(*numbers())
    refused(model, tmp_path / "m", "the parameter metric is a function.*pickle")
    model.set_params(learner="similarity")
    refused(model, tmp_path / "m", "the metric is the function far.*precomputed")


def test_what_has_no_place_in_a_file_is_not_stored(tmp_path):
    model = RebelClassifier("stump", n_rounds=2).fit(*numbers())
    model.metadata_ = {"when": pd.Timestamp("2024-01-01")}
    refused(model, tmp_path / "m", "metadata_ cannot be written as JSON")
    model.metadata_ = {"many": list(range(100_000))}
    refused(
        model, tmp_path / "m", "cannot write .* that has metadata of 100.*store less in metadata_"
    )
    model.metadata_ = {"long": "x" * 10**6}
    refused(model, tmp_path / "m", "has a header.*store less in metadata_")
    model.metadata_ = {}
    model.set_params(reject_cost=1.0, reject_label=(1, 2))
    refused(model, tmp_path / "m", r"the model has the reject_label \(1, 2\).*give one of these")
    model.set_params(reject_label="ask", costs=object())
    refused(model, tmp_path / "m", "the parameter costs is a object")
    model.set_params(costs=None)
    model.model_ = replace(model.model_, classes=np.array([1j, 2j, 3j]))
    refused(model, tmp_path / "m", "the classes are of type complex128.*convert the labels to text")


def test_dates_as_categories_are_not_stored(tmp_path):
    X, y = numbers()
    days = pd.Series(pd.Categorical(pd.to_datetime("2024-01-01") + pd.to_timedelta(y, "D")))
    model = RebelClassifier("stump", n_rounds=2).fit(pd.DataFrame({"day": days, "x": X[:, 0]}), y)
    refused(model, tmp_path / "m", "categories has .*Timestamp.*convert the column to text")


# ---- writing whole or not at all


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_text("what was there")
    model, _ = make("stump")
    model.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]
    assert len(rebelboost.load(str(path)).ensemble_) == len(model.ensemble_)


def test_a_file_that_others_could_not_read_stays_so(tmp_path):
    path = tmp_path / "model.safetensors"
    path.touch(mode=0o600)
    make("stump")[0].save(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link_to_the_new_file(tmp_path):
    (tmp_path / "new.safetensors").write_text("")
    (tmp_path / "link.safetensors").symlink_to(tmp_path / "new.safetensors")
    make("stump")[0].save(tmp_path / "link.safetensors")
    assert (tmp_path / "link.safetensors").is_symlink()
    rebelboost.load(tmp_path / "new.safetensors")


# ---- files that are not sound


@pytest.fixture
def blob():
    return (FOLDER / "v1-tree.safetensors").read_bytes()


def loading(path, blob, message):
    path.write_bytes(blob)
    with pytest.raises(ModelFileError, match=message) as caught:
        rebelboost.load(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError):
        rebelboost.load(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"a,b\n1,2\n", pickle.dumps({"a": 1}), b"\0" * 100], ids=range(5)
)
def test_other_files_are_refused(content, tmp_path):
    loading(tmp_path / "m", content, "is not a model file")


def test_a_device_without_end_is_not_read():
    with pytest.raises(ModelFileError, match="is not a regular file"):
        rebelboost.load("/dev/zero")


def test_a_file_that_was_cut_off_or_altered_is_refused(blob, tmp_path):
    loading(tmp_path / "m", blob[:2000], "the file is truncated")
    loading(tmp_path / "m", blob[:-8], "the file is truncated")
    loading(tmp_path / "m", blob + b"12345678", "8 bytes that belong to no array")
    flipped = blob[:-1] + bytes([blob[-1] ^ 1])
    loading(tmp_path / "m", flipped, "checksum.*Copy it again")


def test_a_newer_version_is_refused_with_the_remedy(blob, tmp_path):
    arrays, texts = parts_of(blob)
    newer = signed(arrays, {**texts, "version": "2"})
    loading(tmp_path / "m", newer, "format version 2.*up to 1: install a newer rebelboost")


def test_safetensors_of_others_are_refused(blob, tmp_path):
    arrays, _ = parts_of(blob)
    loading(tmp_path / "m", signed(arrays, {"format": "pt"}), "no rebelboost model in it")


def with_model(blob, **changes):
    arrays, texts = parts_of(blob)
    return signed(arrays, {**texts, "model": json.dumps(json.loads(texts["model"]) | changes)})


def with_array(blob, name, at, value):
    arrays, texts = parts_of(blob)
    arrays[name][at] = value
    return signed(arrays, texts)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("trees.features", 0, 4, "'trees.features' with numbers outside -1 to 3"),
        ("trees.depths", 0, 200, "deeper than 12 layers"),
        ("trees.depths", 0, 1, "'trees.features'.*shape"),
        ("trees.thresholds", 0, np.nan, "a threshold that is not a number"),
        ("trees.outputs", (0, 0), np.inf, "'trees.outputs' with numbers that are not finite"),
        ("trees.missing_right", 0, 2, "neither 0 nor 1"),
        ("trees.table_nodes", 0, 99, "tables that do not match the nodes"),
        ("terms", 0, 1, "'trees.depths'"),
        ("terms", 0, 9, "terms of an unknown kind"),
        ("costs", (0, 1), -1.0, "'costs' with negative or huge numbers"),
        ("costs", (0, 0), 1.0, "'costs' with costs of correct decisions"),
        ("history.terms", 0, 99, "a history of terms that do not exist"),
        ("feature_names.ends", 0, 10**6, "'feature_names' with inconsistent text boundaries"),
        ("categories.text", 0, 255, "'categories' with texts that are not UTF-8"),
        ("classes", (0, 0), ord("z"), "classes that are not sorted"),
        ("classes", (0, 0), 2**31, "classes with invalid characters"),
    ],
)
def test_numbers_out_of_their_range_are_refused_behind_the_checksum(
    name, at, value, message, blob, tmp_path
):
    loading(tmp_path / "m", with_array(blob, name, at, value), message)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("similarities.anchors", 0, 500, "an example that does not exist"),
        ("similarities.anchors", 0, -1, "without an anchor"),
        ("similarities.rivals", 0, -1, "a pair without a rival"),
        ("similarities.spaces", 0, 5, "'similarities.spaces' with numbers outside"),
        ("similarities.kinds", 0, 7, "a similarity of an unknown kind"),
        ("similarities.apart", 0, 0.0, "a distance that is not positive"),
        ("spaces.0.rows", 0, -3, "'spaces.0.rows' with numbers outside"),
        ("spaces.0.rows", slice(None), 3, "a repeated row"),
        ("spaces.0.points", (0, 0), np.float32(1e30), r"a point beyond 1e\+15"),
        ("spaces.0.level_counts", 0, 200, "more categories of a feature than the model"),
        ("spaces.0.level_features", 0, 0, "other categorical features"),
        ("spaces.0.factor", 0, np.nan, "not finite"),
        ("rows.numbers", 0, -1, "names of invalid rows"),
    ],
)
def test_similarities_out_of_their_range_are_refused_behind_the_checksum(
    name, at, value, message, tmp_path
):
    blob = (FOLDER / "v1-similarity_table.safetensors").read_bytes()
    loading(tmp_path / "m", with_array(blob, name, at, value), message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_classes": 4}, "shape"),
        ({"n_classes": "3"}, "'n_classes' in the model as '3', not an integer"),
        ({"n_features": 2**40}, "'n_features'"),
        ({"estimator": "os.system"}, "not one of RebelClassifier, RebelRegressor"),
        ({"estimator": "RebelRegressor"}, "unknown parameters"),
        ({"spaces": [{"kind": "scaled", "turned": False}]}, "lacks the array"),
        ({"parameters": {}}, r"no parameters \['decision', 'reject_cost', 'reject_label'\]"),
        ({"more": 1}, "the model with unexpected fields"),
        ({"decoder": []}, "'decoder' that is not an object"),
        ({"decoder": {"temperature": 1e6 + 0.5}}, r"1000000\.5, not a number 1e-06 to 1e\+06"),
        ({"decoder": {"temperature": 0.9e-6}}, r"9e-07, not a number 1e-06 to 1e\+06"),
        ({"cross_fit": {}}, "'cross_fit' that is not true or false"),
        ({"cross_fit": True}, "lacks the array 'cross_fit.standings'"),
    ],
)
def test_metadata_that_break_a_rule_are_refused_behind_the_checksum(
    changes, message, blob, tmp_path
):
    loading(tmp_path / "m", with_model(blob, **changes), message)


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        ("intervals.weight", 0, 0.0),
        ("intervals.weight", -1, -1.0),
        ("intervals.residuals", 0, 1e9),
        ("intervals.residuals", -1, -1e9),
    ],
)
def test_residuals_without_order_or_weight_are_refused_behind_the_checksum(
    name, at, value, tmp_path
):
    blob = (FOLDER / "v1-regressor_cross_fit.safetensors").read_bytes()
    told = "intervals from residuals that are not sorted, or have no weight"
    loading(tmp_path / "m", with_array(blob, name, at, value), told)


@pytest.mark.parametrize("first", [0, 1])
def test_two_classes_in_the_wrong_order_are_refused_wherever_they_are(first, blob, tmp_path):
    arrays, texts = parts_of(blob)
    both = [first, first + 1]
    arrays["classes"][both] = arrays["classes"][both[::-1]]
    loading(tmp_path / "m", signed(arrays, texts), "classes that are not sorted")


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_largest_scores_that_are_saved_are_loaded_and_larger_ones_refused(sign, blob, tmp_path):
    arrays, texts = parts_of(blob)
    outputs = arrays["trees.outputs"]
    outputs[:] = 0
    outputs[0, 0] = sign * LARGEST_SCORE
    (tmp_path / "largest").write_bytes(signed(arrays, texts))
    rebelboost.load(tmp_path / "largest").save(tmp_path / "again")
    assert len(rebelboost.load(tmp_path / "again").ensemble_) > 0
    outputs[0, 0] = np.nextafter(outputs[0, 0], sign * np.inf)
    loading(tmp_path / "m", signed(arrays, texts), "terms with huge outputs")


# ---- memory


def n_bytes_of(arrays):
    return sum(array.nbytes for array in arrays.values())


@pytest.mark.parametrize("learner", ["tree", "stump", "similarity"])
def test_loading_takes_less_than_twice_the_file_with_its_arrays_unpacked(learner, tmp_path):
    X, y = numbers(n=300, d=8)
    scale = Similarity(scale="standard", anchors=8)
    learner = scale if learner == "similarity" else learner
    model = RebelClassifier(learner, n_rounds=400, tol=0, cross_fit=None)
    model.fit(X, y).save(tmp_path / "m")
    blob = (tmp_path / "m").read_bytes()
    arrays, texts = parts_of(blob)
    said = json.loads(texts["model"]).get("packed")
    whole = arrays if said is None else unpacked(arrays, Fields(said, "packed"), Room(1 << 40))
    n_bytes = len(blob) + n_bytes_of(whole) - n_bytes_of(arrays)
    load_measured(blob)  # imports
    loaded, _, peak = load_measured(blob)
    assert len(loaded.ensemble_) > 100
    # The estimator, its parameters, the arrays' names, an object for the counts of each column.
    assert peak < 2 * n_bytes + 60_000


MEGABYTES = 10 << 20


@pytest.mark.parametrize(
    "header",
    [
        b'{"a":[' + b"[]," * (MEGABYTES // 3) + b"[]]}",
        b'{"a":"' + b"x" * MEGABYTES + b'"}',
        b'{"a":"' + "😀".encode() * (MEGABYTES // 4) + b'"}',
        b'{"a":' * (MEGABYTES // 5),
        b'{"a":{"dtype":"F64","shape":[1099511627775],"data_offsets":[0,8796093022200]}}',
        b'{"a":{"dtype":"F64","shape":[0,1099511627775,1099511627775],"data_offsets":[0,0]}}',
    ],
    ids=["lists", "text", "wide text", "depth", "huge array", "huge empty array"],
)
def test_no_header_takes_more_memory_than_twice_the_file(header):
    header += b" " * (-len(header) % 8)
    blob = len(header).to_bytes(8, "little") + header
    model, fault, peak = load_measured(blob)
    assert model is None
    assert fault
    assert peak <= 2 * len(blob) + ALLOWANCE
