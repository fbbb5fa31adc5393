"""What is done in the page, written down as a scenario that repeats the run; the file is whole after each change."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError
from p4cc.running import provenance
from p4cc.scenario.overrides import set_path
from p4cc.scenario.yaml import yaml_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.running.runner import Prepared
    from p4cc.scenario.expand import Case

_LEFT_OUT = ("sweep", "figures", "reproduces")
"""Of the scenario: what is of many runs."""


@dataclass(frozen=True)
class RecordedRun:
    """What a run was made of."""

    data: Mapping[str, Any]
    """The scenario after `extends` and what the command line changes."""
    case: Case
    inputs: Mapping[str, Path]
    """Files that decide the run, by the names that the scenario gives them."""
    command: str
    """What runs the scenario again, with FILE for its file."""


def recorded(prepared: Prepared) -> RecordedRun:
    """The one run of a call of `p4cc run`."""
    (case,) = prepared.cases
    return RecordedRun(prepared.data, case, prepared.inputs, "p4cc run FILE")


@dataclass
class Recorder:
    """Changes of one run, in the order of time."""

    file: Path
    """Where the scenario goes; it is not there before the first change."""
    run: RecordedRun
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """As `changes` of a scenario has them."""

    def add(self, row: dict[str, Any]) -> None:
        """Writes a change down; raises UserError where the file cannot be written."""
        self.rows.append(row)
        text = self.text() or ""
        partial = self.file.with_name(f".{self.file.name}.partial")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, self.file)  # noqa: PTH105 - one step, on one disk
        except OSError as error:
            cause = f"the change took effect and cannot be written down: {error.strerror or error}"
            raise UserError(cause, place=str(self.file), remedy="free some room; the page still has it") from error

    def text(self) -> str | None:
        """The scenario as YAML; none before the first change."""
        if not self.rows:
            return None
        again = self.run.command.replace("FILE", str(self.file))
        return f"# Repeats a run with what was changed in its live page: {again}\n{yaml_of(self._data())}"

    def _data(self) -> dict[str, Any]:
        """The scenario of this one run, with its files by their whole paths."""
        case = self.run.case
        data: dict[str, Any] = deepcopy({key: one for key, one in self.run.data.items() if key not in _LEFT_OUT})
        for path, value in case.point.items():
            set_path(data, path, value, f"sweep.{path}")
        files = {name: str(path.resolve()) for name, path in self.run.inputs.items()}
        named = provenance.renamed(data, files)
        variants = [one for one in named["variants"] if one["name"] == case.variant.name]
        return {**named, "variants": variants, "seeds": case.scenario.seeds, "changes": self.all_rows}

    @property
    def all_rows(self) -> list[dict[str, Any]]:
        """Changes of the scenario's own, then those of the page."""
        return [*self.run.data.get("changes", []), *self.rows]


def free_file(folder: Path) -> Path:
    """A file beside a folder of results that is not there yet."""
    number = 1
    while True:
        more = "" if number == 1 else f"-{number}"
        file = folder.with_name(f"{folder.name}{more}.yaml")
        if not file.exists():
            return file
        number += 1
