"""Which Python module may import which: the directions between the rooms of p4cc, and no circle of modules.

An import counts wherever it stands: at the top, within a function, or for the type checker only.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
ENGINE = "p4cc._engine"
"""The compiled module, which imports nothing of ours."""
PACKAGES = ("p4cc", "controller", "topos")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "user_algorithms": (),
    "scenario": ("user_algorithms",),
    "planning": ("scenario", "user_algorithms"),
    "analysis": ("scenario",),
    "explain": ("scenario", "analysis"),
    "dissector": (),
    "drop_in": ("planning",),
    "tofino": (),
    "control": ("scenario", "planning"),
    "figures": ("scenario", "planning", "analysis"),
    "running": ("scenario", "planning", "analysis", "figures", "control", "user_algorithms"),
    "cluster": ("scenario", "planning", "analysis", "running"),
    "packet_way": ("running",),
    "grading": ("scenario", "planning", "packet_way"),
    "reproduce": ("scenario", "planning", "analysis", "figures", "running"),
    "lab": ("control", "scenario", "planning", "analysis", "figures", "running", "user_algorithms"),
    "pages": (),
    "report": ("scenario", "analysis", "explain", "figures", "running", "lab", "pages"),
    "live": ("control", "scenario", "planning", "running", "packet_way", "lab", "pages"),
    "api": ("scenario", "planning", "analysis", "figures", "running"),
    "commands": (
        "scenario",
        "user_algorithms",
        "planning",
        "analysis",
        "explain",
        "figures",
        "running",
        "cluster",
        "reproduce",
        "lab",
        "live",
        "report",
        "dissector",
        "drop_in",
        "packet_way",
        "grading",
        "tofino",
    ),
}
"""Rooms of p4cc, and those that a room may import; modules of no room below are free to all."""

DISTRIBUTIONS = {"PIL": "pillow", "ruamel": "ruamel.yaml", "yaml": "pyyaml"}
"""Names of packages to install where they differ from those of imports."""
PARTS = {"google": "finsy", "grpc": "finsy", "pydantic_core": "pydantic"}
"""What a package's own interface is made of: it comes with that package, in the version that fits."""

OF_SCRIPTS = ROOT / "p4cc/drop_in/modules"
"""Modules for scripts of others, on top of what those have installed; nothing of p4cc imports them."""

ABOVE_ALL = ("p4cc", "p4cc.cli", "p4cc.parts", "p4cc.start", "p4cc.reference_pages", "p4cc.results_page")
"""Modules of no room that put rooms together: no room imports them."""


def modules() -> dict[str, Path]:
    """Files by the names of their modules."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            if path.is_relative_to(OF_SCRIPTS):
                continue
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    """Modules that a file names in its imports, of those that are known."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole == ENGINE:
                    continue
                yield whole if whole in known else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Every module with those that it imports."""
    known = modules()
    return {
        name: {other for other in imported(ast.parse(path.read_text(encoding="utf-8")), known) if other in known}
        for name, path in known.items()
    }


def room(module: str) -> str | None:
    """The room of a module of p4cc; None for one that is in none."""
    parts = module.split(".")
    return parts[1] if parts[0] == "p4cc" and len(parts) > 1 and parts[1] in MAY_IMPORT else None


def wrong_directions(graph: Mapping[str, set[str]]) -> list[str]:
    """Imports between rooms that the table does not name."""
    wrong: list[str] = []
    for module, others in graph.items():
        for other in sorted(others):
            inside, beyond = room(module), room(other)
            if inside is None:
                # What stands below the rooms knows none of them.
                if module.startswith("p4cc.") and module not in ABOVE_ALL and beyond is not None:
                    wrong.append(f"{module} imports {other}")
            elif other in ABOVE_ALL[1:] or (beyond is not None and beyond not in (inside, *MAY_IMPORT[inside])):
                wrong.append(f"{module} imports {other}")
    return wrong


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """A circle of imports; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_folder_of_p4cc_is_a_room_with_its_document() -> None:
    folders = {path.parent.name: path for path in (ROOT / "p4cc").glob("*/__init__.py")}
    assert set(folders) == set(MAY_IMPORT)
    assert all(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in folders.values())


def test_imports_between_rooms_go_one_way(graph: dict[str, set[str]]) -> None:
    assert len(graph) > 100, "the modules were found"
    wrong = wrong_directions(graph)
    assert not wrong, f"move what is shared to the room that both may import: {wrong}"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_circle_of_imports(package: str, graph: dict[str, set[str]]) -> None:
    within = {
        name: {other for other in others if other.split(".")[0] == package}
        for name, others in graph.items()
        if name.split(".")[0] == package
    }
    found = circle(within)
    assert not found, f"move what both need to a module of its own: {' -> '.join(found)}"


def test_packages_below_p4cc_do_not_import_it(graph: dict[str, set[str]]) -> None:
    """topos knows neither of both others, and the controller does not know p4cc."""
    below = {"topos": ("controller", "p4cc"), "controller": ("p4cc",)}
    wrong = [
        f"{module} imports {other}"
        for module, others in graph.items()
        for other in sorted(others)
        if other.split(".")[0] in below.get(module.split(".")[0], ())
    ]
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from p4cc.running.runner import RunRequest", ["p4cc.running.runner"]),
        ("def late() -> None:\n    from p4cc.running import runner", ["p4cc.running.runner"]),
        ("if TYPE_CHECKING:\n    import p4cc.running.runner", ["p4cc.running.runner"]),
    ],
)
def test_an_import_counts_wherever_it_stands(source: str, expected: list[str]) -> None:
    assert list(imported(ast.parse(source), {"p4cc.running.runner": Path("runner.py")})) == expected
    assert wrong_directions({"p4cc.analysis.links": set(expected)}) == [
        "p4cc.analysis.links imports p4cc.running.runner"
    ]


def test_a_circle_is_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()})) == {"a", "b", "c"}


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    declared = {found.group() for one in wanted if (found := re.match(r"[A-Za-z0-9._-]+", one))}
    tops = {
        other.split(".")[0]: str(path.relative_to(ROOT))
        for path in modules().values()
        for other in imported(ast.parse(path.read_text(encoding="utf-8")), {})
    }
    foreign = {top: file for top, file in tops.items() if top not in {*PACKAGES, *sys.stdlib_module_names}}
    assert {"numpy", "polars"} <= set(foreign), "imports were found"
    undeclared = {
        top: file for top, file in foreign.items() if DISTRIBUTIONS.get(top, PARTS.get(top, top)) not in declared
    }
    assert not undeclared, f"add to the dependencies of pyproject.toml: {undeclared}"


def test_only_what_draws_imports_matplotlib() -> None:
    """It takes half a second: commands and reports that draw no file need not wait for it."""
    drawing = {"p4cc/api/plot.py", *(f"p4cc/figures/{name}.py" for name in ("network", "picture", "style"))}
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "p4cc").rglob("*.py")
        if re.search(r"^(from|import) matplotlib", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == drawing
