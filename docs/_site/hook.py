"""What mkdocs does beside: pages made of the code, the pages of the repository's root, links out of docs/."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from p4cc.reference_pages import PAGES

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CONTRIBUTING.md": "how-to/contribute.md",
    "CHANGELOG.md": "log/changelog.md",
}
"""Pages of the root to their place in the site."""

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Adds the pages that no file below docs/ holds."""
    for place, page in PAGES.items():
        files.append(File.generated(config, place, content=page()))
    for name, place in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=with_links(text, name, place, files)))
    return files


def on_page_markdown(markdown: str, *, page: Any, files: Files, **_: Any) -> str:
    """Turns links that lead out of docs/ into links of the site, or into the file's name."""
    place = page.file.src_uri
    if place in PAGES or place in ROOT_PAGES.values():
        return markdown
    return with_links(markdown, f"docs/{place}", place, files)


def with_links(text: str, source: str, place: str, files: Files) -> str:
    """A page's text with its links as they must be at `place`; `source` is its path in the repository."""

    def changed(found: re.Match[str]) -> str:
        label, target, anchor = found[1], found[2], found[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = ROOT_PAGES.get(path) or path.removeprefix("docs/")
        known = path in ROOT_PAGES or inside in PAGES or files.get_file_from_path(inside) is not None
        if known and (path in ROOT_PAGES or path.startswith("docs/")):
            return f"[{label}]({posixpath.relpath(inside, posixpath.dirname(place) or '.')}{anchor})"
        if not (ROOT / path).exists():
            return found[0]  # mkdocs reports it.
        return f"{label} (`{path}`)" if path not in label else f"`{path}`"

    return LINK.sub(changed, text)
