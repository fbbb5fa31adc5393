"""How-to pages that list files: each file is there, and has the symbols that its row names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("docs/how-to/add-a-p4-control.md",)
MOST_FILES = 8
"""That a control without settings of a scenario touches."""
_ROW = re.compile(r"^\| `([^`|]+)` \|[^|]*\| ([^|]+) \|$", re.MULTILINE)
_SYMBOL = re.compile(r"`([^`]+)`")


def rows(page: str) -> list[tuple[Path, list[str]]]:
    """Files of a page's tables with the symbols named for them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(ROOT / file, _SYMBOL.findall(symbols)) for file, symbols in _ROW.findall(text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_symbol_of_a_how_to_is_where_it_says(page: str) -> None:
    found = rows(page)
    assert len(found) > 5
    for file, symbols in found:
        assert file.is_file(), f"{page} names {file}"
        assert symbols, f"{page} names no symbol of {file}"
        text = file.read_text(encoding="utf-8")
        missing = [symbol for symbol in symbols if re.search(rf"\b{re.escape(symbol)}\b", text) is None]
        assert not missing, f"{file} has no {missing}, which {page} names"


def test_a_control_touches_few_files() -> None:
    first = (ROOT / PAGES[0]).read_text(encoding="utf-8").partition("touches three more")[0]
    assert len(_ROW.findall(first)) <= MOST_FILES
