"""What became of mutants: counts as rows of a table, and the list of those that may survive."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass, fields
from enum import Enum, auto
from pathlib import Path

LIST = Path(__file__).with_name("survivors.toml")
HEAD = "| | mutants | killed | survive |\n|---|---|---|---|\n"


def cpu_limit(seconds: int) -> list[str]:
    """In front of a test's command: ends a mutant that never ends, however busy the machine is."""
    return ["prlimit", f"--cpu={seconds}"]


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = auto()
    SURVIVED = auto()
    SAME = auto()
    """It does not compile, or compiles to the same program: it is not counted."""


@dataclass
class Counts:
    """Mutants of a file by what became of them."""

    killed: int = 0
    listed: int = 0
    survived: int = 0

    def count(self, outcome: Outcome, name: str, key: str, listed: dict[str, str]) -> None:
        """One mutant more; prints a survivor unless the list has its reason."""
        if outcome is Outcome.KILLED:
            self.killed += 1
        elif outcome is Outcome.SURVIVED and key in listed:
            self.listed += 1
        elif outcome is Outcome.SURVIVED:
            self.survived += 1
            sys.stdout.write(f"survives: {name}\n")
            sys.stdout.flush()

    def add(self, other: Counts) -> None:
        """Sums up another file's."""
        for field in fields(Counts):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def row(self, name: str) -> str:
        """The counts as a row of a table."""
        left = self.listed + self.survived
        return f"| {name} | {self.killed + left} | {self.killed} | {left} |\n"


def reasons(kind: str) -> dict[str, str]:
    """Why a mutant may survive, by its key."""
    with LIST.open("rb") as file:
        listed = tomllib.load(file).get(kind, [])
    return {mutant: row["reason"] for row in listed for mutant in row["mutants"]}
