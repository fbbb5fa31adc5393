"""Writes the page's changes down as a scenario that repeats the run; the file is complete after each change."""

from __future__ import annotations

import os
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from p4cc.errors import UserError
from p4cc.running import provenance
from p4cc.scenario.overrides import set_path
from p4cc.scenario.yaml import yaml_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.live.messages import TimedChange
    from p4cc.running.driver import ReadScenario
    from p4cc.scenario.expand import Case

_LEFT_OUT = ("sweep", "figures", "reproduces")
"""Parts of a scenario that concern several runs."""


@dataclass(frozen=True)
class RunSource:
    """The inputs of a run."""

    data: JsonObject
    """The scenario after `extends` and the command line's overrides."""
    case: Case
    inputs: Mapping[str, Path]
    """The run's input files, by their names in the scenario."""
    command: str
    """Runs the scenario again, with FILE for its file."""


def run_source(read: ReadScenario) -> RunSource:
    """The one run of a call of `p4cc run`."""
    (case,) = read.cases
    return RunSource(read.data, case, read.inputs, "p4cc run FILE")


@dataclass
class Recorder:
    """Changes of one run, in the order of time."""

    file: Path
    """The scenario's file; written at the first change."""
    run: RunSource
    rows: list[TimedChange] = field(default_factory=list["TimedChange"])

    def add(self, row: TimedChange) -> None:
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
        """The scenario as YAML; None before the first change."""
        if not self.rows:
            return None
        again = self.run.command.replace("FILE", str(self.file))
        return f"# Repeats a run with what was changed in its live page: {again}\n{yaml_of(self._data())}"

    def _data(self) -> JsonObject:
        """The scenario of this one run, with full paths of its files."""
        case = self.run.case
        data: dict[str, JsonValue] = deepcopy({key: of for key, of in self.run.data.items() if key not in _LEFT_OUT})
        for path, value in case.point.items():
            set_path(data, path, value, f"sweep.{path}")
        files = {name: str(path.resolve()) for name, path in self.run.inputs.items()}
        named = provenance.renamed(data, files)
        variants = [variant for variant in named["variants"] if variant["name"] == case.variant.name]
        changes = cast("list[JsonValue]", self.all_rows)
        return {**named, "variants": variants, "seeds": case.scenario.seeds, "changes": changes}

    @property
    def all_rows(self) -> list[TimedChange]:
        """The scenario's own changes, then those of the page."""
        return [*cast("list[TimedChange]", self.run.data.get("changes", [])), *self.rows]


def free_file(folder: Path) -> Path:
    """A file next to a folder of results that does not exist yet."""
    number = 1
    while True:
        more = "" if number == 1 else f"-{number}"
        file = folder.with_name(f"{folder.name}{more}.yaml")
        if not file.exists():
            return file
        number += 1
