"""CITATION.cff says of the project what pyproject.toml says, and cites only what docs/sources.md has."""

# ruamel.yaml is typed in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]


def the_citation() -> dict[str, Any]:
    """CITATION.cff as data."""
    return YAML(typ="safe", pure=True).load(ROOT / "CITATION.cff")


def test_the_citation_is_of_this_version() -> None:
    citation = the_citation()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])


def test_every_reference_is_among_the_sources() -> None:
    sources = " ".join((ROOT / "docs" / "sources.md").read_text(encoding="utf-8").split())
    for paper in the_citation()["references"]:
        names = ", ".join(f"{one['given-names']} {one['family-names']}" for one in paper["authors"])
        assert f'{names}: "{paper["title"]}". {paper["conference"]["name"]}' in sources
