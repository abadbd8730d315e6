"""The output that pages show is what commands and programs print now."""

import importlib.util
import re

import pytest

from pages import DOCS, ROOT, blocks, name

spec = importlib.util.spec_from_file_location("transcripts", ROOT / "docs" / "transcripts.py")
transcripts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(transcripts)


def outputs(text_blocks):
    return [block.code for block in text_blocks if block.kind in {"console", "text"}]


def wording(output):
    """Its headings, and the labels of its lines, without what depends on the trained model."""
    heads = [line for line in output.splitlines() if re.match(r"(?!Rules|Comparisons)\S", line)]
    labels = re.findall(r"^  ([A-Za-z][\w² ]*?)  +", output, flags=re.MULTILINE)
    told = [re.sub(r"\d[\d.,]*|\(.*\)|: .*", "#", line) for line in heads]
    return list(dict.fromkeys(told)), list(dict.fromkeys(labels))


def timeless(output):
    """All of it but the time that training took: the same data give the same model on every machine."""
    return re.sub(r"(?<=Trained in )[\d.]+ s", "# s", output)


@pytest.mark.parametrize("page", [page for page in DOCS if outputs(blocks(page))], ids=name)
def test_output_on_a_page_is_what_is_printed_now(page, tmp_path):
    new = tmp_path / page.name
    new.write_text(transcripts.rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
    remedy = "run docs/transcripts.py"
    for shown, now in zip(outputs(blocks(page)), outputs(blocks(new)), strict=True):
        assert wording(shown) == wording(now), remedy
        assert timeless(shown) == timeless(now), remedy


def test_other_words_are_noticed():
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    old = page.replace("  tested on  ", "  judged by  ", 1)
    (before, *_), (after, *_) = (
        [block["code"] for block in transcripts.BLOCK.finditer(text) if block["kind"] == "console"]
        for text in (page, old)
    )
    assert wording(before) != wording(after)
