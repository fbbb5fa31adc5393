"""Plans a lab from a request: network, programs, links as switches implement them, and their entries.

Deterministic: the lab and its controller process plan from the same request and come to the same.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from controller.errors import ControllerError
from controller.resolve import resolve
from controller.written import NOTHING, Written
from p4cc.control.load import load_controller
from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.lab.kernel_tcp import Hosts, check_senders, kernel_labels
from p4cc.lab.switches import PACKET_BYTES, PortShape, ProgramSource, SwitchSetup
from p4cc.planning import plausible
from p4cc.planning.fabric import alpha_log2, scheduler_of
from p4cc.planning.imported import name_of_import, programs_of, written_of
from p4cc.planning.network import NetworkPlan, plan_case
from p4cc.planning.programs import find_program, include_folders
from p4cc.running.result_folder import SETTINGS_AS_WRITTEN
from p4cc.scenario.expand import Case, expand
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import Origins, apply_overrides
from p4cc.scenario.programs import BfrtRow
from p4cc.scenario.units import plain_numbers
from p4cc.scenario.yaml import read_document
from topos import TopologyError
from topos.lab import LabLink, LabNetwork, LabSwitch, lab_of
from topos.loaders import load_lab
from topos.loaders.imported import Imported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller import SwitchPlan
    from controller.entities import Entity
    from controller.pipeline import Pipeline
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.scenario.programs import ProgramSource as ScenarioProgram
    from p4cc.scenario.schema import ScenarioModel
    from topos.lab import LabEnd, LabPort


@dataclass(frozen=True)
class LabRequest:
    """The request of the command line as plain values, for JSON."""

    file: str
    is_import: bool = False
    switch: str = "p4cc"
    programs: tuple[str, ...] = ()
    """P4 programs in place of those that an import names, by the same name or for all."""
    overrides: tuple[str, ...] = ()
    variant: str | None = None
    grpc_base: int | None = None
    thrift_base: int | None = None
    kernel_tcp: tuple[str, ...] = ()
    """Labels of traffic whose flows use the kernel's TCP, while agents send the others."""
    hosts: Hosts | None = None
    """What sends all flows, in place of what the scenario says."""

    @property
    def name(self) -> str:
        """Of the lab: the scenario's file, or the folder of the exercise that is imported."""
        file = Path(self.file)
        if not self.is_import:
            return file.stem
        return name_of_import(file)

    @property
    def settings(self) -> str:
        """A short hash of the command line's changes and of an import's file."""
        changes = [self.overrides, self.variant, self.programs, self.switch]
        if self.kernel_tcp:
            changes.append(self.kernel_tcp)
        if self.hosts is not None:
            changes.append(self.hosts)
        if self.is_import:
            changes.append(str(Path(self.file).resolve()))
        elif changes == [(), None, (), "p4cc"]:
            return SETTINGS_AS_WRITTEN
        return hashlib.sha256(json.dumps(changes).encode()).hexdigest()[:8]

    def identity(self, kind: str) -> dict[str, str]:
        """The identity of results; `kind` distinguishes a single lab."""
        return {"kind": kind, "lab": self.name, "settings": self.settings}

    @property
    def folder(self) -> Path:
        """The default folder of logs and results, unless another lab uses it."""
        name = self.name if self.settings == SETTINGS_AS_WRITTEN else f"{self.name}-{self.settings}"
        return Path("results") / "lab" / name

    def to_plain(self) -> dict[str, JsonValue]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: JsonObject) -> LabRequest:
        """From JSON."""
        return TypeAdapter(cls).validate_python(plain)


@dataclass(frozen=True)
class LabPlan:
    """A lab, planned."""

    file: Path
    network: LabNetwork
    programs: dict[str, ProgramSource]
    """By switch; a switch without an entry waits for the user's controller."""
    setup: SwitchSetup
    holds: bool
    """Whether the controller stays, and is primary; an import leaves that to the user's own."""
    case: Case | None = None
    imported: Imported | None = None
    kernel_tcp: frozenset[str] = frozenset()
    """Labels of traffic whose flows are the kernel's TCP."""
    hosts: Hosts | None = None
    data: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """A scenario after `extends` and what the command line changes."""
    warnings: tuple[str, ...] = ()

    def ports(self, switch: str, interfaces: Mapping[LabEnd, str]) -> tuple[PortShape, ...]:
        """The ports of a switch, with links as this switch makes them."""
        return tuple(self._shape(switch, port, interfaces) for port in self.network.ports[switch])

    def _shape(self, switch: str, port: LabPort, interfaces: Mapping[LabEnd, str]) -> PortShape:
        """A switch delays what it sends. No switch delays what a host sends, so the last hop makes up for it.

        Queues precede the delay, and the time around the loop is the sum: only the split between the two ways is
        another.
        """
        link = port.link
        end = link.a if (link.a.node, link.a.port) == (switch, port.number) else link.b
        ways = 2 if port.peer.node in self.network.host_names else 1
        return PortShape(
            number=port.number,
            interface=interfaces[end],
            rate_bps=link.rate_bps,
            delay_ns=link.delay_ns * ways,
            queue_capacity_pkts=link.queue_capacity_pkts,
            framing_bytes=link.framing_bytes,
            loss=link.loss,
            to_host=port.peer.node in self.network.host_names,
            alpha_log2=self._alpha_log2(link),
            scheduler=None if self.case is None else scheduler_of(self.case.scenario.switch, switch, port.peer.node),
        )

    def _alpha_log2(self, link: LabLink) -> int | None:
        """Of a port with a shared buffer, as in virtual time (docs/algorithms/pfc.md#pfc-parameters)."""
        buffer = None if self.case is None else self.case.scenario.switch.buffer
        if buffer is None or link.rate_bps is None:
            return None
        hosts = self.network.host_names
        at_hosts = [one.rate_bps for one in self.network.links if {one.a.node, one.b.node} & hosts and one.rate_bps]
        return alpha_log2(buffer, link.rate_bps, min(at_hosts, default=link.rate_bps))

    def desired(self, pipelines: Mapping[str, Pipeline]) -> dict[str, SwitchPlan | tuple[Entity, ...]]:
        """The desired state of every switch that has a program; raises UserError, ControllerError."""
        planned = self.planned(pipelines)
        if planned is not None:
            return {plan.switch: plan for plan in planned.switches}
        return {name: resolve(self.written(self.switch(name)), pipelines[name].schema) for name in self.programs}

    def planned(self, pipelines: Mapping[str, Pipeline]) -> NetworkPlan | None:
        """A scenario's network as virtual time plans it; None for an import. Raises UserError."""
        if self.case is None:
            return None
        return plan_case(self.case, self.file, lambda switch: pipelines[switch].schema)

    @property
    def has_own_control(self) -> bool:
        """Whether the controller keeps the scenario's times: the user's, or of restarts or changes of tables."""
        if self.case is None:
            return False
        scenario = self.case.scenario
        restarts = any(one.switch is not None for one in scenario.faults)
        return scenario.switch.controller is not None or restarts or bool(scenario.changes)

    def switch(self, name: str) -> LabSwitch:
        """The switch of this name."""
        return next(switch for switch in self.network.switches if switch.name == name)

    def written(self, switch: LabSwitch) -> Written:
        """The entries of a switch in an import's files; raises UserError."""
        return NOTHING if self.imported is None else written_of(switch, self.imported)


def plan_lab(request: LabRequest) -> LabPlan:
    """Plan a lab; raises UserError with everything that is wrong."""
    try:
        plan = _plan_import(request) if request.is_import else _plan_scenario(request)
    except TopologyError as error:
        raise UserError(str(error), place=request.file, remedy="correct the file") from error
    except ControllerError as error:
        raise UserError(error.cause, place=error.place, remedy=error.remedy) from error
    return replace(plan, network=_moved(plan.network, request))


def _moved(network: LabNetwork, request: LabRequest) -> LabNetwork:
    """The network with TCP ports from other bases, where asked for."""
    switches = tuple(
        replace(
            switch,
            grpc_port=switch.grpc_port if request.grpc_base is None else request.grpc_base + index,
            thrift_port=switch.thrift_port if request.thrift_base is None else request.thrift_base + index,
        )
        for index, switch in enumerate(network.switches)
    )
    return LabNetwork(network.hosts, switches, network.links)


def _with_cpu_port(network: LabNetwork, cpu_port: int | None) -> LabNetwork:
    switches = tuple(replace(switch, cpu_port=cpu_port) for switch in network.switches)
    return LabNetwork(network.hosts, switches, network.links)


def _plan_scenario(request: LabRequest) -> LabPlan:
    path = Path(request.file)
    if request.programs:
        raise UserError("a scenario names its program", place="--program", remedy="use --set switch.program=FILE")
    document = read_document(path)
    origins: Origins = {}
    data = apply_overrides(document.plain(), list(request.overrides), origins)
    scenario = validate(document, data, origins)

    def check(at: JsonObject, swept: Origins) -> ScenarioModel:
        found = validate(document, at, {**origins, **swept})
        check_network(document, found, {**origins, **swept})
        return found

    cases = expand(data, scenario, check, origins)
    case = _chosen(cases, request.variant)
    if case.ip == 6:
        remedy = "--set transport.ip=4, or p4cc run"
        raise UserError("hosts of a lab have IPv4 only", place=f"{path} at transport.ip", remedy=remedy)
    if any(isinstance(row, BfrtRow) for row in case.scenario.switch.entries):
        remedy = "take p4cc run, or start p4cc-switch --bfrt-addr with a client of yours"
        raise UserError("labs write nothing over BF Runtime", place=f"{path} at switch.entries", remedy=remedy)
    labels = kernel_labels(case, request.kernel_tcp, request.hosts)
    check_senders(case, labels, f"{path} at transport.packets", request.hosts)
    topology = case.scenario.topology.build(path)
    network = _with_cpu_port(lab_of(topology), case.scenario.switch.cpu_port)
    programs = {one.name: _source(case.source_of(one.name), path) for one in network.switches}
    switch = case.scenario.switch
    if switch.controller is not None:
        load_controller(switch.controller, case.scenario.control.parameters, path)
    warnings = list(plausible.of_scenario(case.scenario))
    if switch.buffer is not None and switch.buffer.watchdog is not None:
        warnings.append("switch.buffer.watchdog: nobody pauses a lab's switches, and they watch no queue")
    if switch.queue_capacity_bytes is not None:
        warnings.append("switch.queue_capacity_bytes: the queues of a lab's switches are bounded in packets only")
    if sum(request.variant in (None, one.variant.name) for one in cases) > 1:
        warnings.append(f"the lab is that of {case.label()}; --variant and --set choose another")
    return LabPlan(
        file=path,
        network=network,
        programs=programs,
        setup=SwitchSetup(
            timestamp_unit=switch.timestamp_unit,
            pass_limit=switch.pass_limit,
            deflect_on_drop=switch.deflect_on_drop,
            qdepth_unit=switch.qdepth_unit,
            buffer_bytes=None if switch.buffer is None else switch.buffer.bytes,
            pauses=switch.buffer is not None and bool(switch.buffer.lossless_priorities),
            seed=case.scenario.seeds[0] % (1 << 32),
            packet_bytes=case.scenario.transport.mss_bytes + case.header_bytes,
        ),
        holds=True,
        case=case,
        kernel_tcp=labels,
        hosts=request.hosts,
        data=plain_numbers(data, []),
        warnings=tuple(warnings),
    )


def _source(given: ScenarioProgram, scenario: Path) -> ProgramSource:
    """A scenario's program as a lab's switches are given it."""
    p4info = None
    if given.p4info is not None:
        p4info = find_named(given.p4info, scenario, what="P4Info", key="switch.p4info")
    include = include_folders(given.include, scenario)
    return ProgramSource(find_program(given.program, scenario), p4info, include, tuple(given.defines), given.strict)


def variants_of(request: LabRequest) -> tuple[str, ...]:
    """Names of a scenario's variants, or the one asked for; raises UserError."""
    if request.variant is not None:
        return (request.variant,)
    document = read_document(Path(request.file))
    origins: Origins = {}
    scenario = validate(document, apply_overrides(document.plain(), list(request.overrides), origins), origins)
    return tuple(variant.name for variant in scenario.variants)


def _chosen(cases: Sequence[Case], variant: str | None) -> Case:
    found = [case for case in cases if variant is None or case.variant.name == variant]
    if not found:
        names = ", ".join(dict.fromkeys(case.variant.name for case in cases))
        raise UserError(f"no variant {variant!r}", place="--variant", remedy=f"variants: {names}")
    return found[0]


def _plan_import(request: LabRequest) -> LabPlan:
    imported = load_lab(Path(request.file))
    if request.overrides or request.variant:
        raise UserError("an import has no fields to set", place="--set", remedy="edit the topology file")
    if request.kernel_tcp or request.hosts:
        remedy = "start programs of your own with --run"
        option = "--kernel-tcp" if request.kernel_tcp else "--hosts"
        raise UserError("an import has no traffic", place=option, remedy=remedy)
    remarks = (text for switch in imported.network.switches for text in written_of(switch, imported).remarks())
    return LabPlan(
        file=Path(request.file),
        network=imported.network,
        programs={
            switch: ProgramSource(program.source, program.p4info)
            for switch, program in programs_of(imported, [Path(name) for name in request.programs]).items()
        },
        setup=SwitchSetup(packet_bytes=PACKET_BYTES),
        holds=False,
        imported=imported,
        warnings=(*imported.warnings, *dict.fromkeys(remarks)),
    )
