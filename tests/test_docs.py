"""Every block of Python in the docs runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = [
    pytest.param(code, id=f"{page.name}-{i}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for i, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    )
]


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_of_the_docs_runs(code):
    exec(compile(code, "docs", "exec"), {})
