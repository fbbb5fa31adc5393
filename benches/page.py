"""Writes the table of docs/reference/performance.md: one run of one build (`make bench-table`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benches.row import program_on_path
from benches.table_writes import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benches.row import Row

PAGE = ROOT / "docs" / "reference" / "performance.md"
BEGIN, END = "<!-- the table: make bench-table -->\n", "<!-- end of the table -->\n"
IDLE = 0.5
"""Load average of a minute up to which the machine counts as quiet."""


@dataclass(frozen=True)
class Build:
    """What was measured, and where."""

    commit: str
    day: str
    profile: str
    machine: str

    @property
    def line(self) -> str:
        """The sentence above the table."""
        return (
            f"One run of one build: commit {self.commit}, {self.day}, `make setup` ({self.profile}), on {self.machine}."
        )


def build_of_today(machine: str) -> Build:
    """The commit, clean; ends with a message if files differ from it, or if the machine is busy."""
    load = os.getloadavg()[0]
    if load > IDLE:
        sys.exit(f"bench: the machine is busy (load average {load:.2f}); its figures would be those of the load")
    git = [program_on_path("git"), "-C", str(ROOT)]
    changed = subprocess.run([*git, "status", "--porcelain"], check=True, capture_output=True, text=True).stdout
    if changed.strip():
        sys.exit(f"bench: files differ from the commit that the table would name:\n{changed}commit them first")
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return Build(commit[:8], f"{datetime.now(UTC):%Y-%m-%d}", profile_of(cargo), machine)


def profile_of(cargo: dict[str, Any]) -> str:
    """The settings of the release build, in words."""
    release: dict[str, Any] = cargo["profile"]["release"]
    packages: dict[str, dict[str, Any]] = release["package"]
    whole = sum(one.get("codegen-units") == 1 for one in packages.values())
    fast = sum(one.get("opt-level") == 3 for one in packages.values())
    return (
        f"opt-level {release['opt-level']}, 3 in {fast} crates, lto {release['lto']}, "
        f"{release['codegen-units']} units of code, one in {whole} crates, "
        f"debug {str(release['debug']).lower()}"
    )


def page_with(text: str, rows: Sequence[Row], build: Build, shown: Callable[[Row], str]) -> str:
    """The page with these rows in place of its table."""
    before, begins, rest = text.partition(BEGIN)
    _, ends, after = rest.partition(END)
    if not begins or not ends:
        sys.exit(f"bench: {PAGE} lacks the comments around its table")
    lines = ["| what | value | goal | |", "|---|---|---|---|"]
    for row in rows:
        goal = "" if row.budget is None else f"{row.budget:,g} {row.unit}".strip()
        lines.append(f"| {row.what} | {shown(row)} {row.unit} | {goal} | {row.verdict} |".replace("  ", " "))
    return f"{before}{BEGIN}\n{build.line}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"
