"""Prepares a request: reads and checks the scenario, and compiles its programs."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller import ControllerError
from p4cc.errors import UserError
from p4cc.files import FilesSeen, files_seen, inputs_read
from p4cc.planning.programs import CompiledProgram, compiled_sources, read_p4info
from p4cc.running.destination import Destination, destination_of
from p4cc.running.driver import ReadScenario
from p4cc.running.planned_case import Programs, PushedProgram
from p4cc.running.result_folder import SETTINGS_AS_WRITTEN
from p4cc.scenario.expand import Case, expand
from p4cc.scenario.findings import Places
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import Origins, apply_overrides, named_by
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import document_of, read_document

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from p4cc.running.request import RunRequest
    from p4cc.scenario.schema import ScenarioModel


@dataclass(frozen=True)
class Prepared(ReadScenario):
    """A checked request and its cases."""

    request: RunRequest
    compiled: dict[str, CompiledProgram]
    origins: Origins
    """Origin of values that are in no file."""
    places: Places
    """Origin of all values."""
    seen: FilesSeen
    """Contents of the scenario file and of `inputs`, if the call is recorded."""
    destination: Destination

    @property
    def runs(self) -> int:
        """Number of runs, including cached ones."""
        return sum(len(case.scenario.seeds) for case in self.cases)

    @property
    def folder(self) -> Path:
        """Where results go."""
        return self.destination.folder

    def programs(self) -> Programs:
        """Each program with its P4Info; raises UserError if they do not match."""
        sources = {source.program: source for case in self.cases for source in case.sources}
        found: dict[str, PushedProgram] = {}
        for name, program in self.compiled.items():
            p4info = read_p4info(sources[name], self.request.scenario)
            try:
                found[name] = PushedProgram.of(program, p4info)
            except ControllerError as error:
                raise UserError(error.cause, place=f"{name}: {error.place}", remedy=error.remedy) from error
        return Programs(self.request.scenario, found)


def prepare(request: RunRequest) -> Prepared:
    """Reads and checks a scenario and compiles its programs; raises UserError."""
    inputs, seen = dict[str, Path](), FilesSeen()
    with account(request, inputs, seen):
        return _prepare(request, inputs, seen)


@contextmanager
def account(request: RunRequest, inputs: dict[str, Path], seen: FilesSeen) -> Generator[None]:
    """Records the files read in its body, with their contents if the call is recorded."""
    tokens = inputs_read.set(inputs), files_seen.set(None if request.call is None else seen)
    try:
        yield
    finally:
        inputs_read.reset(tokens[0])
        files_seen.reset(tokens[1])


def _prepare(request: RunRequest, inputs: dict[str, Path], seen: FilesSeen) -> Prepared:
    document = read_document(request.scenario) if request.text is None else document_of(request.text, request.scenario)
    origins: Origins = {}
    data = apply_overrides(document.plain(), list(request.overrides), origins)
    scenario = validate(document, data, origins)

    data = plain_numbers(data, [])

    def check(at_point: dict[str, Any], swept: Origins) -> ScenarioModel:
        found = validate(document, at_point, {**origins, **swept})
        check_network(document, found, {**origins, **swept})
        return found

    cases = _chosen(expand(data, scenario, check, origins), request.variants)
    request.driver.check(len(cases) * len(scenario.seeds))
    with named_by(origins, request.scenario):
        compiled = compiled_sources([source for case in cases for source in case.sources], request.scenario)
    return Prepared(
        scenario=scenario,
        cases=cases,
        data=data,
        inputs=inputs,
        request=request,
        compiled=compiled,
        origins=origins,
        places=Places(document, origins),
        seen=seen,
        destination=_destination(request, scenario),
    )


def _chosen(cases: list[Case], variants: Sequence[str]) -> list[Case]:
    known = {case.variant.name for case in cases}
    for name in variants:
        if name not in known:
            raise UserError(f"no variant {name!r}", place="--variant", remedy=f"variants: {', '.join(sorted(known))}")
    return [case for case in cases if not variants or case.variant.name in variants]


def _destination(request: RunRequest, scenario: ScenarioModel) -> Destination:
    """Chooses the folder: results of changed settings or of another file get a separate one."""
    settings = request.settings
    identity = {"kind": "run", "scenario": scenario.name, "settings": settings}
    file, results = request.made_of or request.scenario, Path("results")
    asked_for = request.out or request.driver.folder(results, scenario.name)
    name = scenario.name if settings == SETTINGS_AS_WRITTEN else f"{scenario.name}-{settings}"
    if request.text is not None and asked_for is None:
        # No file tells scenarios of Python apart, so their content does.
        file = file.with_name(f"python-{hashlib.sha256(request.text.encode()).hexdigest()[:8]}")
    return destination_of(asked_for or results / name, file, identity, is_asked_for=asked_for is not None)
