"""Texts of studies in Markdown, escaped so that nothing is read as markup."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

# An underscore within a word is not emphasis, so names stay readable in the file.
_SIGNIFICANT = re.compile(r"[&<\[\]*`\\|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_DOCUMENT = re.compile(r"(?<![\w./-])docs/([\w./-]*?\w\.md)(#[\w.-]*\w)?")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def plain(words: str) -> str:
    """A text in one line, each character that Markdown or HTML would read as a sign written by its number."""
    return _SIGNIFICANT.sub(lambda sign: f"&#{ord(sign[0])};", " ".join(words.split()))


def linked(words: str, page_folder: Path) -> str:
    """A text whose references to pages below `docs/` are links, where a folder above has such a page."""
    parts: list[str] = []
    end = 0
    for found in _DOCUMENT.finditer(words):
        # Joined again with the spaces around it, which `plain` takes away at the ends.
        parts.append(_between(words[end : found.start()]))
        target = _document(found[1], page_folder)
        label = f"{found[1].rpartition('/')[2]}{found[2] or ''}"
        parts.append(plain(found[0]) if target is None else f"[{plain(label)}]({target}{found[2] or ''})")
        end = found.end()
    return "".join([*parts, _between(words[end:])]).strip()


def code(words: str) -> str:
    """A command or a file's name; outside of tables."""
    return plain(words) if "`" in words or "\n" in words else f"`{words}`"


def slug(words: str) -> str:
    """A name as an anchor and a file's name may hold it."""
    return _NO_SLUG.sub("-", words.lower()).strip("-") or "unnamed"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; the cells are Markdown already."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def _between(words: str) -> str:
    inner = plain(words)
    before = " " if words[:1].isspace() else ""
    after = " " if inner and words[-1:].isspace() else ""
    return f"{before}{inner}{after}"


def _document(name: str, page_folder: Path) -> str | None:
    here = page_folder.resolve()
    for above in here.parents:
        if (page := above / "docs" / name).is_file():
            return os.path.relpath(page, here).replace(os.sep, "/")
    return None
