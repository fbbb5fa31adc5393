"""How sources are cited: by paper and section, or by an anchor of docs/algorithms (test_links.py resolves these)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (".rs", ".py", ".pyi", ".p4", ".yaml", ".md", ".toml", ".sh", ".cdf", "Makefile")

# Sections and tags of a document that no reader has. A paper or an anchor of docs/algorithms says more.
UNRESOLVABLE = re.compile(
    r"""(?<![\w#/.-])(?:
        [Ss]pec\ \d[\d.]*[a-c]?        # a numbered section
        | S[0-4](?![\w.-])             # a source by number
        | [AV]-\d+b?(?!\w)             # a choice, a checked number
        | ["(;]\ ?(?:PUB|OWN|HS)\b     # where a value comes from
        | [Ss]tyle\ rule\ \d+
        | the\ design's | \(design[:,]
    )""",
    re.VERBOSE,
)
# Text of others' programs, pages where a host or a parameter is called S1, and what this file spells itself.
ELSEWHERE = (
    "engine/filetests/cases/",
    "docs/algorithms/topologies.md",
    "docs/algorithms/window.md",
    "tests/tidy/test_references.py",
)


def tracked(*suffixes: str) -> list[Path]:
    """Files that git tracks, by suffix."""
    git = shutil.which("git")
    assert git is not None, "git lists the files"
    listing = subprocess.run([git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        ROOT / name
        for name in listing.splitlines()
        if name.endswith(suffixes) and not name.startswith(ELSEWHERE) and (ROOT / name).exists()
    ]


def unresolvable(text: str) -> list[str]:
    """References in `text` that nothing in the repository resolves."""
    return [match.group(0) for match in UNRESOLVABLE.finditer(text)]


def test_references_are_to_papers_or_anchors() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {reference}"
        for path in tracked(*TEXT)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for reference in unresolvable(line)
    ]
    assert not found, "cite the paper or an anchor of docs/algorithms:\n" + "\n".join(found)


@pytest.mark.parametrize("text", ["(spec 6.4)", "S0 figure 9", "A-12b", "V-3", '"OWN"', "style rule 12", "(design: x)"])
def test_an_old_reference_is_found(text: str) -> None:
    assert unresolvable(text)


@pytest.mark.parametrize("text", ["docs/algorithms/pfc.md#pfc", "S1AP", "OWN = 3", "CVE-2024-1", "spec, 0"])
def test_what_only_looks_like_one_is_left_alone(text: str) -> None:
    assert not unresolvable(text)
