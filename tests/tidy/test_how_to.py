"""How-to pages that list files: each file is there, and has the symbols that its row names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from p4cc.scenario.port_controls import PortControls

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/how-to").glob("add-*.md"))
CONTROL = ROOT / "docs/how-to/add-a-p4-control.md"
ARCHITECTURE = ROOT / "docs/how-to/add-an-architecture.md"
MOST_OF_AN_ARCHITECTURE = 8
SETTINGS = ROOT / "p4cc/scenario/port_controls.py"
MOST_FILES = 8
"""That a control touches, with settings in scenarios or without."""
_ROW = re.compile(r"^\| (?!file \|)([^|]*`[^|]*/[^|]*) \| (.+) \|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"[\w./*-]+\.(?:rs|py|p4|md|yaml|yml|toml|txtpb)|[\w./-]+/[\w-]+/?")
_SYMBOL = re.compile(r"(?:[A-Za-z_]\w*(?:::|\.))*([A-Za-z_]\w{2,})")


def files(cell: str) -> list[Path]:
    """Files and folders that a cell names; one without its folder stands beside the one before it."""
    found: list[Path] = []
    for name in filter(_FILE.fullmatch, _CODE.findall(cell)):
        beside = "/" not in name and found and not (ROOT / name).is_file()
        pattern = str((found[-1].parent / name).relative_to(ROOT)) if beside else name
        # NAME stands for what the reader adds: any file there has the shape.
        found += sorted(ROOT.glob(pattern.replace("NAME", "*"))) or [ROOT / pattern]
    return found


def symbols(cell: str) -> list[str]:
    """Identifiers that a cell names; commands, literals and files are none."""
    named = [code for code in _CODE.findall(cell) if "NAME" not in code and not _FILE.fullmatch(code)]
    return [found[1] for code in named if (found := _SYMBOL.fullmatch(code))]


def text_of(path: Path) -> str:
    """A file, or all files of a folder."""
    parts = sorted(path.rglob("*.*")) if path.is_dir() else [path]
    return "\n".join(
        part.read_text(encoding="utf-8") for part in parts if part.suffix in (".rs", ".py", ".p4") or part == path
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_and_symbol_of_a_how_to_is_where_it_says(page: Path) -> None:
    rows = _ROW.findall(page.read_text(encoding="utf-8"))
    assert len(rows) >= 5
    wrong: list[str] = []
    for where, what in rows:
        named = files(where)
        wrong += [f"no {path.relative_to(ROOT)}" for path in named if not path.exists()]
        text = "\n".join(text_of(path) for path in named if path.exists())
        wrong += [
            f"no {symbol} in {where}"
            for symbol in symbols(where) + symbols(what)
            if re.search(rf"\b{re.escape(symbol)}\b", text) is None
        ]
    assert not wrong, f"{page.name}: {wrong}"


def test_a_control_touches_few_files() -> None:
    with_settings, split, without = CONTROL.read_text(encoding="utf-8").partition("in place of")
    assert split
    assert len(_ROW.findall(with_settings)) <= MOST_FILES
    assert len(_ROW.findall(without)) == 1


def test_an_architecture_touches_few_files() -> None:
    assert len(_ROW.findall(ARCHITECTURE.read_text(encoding="utf-8"))) <= MOST_OF_AN_ARCHITECTURE


def test_no_other_file_asks_for_an_architecture_by_its_name() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    listed = {path for where, _ in _ROW.findall(text) for path in files(where)}
    wrong = [
        str(path.relative_to(ROOT))
        for path in ROOT.glob("engine/*/src/**/*.rs")
        if path not in listed and "Architecture::Psa" in text_of(path)
    ]
    assert not wrong, f"ask engine/ir/src/architecture for a property: {wrong}"


def test_settings_of_a_control_are_named_in_one_file() -> None:
    names = set(PortControls.model_fields)
    classes = {type(getattr(PortControls(), name)).__name__ for name in names}
    assert {"rcp", "bolt"} <= names
    wrong = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in (ROOT / "p4cc").rglob("*.py")
        if path != SETTINGS
        and (found := re.search(rf"\b({'|'.join(classes)})\b|\bswitch\.({'|'.join(names)})\b", text_of(path)))
    ]
    assert not wrong


def test_a_missing_symbol_is_found() -> None:
    row = "| `tests/tidy/test_how_to.py` (`files`) | new: `NAME.p4`, `Absent::symbol` | `case X():` |"
    [(where, what)] = _ROW.findall(row)
    assert files(where) == [Path(__file__)]
    assert symbols(where) + symbols(what) == ["files", "symbol"]
