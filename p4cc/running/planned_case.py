"""A case as every driver runs it: its plan, the program of each switch, and the user's controller."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Self

from controller.pipeline import load_pipeline
from p4cc.control.load import load_controller
from p4cc.files import files_read
from p4cc.planning.bfrt_rows import CHIPS, filters_of
from p4cc.planning.network import NetworkPlan, plan_case
from p4cc.running.cache import run_keys
from p4cc.running.remote_runs import ProgramContent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from controller.entities import Entity
    from controller.pipeline import Pipeline
    from controller.plan import SwitchPlan
    from p4cc.control.load import ControllerClass
    from p4cc.planning.programs import CompiledProgram
    from p4cc.scenario.expand import Case


@dataclass(frozen=True)
class PlannedCase:
    """A case that is ready to run."""

    case: Case
    plan: NetworkPlan
    pipelines: Mapping[str, Pipeline]
    """By switch name."""
    controller: ControllerClass | None = None
    """Of the user."""
    inputs: Mapping[str, Path] = field(default_factory=dict[str, "Path"])
    """Files read by the plan, by their names in the scenario."""

    @property
    def stops(self) -> str | None:
        """Why runs stop on their way; None if they do not."""
        if self.controller is not None:
            return "virtual time waits for a controller"
        if any(fault.switch is not None for fault in self.case.scenario.faults):
            return "a switch restarts, and virtual time waits until it is installed again"
        if self.plan.changes:
            return "entries are written on the way, and virtual time waits for it"
        return None

    def label(self, seed: int) -> str:
        """Name of a run, for people."""
        return f"{self.case.label()} seed {seed}"


@dataclass(frozen=True)
class PushedProgram:
    """A compiled program in the form that is pushed to switches."""

    content: ProgramContent
    pipeline: Pipeline

    @classmethod
    def of(cls, program: CompiledProgram, p4info: bytes | str | None = None) -> Self:
        """With `p4info`, the controller uses its ids and names instead of p4cc's."""
        config, p4info = program.device_config(), program.p4info_bytes() if p4info is None else p4info
        pipeline = load_pipeline(p4info, config)
        filters = filters_of(program) if pipeline.schema.arch in CHIPS else frozenset[str]()
        return cls(ProgramContent(config, p4info, program.header_types(), filters), pipeline)

    @classmethod
    def of_content(cls, content: ProgramContent) -> Self:
        """A program compiled on another machine; raises ControllerError."""
        return cls(content, load_pipeline(content.p4info, content.config))


@dataclass(frozen=True)
class Programs:
    """The programs of a scenario, used to plan its cases."""

    scenario: Path
    by_name: Mapping[str, PushedProgram]
    """By their names in the scenario."""

    def plan(self, case: Case, *, with_controller: bool = True) -> PlannedCase:
        """Plans a case; `with_controller=False` omits the user's controller. Raises UserError."""
        with files_read() as inputs:
            plan = plan_case(
                case,
                self.scenario,
                lambda switch: self._of(case, switch).pipeline.schema,
                lambda switch: self._of(case, switch).content.header_types,
                lambda switch: self._of(case, switch).content.filters,
            )
            name = case.scenario.switch.controller if with_controller else None
            parameters = case.scenario.control.parameters
            controller = None if name is None else load_controller(name, parameters, self.scenario)
        pipelines = {one.switch: self._of(case, one.switch).pipeline for one in plan.switches}
        return PlannedCase(case, plan, pipelines, controller, inputs)

    def run_keys(self, planned: PlannedCase) -> dict[int, str]:
        """Cache keys of a case's runs, by seed."""
        return run_keys(self._parts(planned), planned.case.scenario.seeds)

    def _of(self, case: Case, switch: str) -> PushedProgram:
        return self.by_name[case.source_of(switch).program]

    def _parts(self, planned: PlannedCase) -> Iterator[str | bytes]:
        """The inputs of a run except its seed, switch by switch, because the plan of a large network is long."""
        case, plan, controller = planned.case, planned.plan, planned.controller
        yield plan.spec_json
        yield from (one.identity for one in plan.user_algorithms)
        yield from texts_of(plan.switches)
        if plan.bfrt_rows:
            yield repr(plan.bfrt_rows)
        for name in dict.fromkeys(source.program for source in case.sources):
            content = self.by_name[name].content
            yield content.config
            yield content.p4info
        if case.scenario.switch.programs:
            yield repr([case.source_of(switch.switch).program for switch in plan.switches])
        if planned.stops is not None:
            yield repr(case.scenario.faults)
            yield from (f"{one.at_ns} {one.switch} {one.entry!r}" for one in plan.changes)
        if controller is not None:
            yield controller.digest
            yield controller.text
            yield case.scenario.control.model_dump_json(exclude={"handler_limit_s"})


def texts_of(switches: Iterable[SwitchPlan]) -> Iterator[str]:
    """`repr` of each plan; of entities that plans share it is made once."""
    known: dict[int, str] = {}

    def text(entity: Entity) -> str:
        return known.get(id(entity)) or known.setdefault(id(entity), repr(entity))

    for plan in switches:
        texts = [text(entity) for entity in plan.entities]
        of_all = f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
        names = [one.name for one in fields(plan) if one.repr]
        values = (of_all if name == "entities" else repr(getattr(plan, name)) for name in names)
        yield f"SwitchPlan({', '.join(f'{name}={value}' for name, value in zip(names, values, strict=True))})"
