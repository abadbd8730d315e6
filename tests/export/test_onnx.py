"""Models as ONNX: what callers give and get. `test_same_bits` compares the bits."""

import json

import numpy as np
import pytest
from hypothesis import given
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import cases
from export.models import COSTS, categories, model, wine
from export.programs import written
from export.test_hostile_names import names_of_tables, table
from rebelboost import ExportError, RebelClassifier, RebelRegressor
from rebelboost.export.evaluator import evaluator_of
from rebelboost.export.onnx.model import input_names, onnx_inputs
from rebelboost.export.vectors import samples_for
from rebelboost.export.verify import answers_of, compared, run_onnx, verify
from rebelboost.onnx import register_converters

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def session(given, folder):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    path = written(given, folder, "onnx")
    return onnxruntime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )


def run(given, folder, inputs, output):
    return session(given, folder).run([output], inputs)[0]


def test_costs_are_an_input_for_all_rows_or_for_each(tmp_path):
    X, _ = wine()
    fitted = RebelClassifier("tree", n_rounds=10, random_state=0).fit(*wine())
    other = fitted.with_costs(COSTS)
    for costs in (
        np.array([COSTS], dtype=float),
        np.tile(np.array(COSTS, dtype=float), (len(X), 1, 1)),
    ):
        given = {"X": X, "costs": costs}
        risks = run(fitted.model_, tmp_path, given, "expected_costs")
        np.testing.assert_array_equal(risks, other.expected_cost(X))
        np.testing.assert_array_equal(
            run(fitted.model_, tmp_path, given, "label"), other.predict(X)
        )
    np.testing.assert_array_equal(
        run(fitted.model_, tmp_path, {"X": X}, "expected_costs"), fitted.expected_cost(X)
    )


def test_columns_of_a_table_are_inputs_and_unseen_categories_are_missing(tmp_path):
    frame, y = categories()
    fitted = RebelClassifier("tree", n_rounds=10, random_state=0).fit(frame, y)
    asked = frame.head(50)
    text = asked.b.where(asked.b.notna(), "never seen").to_numpy(dtype=object)
    given = {
        "a": asked[["a"]].to_numpy(),
        "b": text[:, np.newaxis],
        "c": asked[["c"]].to_numpy(),
        "d": asked[["d"]].to_numpy(dtype=float),
    }
    label = run(fitted.model_, tmp_path, given, "label")
    assert label.tolist() == fitted.predict(asked).tolist()


def test_the_label_of_abstaining_is_the_models(tmp_path):
    given = model("an argmax that abstains")
    X = samples_for(given, 200)
    inputs = onnx_inputs(evaluator_of(given), X)
    decision = run(given, tmp_path, inputs, "decision")
    label = run(given, tmp_path, inputs, "label")
    assert set(label[decision == -1]) == {"?"}
    assert (label[decision >= 0] == given.classes[decision[decision >= 0]]).all()


def test_a_missing_cost_gives_no_decision_unless_costs_are_given(tmp_path):
    given = model("costs in a column")
    X = np.zeros((1, 4))
    X[0, 2] = np.nan
    inputs = onnx_inputs(evaluator_of(given), X)
    assert run(given, tmp_path, inputs, "decision").tolist() == [-2]
    assert run(given, tmp_path, inputs, "label").tolist() == [""]
    inputs["costs"] = np.array([COSTS], dtype=float)
    assert run(given, tmp_path, inputs, "decision")[0] >= 0


@pytest.mark.parametrize("name", ["the default blend with costs", "trees of ten classes"])
def test_the_number_of_threads_and_rows_changes_no_bit(name, tmp_path):
    given = model(name)
    X, path = samples_for(given, 300), written(given, tmp_path, "onnx")
    expected = answers_of(given, X)
    assert compared(expected, run_onnx(path, given, X, threads=4)).first is None
    for i in range(0, len(X), len(X) // 3):
        one = X[i : i + 1]
        assert compared(answers_of(given, one), run_onnx(path, given, one)).first is None


def test_verify_says_how_far_a_changed_file_is_off(tmp_path):
    given = model("averaged trees")
    path = written(given, tmp_path, "onnx")
    changed = onnx.load(path)
    for tensor in changed.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor)
        if values.shape == () and values == given.decoder.temperature:
            tensor.CopyFrom(onnx.numpy_helper.from_array(values * 1.001, tensor.name))
    onnx.save(changed, path)
    found = verify(given, path)
    assert found.n_differing["score"] == 0
    assert found.largest["score"] == 0
    assert 0 < found.largest["probability"] < 0.01
    assert f"probability (by up to {found.largest['probability']:.2g})" in str(found)


@cases(6)
@given(found=names_of_tables)
def test_a_graph_with_any_names_decides_by_them(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    names, levels, labels = found[:2], found[2:4], found[4:]
    frame, y = table(names, levels, labels)
    fitted = RebelClassifier("tree", n_rounds=3, cross_fit=None).fit(frame, y)
    opened = session(fitted.model_, folder)
    number, text = input_names(evaluator_of(fitted.model_))
    given = {
        number: frame[[names[0]]].to_numpy(),
        text: frame[[names[1]]].to_numpy(dtype=object),
    }
    label, P = opened.run(["label", "probabilities"], given)
    assert label.tolist() == fitted.predict(frame).tolist()
    np.testing.assert_array_equal(P, fitted.predict_proba(frame))
    told = json.loads(opened.get_modelmeta().custom_metadata_map["rebelboost"])
    assert told == {"inputs": {number: names[0], text: names[1]}, "classes": sorted(labels)}


# ---- pipelines of scikit-learn


@pytest.mark.parametrize(
    "learner",
    [
        RebelClassifier("tree", n_rounds=10, costs=COSTS, random_state=0),
        RebelClassifier("similarity", n_rounds=10, random_state=0),
    ],
    ids=["trees", "similarities"],
)
def test_a_pipeline_converts_and_predicts_the_same(learner):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType

    register_converters()
    X, y = wine()
    pipeline = make_pipeline(StandardScaler(), learner).fit(X, np.array(["a", "b", "c"])[y])
    converted = skl2onnx.to_onnx(
        pipeline,
        initial_types=[("X", DoubleTensorType([None, X.shape[1]]))],
        options={id(pipeline): {"zipmap": False}},
    )
    opened = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    label, P = opened.run(None, {"X": X})
    assert label.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_array_equal(P, pipeline.predict_proba(X))


def test_a_regression_in_a_pipeline_converts():
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType

    register_converters()
    X, y = wine()
    pipeline = make_pipeline(StandardScaler(), RebelRegressor("tree", n_rounds=10)).fit(X, y * 1.5)
    kind = DoubleTensorType([None, X.shape[1]])
    converted = skl2onnx.to_onnx(pipeline, initial_types=[("X", kind)])
    opened = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    np.testing.assert_array_equal(opened.run(None, {"X": X})[0].ravel(), pipeline.predict(X))


def test_texts_in_a_pipeline_are_refused_with_the_remedy():
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import DoubleTensorType

    register_converters()
    fitted = RebelClassifier("tree", n_rounds=5).fit(*categories())
    with pytest.raises(ExportError, match="reads the feature b as text"):
        skl2onnx.to_onnx(fitted, initial_types=[("X", DoubleTensorType([None, 4]))])


def test_without_the_package_the_remedy_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    fitted = RebelClassifier("stump", n_rounds=3, cross_fit=None).fit(*wine())
    with pytest.raises(ExportError, match=r"install rebelboost\[onnx\]"):
        fitted.export(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
