"""Files of every version of the format still load, and answer as they did when they were written."""

import json
import warnings

import numpy as np
import pytest

import rebelboost
from rebelboost.exceptions import UnknownCategoryWarning
from rebelboost.files import safetensors as tensors
from stored_models import FOLDER, MAKERS, VERSION, kept_samples, scores

FILES = sorted(FOLDER.glob("*.safetensors"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_kept_file_answers_as_recorded(path):
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    X = kept_samples(kept)
    model = rebelboost.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownCategoryWarning)
        found = scores(model, X)
    np.testing.assert_array_equal(found, np.array(kept["scores"]).reshape(found.shape))
    assert model.predict(X).tolist() == kept["decisions"]


def test_there_is_a_file_of_each_kind():
    assert {path.stem for path in FILES} == {f"v{VERSION}-{kind}" for kind in MAKERS}
    assert sum(path.stat().st_size for path in FILES) < 325_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_library_of_the_format_reads_our_files(path):
    from safetensors.numpy import load

    ours, theirs = tensors.read(path).arrays, load(path.read_bytes())
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], strict=True)


def test_a_file_that_the_library_of_the_format_wrote_anew_still_loads(tmp_path):
    from safetensors.numpy import save_file

    path = FILES[0]
    contents = tensors.read(path)
    copies = {name: array.copy() for name, array in contents.arrays.items()}
    save_file(copies, tmp_path / "again.safetensors", metadata=contents.texts)
    again = rebelboost.load(tmp_path / "again.safetensors")
    X = kept_samples(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
    np.testing.assert_array_equal(scores(again, X), scores(rebelboost.load(path), X))
