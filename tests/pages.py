"""The pages that people read, their blocks of code, and their links."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md", *DOCS]

BLOCK = re.compile(
    r"(?:<!-- from (?P<source>\S+) -->\n)?^```(?P<kind>\w*)\n(?P<code>.*?)^```$",
    flags=re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"\]\((?![a-z]+:)(?P<target>[^)\s#]*)(?:#(?P<anchor>[^)\s]*))?\)")


class Block(NamedTuple):
    kind: str
    code: str
    source: str | None
    """The file that it quotes."""


def blocks(page):
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(each["kind"], each["code"], each["source"]) for each in found]


def prose(page):
    """A page without its code, in which brackets are no links."""
    return re.sub(r"`[^`\n]+`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))


def links(page):
    """(file or folder, anchor or None) of every relative link."""
    for found in LINK.finditer(prose(page)):
        target = (page.parent / found["target"]).resolve() if found["target"] else page
        yield target, found["anchor"]


def anchors(page):
    """The names by which its headings are linked."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text("utf-8")), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings]
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def name(page):
    return page.relative_to(ROOT).as_posix()
