"""docs/reference/performance.md: a number has its commit, day and build, and is not older than the build."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "performance.md").read_text(encoding="utf-8")
COMMIT, DAY = re.compile(r"[0-9a-f]{8}"), re.compile(r"20\d\d-\d\d-\d\d")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table with this first line."""
    lines = PAGE.partition(f"{heading}\n")[2].splitlines()[1:]
    table = lines[: next(at for at, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_each_number_has_commit_day_and_build() -> None:
    since = {build: day for build, day, _ in rows("| build | since | settings |")}
    measured = rows("| section | commit | date | build |")
    assert len(measured) >= 10
    for *_, commit, day, builds in measured:
        assert COMMIT.fullmatch(commit)
        assert DAY.fullmatch(day)
        # Days in this form are in the order of their texts.
        assert all(since[build] <= day for build in builds.split(" and ")), commit


def test_the_table_is_of_one_build_and_not_older_than_its_settings() -> None:
    since = {build: day for build, day, _ in rows("| build | since | settings |")}
    (line,) = re.findall(
        r"^One run of one build: commit ([0-9a-f]{8}), (20\d\d-\d\d-\d\d), `make setup` ", PAGE, re.MULTILINE
    )
    assert line[1] >= max(since.values())
    assert len(rows("| what | value | goal | |")) > 40
