"""Rooms: which folders of a crate's source never import which, and that no files import each other in a circle.

Only what a build has counts: unit tests and comments are left out. A name that a door (`lib.rs`, `mod.rs`) re-exports
counts as imported from the file that defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOORS = ("lib.rs", "mod.rs")

# Sources without an import circle, other than those of NATURAL_CIRCLES.
SOURCES = [
    "engine/bmv2json/src",
    "engine/budget/src",
    "engine/check/src",
    "engine/compile/src",
    "engine/ir/src",
    "engine/lower/src",
    "engine/lsp/src",
    "engine/netsim/src",
    "engine/p4runtime/src",
    "engine/stf/src",
    "engine/switch/src",
    "engine/switchd/src",
    "engine/syntax/src",
    "engine/types/src",
    "engine/units/src",
    "host_agents/agent/src",
    "host_agents/cc/src",
    "host_agents/transport/src",
]

# Files that may import each other: ARCHITECTURE.md has the reasons.
NATURAL_CIRCLES = {
    "engine/p4runtime/src": {f"server/{name}.rs" for name in ("mod", "pipeline", "reads", "service", "stream")},
}

NETSIM_COMPONENTS = {"hosts", "links", "network", "parallel", "switches"}

# By source and folder: the folders that no file of it imports.
NEVER_IMPORTS: dict[str, dict[str, set[str]]] = {
    "engine/netsim/src": {
        "events": {*NETSIM_COMPONENTS, "describe", "output", "record", "traffic"},
        "describe": {*NETSIM_COMPONENTS, "output", "record"},
        "traffic": {*NETSIM_COMPONENTS, "output", "record"},
        "record": {*NETSIM_COMPONENTS, "output"},
        "links": {"hosts", "network", "output", "parallel", "switches"},
        "hosts": {"network", "output", "parallel", "switches"},
        "switches": {"hosts", "network", "output", "parallel"},
        "output": {"network", "parallel"},
        "network": {"parallel"},
    },
}

Module = tuple[str, ...]

USE = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
INLINE = re.compile(r"(?<![\w:])\$?((?:crate|super)(?:::\w+)+)")


def production(path: Path) -> str:
    """Text of a Rust file without its unit tests and comments."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"//[^\n]*", "", text)


def leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """Paths of a use tree, each with the name that it gives: `a::{b, c as d}` is a::b named b and a::c named d."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        path, _, alias = head.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        if parts[-1] == "self":
            parts.pop()
        yield parts, alias.strip() or parts[-1]
        return
    prefix = [part for part in head.strip().split("::") if part]
    depth, start, inner = 0, 0, rest.rstrip().removesuffix("}") + ","
    for at, character in enumerate(inner):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if branch := inner[start:at].strip():
                for parts, name in leaves("::".join([*prefix, branch])):
                    yield parts, name
            start = at + 1


@dataclass
class Source:
    """The modules of one crate, each with its file."""

    files: dict[Module, Path]

    @classmethod
    def read(cls, folder: Path) -> Source:
        files: dict[Module, Path] = {}
        for path in sorted(folder.rglob("*.rs")):
            inside = path.relative_to(folder)
            files[inside.parent.parts if path.name in DOORS else inside.with_suffix("").parts] = path
        return cls(files)

    def absolute(self, module: Module, parts: list[str]) -> Module | None:
        """A path from the crate's root; none if it leaves the crate."""
        here = list(module)
        if parts[0] == "crate":
            return tuple(parts[1:])
        if parts[0] in ("super", "self"):
            for at, part in enumerate(parts):
                if part == "super":
                    here.pop()
                elif part != "self":
                    return (*here, *parts[at:])
            return tuple(here)
        return (*module, *parts) if (*module, parts[0]) in self.files else None

    def exports(self, module: Module) -> dict[str, Module]:
        """What a module re-exports, by name."""
        found: dict[str, Module] = {}
        for visibility, tree in USE.findall(production(self.files[module])):
            for parts, name in leaves(tree):
                if visibility and (path := self.absolute(module, parts)) is not None:
                    found[name] = path
        return found

    def home(self, path: Module) -> Path | None:
        """The file that defines what a path from the root names."""
        known = max((path[:end] for end in range(len(path) + 1) if path[:end] in self.files), key=len, default=None)
        if known is None:
            return None
        if len(path) > len(known) and self.files[known].name in DOORS:
            onward = self.exports(known).get(path[len(known)])
            if onward is not None:
                return self.home((*onward, *path[len(known) + 1 :]))
        return self.files[known]

    def imports(self, module: Module) -> set[Path]:
        """Files of the crate that a module imports from."""
        file = self.files[module]
        text = production(file)
        paths = [
            parts
            for visibility, tree in USE.findall(text)
            if not (visibility and file.name in DOORS)
            for parts, _ in leaves(tree)
        ]
        paths += [path.split("::") for path in INLINE.findall(USE.sub("", text))]
        absolute = (self.absolute(module, parts) for parts in paths)
        found = {self.home(path) for path in absolute if path is not None}
        return {path for path in found if path is not None and path != file}


def circle(folder: Path, natural: set[str] | None = None) -> list[str]:
    """Files that import each other in a circle, the first one again at the end; none if there is no circle but the
    natural one."""
    natural = natural or set()
    source = Source.read(folder)
    graph = {str(file.relative_to(folder)): source.imports(module) for module, file in source.files.items()}
    sorter = TopologicalSorter(
        {
            name: {str(path.relative_to(folder)) for path in imported} - (natural if name in natural else set())
            for name, imported in graph.items()
        }
    )
    try:
        sorter.prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def trespasses(folder: Path, never: dict[str, set[str]]) -> list[str]:
    """Imports of a folder that a folder never imports."""
    source = Source.read(folder)
    return [
        f"{file.relative_to(folder)} imports {imported.relative_to(folder)}"
        for module, file in source.files.items()
        for imported in sorted(source.imports(module))
        if imported.relative_to(folder).parts[0] in never.get(file.relative_to(folder).parts[0], set())
    ]


@pytest.mark.parametrize("source", SOURCES)
def test_no_files_import_each_other_in_a_circle(source: str) -> None:
    natural = NATURAL_CIRCLES.get(source)
    assert natural is None or circle(ROOT / source), f"{source}: the natural circle is gone"
    found = circle(ROOT / source, natural)
    assert not found, f"{source}: {' -> '.join(found)}"


@pytest.mark.parametrize("source", NEVER_IMPORTS)
def test_rooms_import_in_one_direction(source: str) -> None:
    rules = NEVER_IMPORTS[source]
    folders = {path.name for path in (ROOT / source).iterdir() if path.is_dir()}
    assert set(rules) <= folders, f"{source}: rules for folders that are not there"
    found = trespasses(ROOT / source, rules)
    assert not found, "\n".join(found)


def crate(folder: Path, **files: str) -> Path:
    """A crate's source: `a__b` is the file a/b.rs."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".rs")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_a_circle_is_found_through_a_door(tmp_path: Path) -> None:
    folder = crate(
        tmp_path,
        lib="mod a; mod b;\npub use a::one::{One, Other as Renamed};\n",
        a__mod="pub mod one;\n",
        a__one="use crate::b::{self, Two};\n",
        b="use std::fmt;\nuse crate::Renamed;\n",
    )
    assert set(circle(folder)) == {"a/one.rs", "b.rs"}


def test_tests_comments_and_doors_make_no_circle(tmp_path: Path) -> None:
    folder = crate(
        tmp_path,
        lib="mod a; mod b;\npub use a::One;\n",
        a="use super::b::Two;\n",
        b="// use crate::a::One;\n#[cfg(test)]\nmod tests {\n    use crate::a::One;\n}\n",
    )
    assert circle(folder) == []


def test_a_trespass_is_found_with_its_file(tmp_path: Path) -> None:
    folder = crate(
        tmp_path,
        lib="mod hosts; mod parallel;\n",
        hosts__mod="mod host;\n",
        hosts__host="fn f() { crate::parallel::barrier::wait(); }\n",
        parallel__mod="pub mod barrier;\n",
        parallel__barrier="",
    )
    assert trespasses(folder, {"hosts": {"parallel"}}) == ["hosts/host.rs imports parallel/barrier.rs"]
