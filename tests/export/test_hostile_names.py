"""Names that are code in another language are but names in an exported model."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import cases
from export.programs import NODE, read_by_c, written
from rebelboost import RebelClassifier
from rebelboost.base.cells import MISSING
from rebelboost.export.javascript import literal
from rebelboost.export.literals import string

HOSTILE = ['"', "\\", "\n", "\r", "*/", "//", "</script>", "<!--", "??/", "${x}", "`", "\u2028", "\0", "'",
           "%s", "\udc80", "é", "💥", "__proto__", "constructor", "1", " "]  # fmt: skip
texts = st.lists(st.sampled_from(HOSTILE) | st.characters(), min_size=1, max_size=6).map("".join)
# Tables cannot hold half a character.
names_of_tables = st.lists(
    st.lists(
        st.sampled_from([text for text in HOSTILE if text != "\udc80"])
        | st.characters(exclude_categories=["Cs"]),
        min_size=1,
        max_size=6,
    ).map("".join),
    min_size=6,
    max_size=6,
    unique_by=lambda text: text.strip(),
)
PRINT = """
#include <stdio.h>
static const char text[] = %s;
int main(void) { return fwrite(text, sizeof text - 1, 1, stdout) != 1; }
"""


def table(names, levels, labels):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {names[0]: rng.normal(size=60), names[1]: np.resize(np.array(levels, dtype=object), 60)}
    )
    return frame, np.array(labels, dtype=object)[(frame.iloc[:, 0] > 0).astype(int)]


@cases(15)
@given(parts=st.lists(texts, min_size=2, max_size=2, unique=True))
@example(parts=["??/", "*/"])
@example(parts=["\0a", "\0"])
def test_any_text_is_a_string_of_c(parts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    joined = "|".join(parts)
    (folder / "print.c").write_text(PRINT % string(joined))
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-trigraphs"]
    subprocess.run(["cc", *strict, "print.c", "-o", "print"], cwd=folder, check=True)
    printed = subprocess.run([str(folder / "print")], capture_output=True, check=True).stdout
    assert printed == joined.encode("utf-8", "surrogatepass")


@given(texts)
def test_any_text_is_a_string_of_a_script_in_a_page(text):
    told = literal(text)
    assert json.loads(told) == text
    assert not set("<\u2028\u2029") & set(told)


@cases(6)
@given(found=names_of_tables)
def test_a_model_with_any_names_compiles_and_reads_its_categories(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    names, levels, labels = found[:2], found[2:4], found[4:]
    frame, y = table(names, levels, labels)
    model = RebelClassifier("tree", n_rounds=3, cross_fit=None).fit(frame, y).model_
    path = written(model, folder, "c")
    # A string of C ends at NUL, and cells are read without white space around them.
    cells = [level for level in levels if "\0" not in level]
    rows = [{names[0]: "1.5", names[1]: cell} for cell in cells]
    codes = read_by_c(path, rows, names, 2)[:, 1]
    known = {level: i for i, level in enumerate(model.encoder.levels[1])}
    for cell, code in zip(cells, codes, strict=True):
        assert code == known[cell] or (np.isnan(code) and (cell != cell.strip() or cell in MISSING))


@NODE
@cases(6)
@given(found=names_of_tables)
@example(found=["__proto__", "constructor", "toString", "valueOf", "__proto__ x", "hasOwnProperty"])
def test_a_module_with_any_names_decides_by_them(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    names, levels, labels = found[:2], found[2:4], found[4:]
    frame, y = table(names, levels, labels)
    fitted = RebelClassifier("tree", n_rounds=3, cross_fit=None).fit(frame, y)
    shutil.copy(written(fitted.model_, folder, "js"), folder / "model.mjs")
    record = {names[0]: 2.5, names[1]: levels[0]}
    (folder / "run.mjs").write_text(
        'import { predict } from "./model.mjs";\n'
        f"const cells = {literal(list(record.items()))};\n"
        "console.log(JSON.stringify(predict(Object.fromEntries(cells))));"
    )
    ran = subprocess.run(["node", str(folder / "run.mjs")], capture_output=True, check=True)
    answer = json.loads(ran.stdout)
    assert answer["decision"] == fitted.predict(pd.DataFrame([record]))[0]
    assert set(answer["probabilities"]) == set(labels)


@pytest.mark.parametrize("text", HOSTILE)
def test_strings_of_c_are_printable(text):
    assert string(text).isascii()
    assert "?" not in string(text)
    assert "\\u" not in string(text)
