"""ARCHITECTURE.md is true: folders import none of what its table says; rooms and invariants name tests that exist."""

from __future__ import annotations

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
_CODE = re.compile(r"`([^`]+)`")
_ROW = re.compile(r"^\| (`[^|]+) \| ([^|]+) \|$", re.MULTILINE)
_ROOM = re.compile(r"^\*\*([^*]+)\*\*(.+?)(?=\n\n)", re.MULTILINE | re.DOTALL)
_INVARIANT = re.compile(r"^\d+\. (.+?)(?=^\d+\. |\Z)", re.MULTILINE | re.DOTALL)
_TEST = re.compile(r"`([\w/]+\.(?:py|rs))::(\w+)`")


def section(title: str) -> str:
    """A section of the document."""
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


RULES = [
    (folder, _CODE.findall(never))
    for folders, never in _ROW.findall(section("The rooms"))
    for folder in _CODE.findall(folders)
    if (ROOT / folder).is_dir()
]
ROOMS = dict(_ROOM.findall(section("The rooms")))
INVARIANTS = _INVARIANT.findall(section("Invariants"))


_WALK = re.compile(r"^\| [\w ]*\| (`[^|]+) \| [^|]+ \|$", re.MULTILINE)
_HOP = re.compile(r"((?:`[\w:]+`(?:, )?)+) \(`([\w./]+)`\)")
NETSIM = "engine/netsim/src"


def hops(title: str) -> list[tuple[str, Path]]:
    """Functions of a way, each with its file; one without a file stands in that of the one before."""
    found: list[tuple[str, Path]] = []
    for cell in _WALK.findall(section(title)):
        named = _HOP.findall(cell)
        for names, file in named:
            path = ROOT / file if (ROOT / file).is_file() else ROOT / NETSIM / file
            found += [(name.split("::")[-1], path) for name in _CODE.findall(names)]
        if not named:
            found += [(name.split("::")[-1], found[-1][1]) for name in _CODE.findall(cell)]
    return found


def crate_folders() -> dict[str, str]:
    """Folders of the workspace's crates by their names."""
    manifests = [*ROOT.glob("engine/*/Cargo.toml"), *ROOT.glob("host_agents/*/Cargo.toml")]
    return {
        tomllib.loads(path.read_text(encoding="utf-8"))["package"]["name"]: str(path.parent.relative_to(ROOT))
        for path in manifests
    }


def imports(folder: Path) -> set[str]:
    """What a folder imports: of a crate its dependencies, ours by their folders; else Python's packages."""
    manifest = folder / "Cargo.toml"
    if manifest.is_file():
        ours = crate_folders()
        dependencies = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        return {ours.get(str(name), str(name)) for name in dependencies}
    found: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).split(".")[0])
    return found


@pytest.mark.parametrize(("folder", "never"), RULES, ids=[folder for folder, _ in RULES])
def test_a_folder_imports_none_of_what_the_table_says(folder: str, never: list[str]) -> None:
    found = imports(ROOT / folder)
    wrong = sorted(name for name in found if any(fnmatch(name, pattern) for pattern in never))
    assert not wrong, f"{folder} imports {wrong}"


def test_every_crate_and_package_is_in_the_table() -> None:
    there = {*crate_folders().values(), *(path.parent.name for path in ROOT.glob("*/__init__.py"))} - {"tests"}
    assert there <= {folder for folder, _ in RULES}
    assert {pattern for _, never in RULES for pattern in never if "/" in pattern and "*" not in pattern} <= there


def absent_tests(text: str) -> list[str]:
    """Tests that a text names and that do not exist."""
    named = _TEST.findall(text)
    assert named, "no test keeps it"
    return [
        f"{file}::{name}"
        for file, name in named
        if not (path := ROOT / file).is_file()
        or re.search(rf"\b(?:def|fn) {name}\(", path.read_text(encoding="utf-8")) is None
    ]


@pytest.mark.parametrize("name", [name for name in ROOMS if name != "Tests and studies"])
def test_a_room_has_a_door_and_a_test(name: str) -> None:
    doors = _HOP.findall(ROOMS[name].partition("Door")[2].replace("\n", " "))
    assert doors
    wrong = [
        f"{file}: {door}"
        for names, file in doors
        for door in _CODE.findall(names)
        if re.search(rf"\b(?:fn|def|struct|impl|control) {door}\b", (ROOT / file).read_text(encoding="utf-8")) is None
    ]
    assert not wrong
    assert not absent_tests(ROOMS[name])


def test_every_folder_of_the_table_is_in_a_room() -> None:
    rooms = set(_CODE.findall(" ".join(ROOMS.values())))
    assert {folder for folder, _ in RULES} <= rooms


@pytest.mark.parametrize("invariant", INVARIANTS, ids=[text.partition(",")[0][:40] for text in INVARIANTS])
def test_an_invariant_names_a_test_that_is_there(invariant: str) -> None:
    assert not absent_tests(invariant)


@pytest.mark.parametrize(
    ("title", "most_hops", "most_files"), [("The way of a packet", 22, 10), ("The way of a threshold", 13, 11)]
)
def test_a_way_is_short_and_true(title: str, most_hops: int, most_files: int) -> None:
    found = hops(title)
    missing = [
        f"{file}: {name}"
        for name, file in found
        if not file.is_file() or re.search(rf"\b(?:fn|def|table) {name}\b", file.read_text(encoding="utf-8")) is None
    ]
    assert not missing
    assert 10 <= len(found) <= most_hops
    assert len({file for _, file in found}) <= most_files


def test_the_document_is_read() -> None:
    assert len(RULES) > 20
    assert len(INVARIANTS) == 9
    assert {"engine/exec", "engine/units"} <= imports(ROOT / "engine/switch")
    assert {"pydantic", "controller"} & imports(ROOT / "topos") == {"pydantic"}
