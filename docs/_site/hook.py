"""What mkdocs does beside: pages made of the code, the gallery, the pages of the repository's root, links out of docs/.

Pages ask no other server for anything: what the theme would fetch, the site has.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from docs._site import gallery
from p4cc.reference_pages import PAGES
from p4cc.reproduce.report import draw_missing

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CONTRIBUTING.md": "how-to/contribute.md",
    "CHANGELOG.md": "changelog.md",
}
"""Pages of the root to their place in the site."""

MADE = {**PAGES, gallery.PLACE: gallery.page}
"""Pages below docs/ that no file holds, to what makes them."""
OWN = ("site.css", "site.js")
"""Files beside this one that pages load from `assets/` (`extra_css`, `extra_javascript` of mkdocs.yml)."""
DIAGRAMS = "assets/mermaid.js"
"""The theme asks another server for it unless a page brings it along."""
SEARCH = 'data-md-component="search" role="dialog"'
"""How the theme's search begins."""

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_pre_build(**_: Any) -> None:
    """Draws the pictures of the reproductions: the repository holds their charts."""
    draw_missing(ROOT / "docs" / "reproduction")


def on_files(files: Files, *, config: Any) -> Files:
    """Adds the pages that no file below docs/ holds, the gallery's pictures, and what pages need in a browser."""
    for place, page in MADE.items():
        files.append(File.generated(config, place, content=page()))
    for name, place in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=with_links(text, name, place, files)))
    for place, path in gallery.pictures().items():
        files.append(File.generated(config, place, abs_src_path=str(path)))
    with tempfile.TemporaryDirectory() as folder:
        for place, one in gallery.networks().items():
            drawn = gallery.draw_network(one, Path(folder))
            files.append(File.generated(config, place, content=drawn.read_bytes()))
    for name in OWN:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(Path(__file__).with_name(name))))
    files.append(File.generated(config, DIAGRAMS, content=mermaid_js()))
    return files


def mermaid_js() -> bytes:
    """The library that draws diagrams in the browser, as the package mermaidx (extra `docs`) carries it."""
    return (resources.files("mermaidx") / "assets" / "mermaid.js").read_bytes()


def on_page_markdown(markdown: str, *, page: Any, files: Files, **_: Any) -> str:
    """Turns links that lead out of docs/ into links of the site, or into the file's name."""
    place = page.file.src_uri
    if place in MADE or place in ROOT_PAGES.values():
        return markdown
    return with_links(markdown, f"docs/{place}", place, files)


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """Brings the library for diagrams along on pages that have one; the others are spared its megabytes."""
    if 'class="mermaid"' not in html:
        return html
    address = posixpath.relpath(DIAGRAMS, posixpath.dirname(page.file.dest_uri) or ".")
    return f'{html}\n<script src="{address}"></script>'


def on_post_page(output: str, **_: Any) -> str:
    """Names the theme's search to those who hear the page: its dialog has no name of its own."""
    return output.replace(SEARCH, f'{SEARCH} aria-label="Search"')


def with_links(text: str, source: str, place: str, files: Files) -> str:
    """A page's text with its links as they must be at `place`; `source` is its path in the repository."""

    def changed(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = ROOT_PAGES.get(path) or path.removeprefix("docs/")
        known = path in ROOT_PAGES or inside in MADE or files.get_file_from_path(inside) is not None
        if known and (path in ROOT_PAGES or path.startswith("docs/")):
            return f"[{label}]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{anchor})"
        if not (ROOT / path).exists():
            return found[0]  # mkdocs reports it.
        return f"{label} (`{path}`)" if path not in label else f"`{path}`"

    return LINK.sub(changed, text)
