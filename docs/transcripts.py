"""Write the output of commands and programs that pages show: `python docs/transcripts.py`.

A block ```console has commands after dollar signs, which are run in a folder with the tables of `rebel demo`. A
block ```text after a block ```python is what that program prints. tests/docs compares all of it but times with
what they print now, so that pages do not fall behind.
"""

import contextlib
import io
import re
import shlex
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<code>.*?)^```$", flags=re.DOTALL | re.MULTILINE)


def rewritten(page: str) -> str:
    """Return the text of a page with new output."""
    from rebelboost.cli import demo

    program = ""

    def written(block: re.Match[str]) -> str:
        nonlocal program
        kind, code = block["kind"], block["code"]
        if kind == "console":
            code = _transcript(code)
        elif kind == "text" and program:
            code = _printed(program)
        program = code if kind == "python" else ""
        return f"```{kind}\n{code}```"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        demo.write_tables(Path(folder))
        return BLOCK.sub(written, page)


def _transcript(block: str) -> str:
    """Run the commands of a block. Those that are shown without output stay so."""
    parts = re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]
    return "".join(_answer(part) for part in parts)


def _answer(part: str) -> str:
    from typer.testing import CliRunner

    from rebelboost.cli.main import app

    command, _, shown = part.partition("\n")
    done = CliRunner().invoke(app, shlex.split(command)[2:], catch_exceptions=False)
    if done.exit_code != 0:
        raise RuntimeError(f"{command}: {done.stderr}")
    return f"{command}\n{done.stdout if shown.strip() else shown}"


def _printed(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs", "exec"), {"__name__": "docs"})
    return printed.getvalue()


def main() -> None:
    """Rewrite all pages whose output has changed."""
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        if not {"console", "text"} & {block["kind"] for block in BLOCK.finditer(before)}:
            continue
        after = rewritten(before)
        path.write_text(after, encoding="utf-8")
        sys.stdout.write(f"{path.name}: {'as it was' if after == before else 'rewritten'}\n")


if __name__ == "__main__":
    main()
