"""MkDocs hooks: add pages for linked source files, and the plots of the gallery, to the site.

Pages link to source files by relative path, such as ../src/rebelboost/boosting/loop.py, which works on Git
hosts. The site gets a page for each such file, so that the links also work there, offline: Markdown is
rendered, code is highlighted, a folder becomes a list of files. MkDocs calls the functions named `on_…`.
"""

import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from posixpath import relpath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
DOCS, PICTURES = ROOT / "docs", ROOT / "build" / "gallery"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)(?P<target>[^)\s#]+)(?P<rest>#[^)\s]*)?(?=\))")
EXAMPLE = re.compile(r"\]\(\.\./(examples/plot_(\w+)\.py)\)")
PLOT = re.compile(r"^\[plot_\w+\.py\]\(\.\./(examples/plot_(\w+)\.py)\)$", flags=re.MULTILINE)
"""A line that is only the link to an example: its plot is shown above it."""
LANGUAGES = {".py": "python", ".cpp": "cpp", ".hpp": "cpp", ".toml": "toml", ".json": "json"}


def on_files(files: Files, config: Any) -> Files:
    """Add a page for every source file that pages link to, directly or through other added pages."""
    waiting = [DOCS / file.src_uri for file in files.documentation_pages()]
    seen = set(waiting)
    for source in waiting:  # which grows
        for target in sorted(_outside(source) - seen):
            seen.add(target)
            files.append(File.generated(config, _place(target), content=_page(target)))
            if target.suffix == ".md":
                waiting.append(target)
    for picture in sorted(PICTURES.glob("*.png")):
        uri = f"gallery/{picture.name}"
        files.append(File.generated(config, uri, abs_src_path=str(picture)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ARG001
    """Turn links to source files into links to their pages, and insert plots and code in the gallery."""
    uri = page.file.src_uri
    source = ROOT / uri.removeprefix("code/") if uri.startswith("code/") else DOCS / uri
    if uri == "gallery.md":
        markdown = "\n".join(_shown(part) for part in re.split(r"\n(?=## )", markdown))
    else:
        markdown = PLOT.sub(lambda found: f"{_picture(found)}\n\n{found[0]}", markdown)
    if source.suffix != ".md" or not source.exists():
        return markdown  # code
    return LINK.sub(lambda link: _relinked(link, source, uri), markdown)


def on_post_page(output: str, page: Any, config: Any) -> str:  # noqa: ARG001
    """Fail if a page would load anything from the network."""
    loaded = re.search(
        r"<(?:script|link|img|iframe)[^>]+(?:src|href)=.?(?:https?:)?//[^ >]+", output
    )
    if loaded is not None:
        raise PluginError(f"{page.file.src_uri} loads something from the network: {loaded[0]}")
    return output


def _relinked(link: re.Match[str], source: Path, uri: str) -> str:
    target = _target(source, link["target"])
    if target is None:
        return link[0]
    return relpath(_place(target), os.path.dirname(uri) or ".") + (link["rest"] or "")  # noqa: PTH120


def _targets(source: Path) -> Iterator[Path]:
    for link in LINK.finditer(source.read_text(encoding="utf-8")):
        target = _target(source, link["target"])
        if target is not None:
            yield target


def _outside(source: Path) -> set[Path]:
    """Files outside docs/ that a page links to."""
    return {target for target in _targets(source) if DOCS not in target.parents}


def _target(source: Path, link: str) -> Path | None:
    """The file or folder that a link points to; None if there is none, which MkDocs reports."""
    target = (source.parent / link).resolve()
    return target if target.exists() and ROOT in target.parents else None


def _place(target: Path) -> str:
    """The place of a file in the site."""
    if DOCS in target.parents:
        return target.relative_to(DOCS).as_posix()
    name = target.relative_to(ROOT).as_posix()
    return f"code/{name}" if target.suffix == ".md" else f"code/{name}.md"


def _page(target: Path) -> str:
    if target.suffix == ".md":
        return target.read_text(encoding="utf-8")
    name = target.relative_to(ROOT).as_posix()
    head = f"---\ntitle: {name}\nsearch: {{exclude: true}}\n---\n# `{name}`\n\n"
    if target.is_dir():
        names = sorted(each.name for each in target.iterdir() if each.name[0] not in "._")
        return head + "\n".join(f"- `{each}`" for each in names) + "\n"
    return head + _fenced(target)


def _fenced(target: Path) -> str:
    language = LANGUAGES.get(target.suffix, "text")
    return f'``````{language} linenums="1"\n{target.read_text(encoding="utf-8")}``````\n'


def _shown(section: str) -> str:
    """Add the plot and the code of the linked example to a section of the gallery."""
    found = EXAMPLE.search(section)
    if found is None:
        return section
    code = textwrap.indent(_fenced(ROOT / found[1]), "    ")
    return f'{section}\n\n{_picture(found)}\n\n??? example "{found[1]}"\n\n{code}\n'


def _picture(example: re.Match[str]) -> str:
    """The plot of a linked example, which `make docs` has drawn."""
    script, name = example[1], example[2]
    if not (PICTURES / f"{name}.png").exists():
        raise PluginError(f"the plot of {script} is missing: run `make docs`, which draws it")
    return f"![{name}](gallery/{name}.png)"
