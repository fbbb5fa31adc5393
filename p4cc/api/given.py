"""Inputs of calls: a scenario as a file, a name, a mapping or an object, and changes to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc.bundled import find_scenario
from p4cc.running.request import RunRequest
from p4cc.scenario.built import Scenario
from p4cc.scenario.overrides import assignments, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from p4cc.json_data import JsonObject


def request_of(
    scenario: str | PathLike[str] | JsonObject | Scenario,
    changes: JsonObject | None,
    overrides: JsonObject,
    variants: Sequence[str] = (),
) -> RunRequest:
    """The request; raises UserError for a missing file and for values that no file could have."""
    path, text = _file_of(scenario)
    return RunRequest(
        scenario=path,
        text=text,
        overrides=assignments(changes, overrides),
        variants=tuple(variants),
    )


def _file_of(scenario: str | PathLike[str] | JsonObject | Scenario) -> tuple[Path, str | None]:
    """The scenario's file, and the data that replace its content."""
    if isinstance(scenario, Scenario):
        return scenario.place, scenario.to_yaml()
    if isinstance(scenario, Mapping):
        return Path("scenario.yaml"), plain_text("scenario", dict(scenario))
    return find_scenario(Path(scenario)), None
