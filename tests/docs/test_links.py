"""Links are valid, and a new reader finds the important places."""

import pytest

from pages import DOCS, PAGES, ROOT, anchors, links, name

CLICKS = 3
SOUGHT = {
    "the loop": ("src/rebelboost/boosting/loop.py", "def boost("),
    "the test of the bound": (
        "tests/properties/test_loss.py",
        "def test_the_loss_falls_below_its_bound_in_every_round(",
    ),
    "how to add a learner": ("docs/extending.md", "## A new learner"),
}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name)
def test_every_relative_link_leads_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), target
        assert ROOT in target.parents
        if anchor:
            assert anchor in anchors(target), f"{name(target)}#{anchor}"


def clicks_from(page):
    """File → number of clicks to reach it by links in Markdown files."""
    clicks, waiting = {page: 0}, [page]
    for here in waiting:  # which grows
        for target, _ in links(here) if here.suffix == ".md" else ():
            if target not in clicks:
                clicks[target] = clicks[here] + 1
                waiting.append(target)
    return clicks


@pytest.mark.parametrize("what", SOUGHT)
def test_from_readme_it_is_found_in_three_clicks(what):
    file, there = SOUGHT[what]
    assert clicks_from(ROOT / "README.md")[ROOT / file] <= CLICKS
    assert there in (ROOT / file).read_text(encoding="utf-8")


def test_every_page_is_found_from_the_start_and_from_readme():
    for start in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        assert set(DOCS) <= set(clicks_from(start))
