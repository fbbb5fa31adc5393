"""A case to the network the engine builds, and to the state the controller installs in its switches."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from controller import (
    EcnSettings,
    PlanError,
    PlannerError,
    Profile,
    SwitchPlan,
    ThresholdRule,
    Thresholds,
    bound_warnings,
    plan_network,
    port_warnings,
    thresholds_by_rule,
)
from controller.ecn import CODEPOINTS, THRESHOLDS
from controller.features import FLOWLET_GAPS
from controller.plan import route_of
from controller.red import WRED_FILTER
from controller.route_table import ROUTES
from controller.units import cells_by_port
from p4cc.bundled import is_builtin_file
from p4cc.errors import UserError
from p4cc.planning import plausible
from p4cc.planning.bfrt_rows import check_restarts, plan_bfrt_rows
from p4cc.planning.changes import TimedChange, plan_changes
from p4cc.planning.fabric import FabricPlanner
from p4cc.planning.fit import Switches, check_pauses, check_sender, check_states
from p4cc.planning.least_rates import least_rate_warnings
from p4cc.planning.names import Names
from p4cc.planning.packet_sizes import ideals, most_bytes, packet_sizes
from p4cc.planning.programs import compiled_sources, find_program
from p4cc.planning.record import plan_record
from p4cc.planning.reroutes import Reroute, other_sets, plan_reroutes
from p4cc.planning.slow_receivers import slow_receivers
from p4cc.planning.switch_features import FeaturePlanner
from p4cc.planning.switch_programs import plan_programs
from p4cc.planning.timeouts import path_times
from p4cc.planning.traffic import TrafficPlan, plan_traffic
from p4cc.planning.units import Units
from p4cc.planning.user_headers import UserHeadersPlan, plan_headers
from p4cc.planning.windows import UsualWindow, usual_window
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.schema import Transport, UsualPath
from topos import Paths, Topology, TopologyError, format_ipv4, format_mac, plan_addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from finsy import P4Schema

    from controller.written import WrittenEntry
    from p4cc import spec
    from p4cc.planning.programs import HeaderTypes
    from p4cc.planning.switch_programs import Programs
    from p4cc.scenario.base import Algorithm, Parameter, Sender
    from p4cc.scenario.expand import Case
    from p4cc.scenario.faults import Fault, Storm
    from p4cc.scenario.schema import ThresholdSettings
    from p4cc.scenario.timeouts import PathTimes
    from p4cc.user_algorithms.load import UserSender
    from topos import Ideal
    from topos.host_ways import Way

PORTS_OF_PIPE = 128
"""Numbers of ports that each pipe of a Tofino has."""

MAX_PAIR_GROUPS = 2_048
"""Groups of hosts between which `base_rtt: pair` has a time for each pair: 4 million numbers."""

Ports = dict[tuple[str, str], Thresholds]
"""Thresholds by switch and neighbour; a port that is not there never marks."""


@dataclass(frozen=True)
class NetworkPlan:
    """The engine's description, a plan per switch, and warnings."""

    topology: Topology
    paths: Paths
    ideals: Mapping[str, Ideal]
    """Formulas for completion times alone in the network, by the names that the engine knows senders by."""
    most_bytes: int
    """Of the largest packet from IP on."""
    spec_json: str
    switches: tuple[SwitchPlan, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """Findings that the scenario does not state."""
    user_algorithms: tuple[UserSender, ...] = ()
    """Users' classes, by the numbers that the description has for them."""
    changes: tuple[TimedChange, ...] = ()
    """Entries that are written on the run's way, in the order of time."""
    bfrt_rows: Mapping[str, tuple[WrittenEntry, ...]] = field(default_factory=dict[str, "tuple[WrittenEntry, ...]"])
    """Rows written over BF Runtime in addition to P4Runtime's entries, by switch."""


def _check_deflection(case: Case, topology: Topology, schema_of: Callable[[str], P4Schema]) -> None:
    """v1model has the extension, Tofino 2 a looped port in each pipe (docs/algorithms/trimming.md)."""
    if not case.scenario.switch.deflect_on_drop:
        return
    for name in topology.switch_names:
        arch = schema_of(name).arch
        if arch not in {"v1model", "t2na"}:
            cause = f"the program of {name} is for {arch}, and only v1model and t2na deflect by this setting"
            raise PlannerError("deflect_on_drop", cause, "run a program for v1model or t2na, or remove deflect_on_drop")
        linked = [port.number for port in topology.ports[name] if port.number % PORTS_OF_PIPE == 0]
        if arch == "t2na" and linked:
            cause = f"port {linked[0]} of {name} has a link, and the chip deflects to the first port of a pipe"
            remedy = f"connect fewer hosts and switches to {name}, or number its ports otherwise"
            raise PlannerError("deflect_on_drop", cause, remedy)


def plan_case(
    case: Case,
    scenario: Path,
    schema_of: Callable[[str], P4Schema],
    headers_of: Callable[[str], HeaderTypes] | None = None,
    filters_of: Callable[[str], frozenset[str]] | None = None,
) -> NetworkPlan:
    """Topology, addresses, ports and traffic of a case of this scenario file; raises UserError.

    `schema_of` has the P4Info of each switch's program: the settings of ports depend on its tables. `headers_of`
    has its header types, which the user's packets may name; absent: the program is compiled for them.
    `filters_of` has the filters of its chip (`Wred`) that may be set over BF Runtime; absent: none is.
    """
    try:
        topology = case.scenario.topology.build(scenario)
        programs = plan_programs(case, scenario, topology, schema_of, filters_of)
        planner = _Planner(case, scenario, topology, programs, headers_of)
        marks = THRESHOLDS in programs.roles
        ports = planner.thresholds() if marks else {}
        ecn = EcnSettings(planner.profile, ports, planner.cells()) if marks else None
        of_senders = list(planner.check_fit(ports))
        features = planner.features().features(programs.roles)
        reroutes = planner.reroutes()
        switches = plan_network(
            planner.topology,
            ecn,
            features,
            case.scenario.switch.ecmp_seed,
            watching=bool(case.scenario.faults),
            programs=programs.by_switch,
            routes=planner.paths.routes,
            others=other_sets(reroutes),
        )
        _check_deflection(case, planner.topology, schema_of)
        planned = plan_changes(case.scenario, planner.topology, scenario, schema_of)
        changes = tuple(sorted((*planned, *planner.route_changes(reroutes)), key=lambda one: one.at_ns))
        bfrt_rows = plan_bfrt_rows(case.scenario, planner.topology, scenario, schema_of)
        with_filter = {one.switch for one in switches if WRED_FILTER in one.roles}
        check_restarts(case.scenario, with_filter | bfrt_rows.keys(), scenario)
        warnings = (
            *planner.odd_values(),
            *of_senders,
            *check_states(case, scenario),
            *(planner.bound_warnings() if marks else ()),
            *port_warnings(switches),
            *planner.commands_left_out(),
        )
        spec_json = json.dumps(planner.spec(ports, schema_of))
    except (TopologyError, PlannerError) as error:
        odd = "; ".join(plausible.of_scenario(case.scenario))
        raise UserError(str(error), place=f"case {case.label()}", remedy=odd or "correct the scenario") from error
    except PlanError as error:
        raise UserError(error.cause, place=f"case {case.label()}: {error.place}", remedy=error.remedy) from error
    return NetworkPlan(
        planner.topology,
        planner.paths,
        planner.ideals(),
        planner.most_bytes,
        spec_json,
        switches,
        tuple(dict.fromkeys(warnings)),
        programs.notes,
        tuple(planner.user_algorithms),
        changes,
        bfrt_rows,
    )


class _Planner:
    """Plans one case."""

    def __init__(
        self,
        case: Case,
        scenario: Path,
        topology: Topology,
        programs: Programs,
        headers_of: Callable[[str], HeaderTypes] | None,
    ) -> None:
        self.case = case
        self.scenario = scenario
        self.topology = topology
        self.programs = programs
        self.headers_of = headers_of or self._compiled_headers
        by_capacity = case.scenario.switch.ecmp_weights == "capacity"
        self.paths = Paths(topology, by_capacity=by_capacity)
        self.units = Units(case.switch, self.packet_bytes, programs.chips)
        self.fabric = FabricPlanner(topology, case.switch, self.units, self.longest_rtt_ns)
        self.user_algorithms: list[UserSender] = []
        self._rules: dict[int, ThresholdRule | None] = {}
        """By the identity of the scenario's settings, which few ports have for themselves."""
        self._fills: dict[str, bool] = {}
        """Whether p4cc sets a switch's thresholds."""
        self._thresholds = case.thresholds

    @cached_property
    def longest_rtt_ns(self) -> int:
        """Longest base round-trip time between hosts that talk."""
        return self.paths.longest_rtt_ns()

    @cached_property
    def usual_window(self) -> UsualWindow:
        """Receiver window where nobody gives one."""
        mss_bytes = max(size.mss_bytes for size in packet_sizes(self.case).values())
        return usual_window(self.topology, self.paths, self.packet_bytes, mss_bytes)

    @cached_property
    def path_times(self) -> PathTimes:
        """Round trip of the longest path, and the time that its longest queue holds."""
        buffers = {name: self.fabric.buffer(name, self.most_bytes) for name in self.topology.switch_names}
        most = {name: buffer["bytes"] for name, buffer in buffers.items() if buffer is not None}
        return path_times(self.topology, self.paths, self.packet_bytes, most)

    @cached_property
    def traffic(self) -> TrafficPlan:
        """Flows, packets and their sources."""
        return plan_traffic(self.case, self.topology, self.scenario, self.headers_of)

    @cached_property
    def most_bytes(self) -> int:
        """Of the largest packet from IP on."""
        return most_bytes(self.case, self._user_bytes, self.traffic)

    @property
    def ack_class(self) -> int | None:
        """The queue of ACKs, where the transport says so; a variant may."""
        transport = self.case.scenario.rdma_transport
        if transport is None:
            return None
        return int(self.case.variant.transport.get("ack_class", transport.ack_class))

    @property
    def senders_choose(self) -> bool:
        """Whether some sender chooses the paths of its packets."""
        transport = self.case.scenario.rdma_transport
        if transport is None:
            return False
        senders = self._senders(self.traffic).values()
        paced = (sender for sender in senders if sender.rate_control is not None)
        return any(sender.transport.get("entropy", transport.entropy) != "flow" for sender in paced)

    @property
    def packet_bytes(self) -> int:
        """IP bytes of a full packet."""
        return self.case.scenario.transport.mss_bytes + self.header_bytes

    @property
    def header_bytes(self) -> int:
        """Bytes of a data packet before its payload, from IPv4 on."""
        return self.case.header_bytes + self._user_bytes

    @property
    def _user_bytes(self) -> int:
        """Bytes of the user's headers in each data packet."""
        return 0 if self.user_headers is None else self.user_headers.sent_bytes

    @cached_property
    def user_headers(self) -> UserHeadersPlan | None:
        """The user's headers in data packets; raises UserError."""
        headers = self.case.scenario.transport.headers
        if not headers:
            return None
        by_program = {self.case.source_of(switch).program: switch for switch in reversed(self.topology.switch_names)}
        programs = [self.headers_of(switch) for switch in by_program.values()]
        names = Names(self.topology, plan_addresses(self.topology), "")
        return plan_headers(headers, programs, names, f"{self.scenario} at transport.headers")

    @property
    def base_packet_bytes(self) -> int:
        """Whose time on each link belongs to the base round trip of paced senders.

        Of RDMA-like transports that is a payload, as in the T of docs/algorithms/hpcc.md#hpcc-parameters.
        """
        transport = self.case.scenario.transport
        return transport.mss_bytes if isinstance(transport, RdmaTransport) else self.packet_bytes

    def reroutes(self) -> tuple[Reroute, ...]:
        """What routes become when links of hosts with several fail; raises UserError."""
        by_capacity = self.case.scenario.switch.ecmp_weights == "capacity"
        faults, place = self.case.scenario.faults, str(self.scenario)
        if all(fault.reroute_ns is None for fault in faults):
            return ()
        return plan_reroutes(faults, self.topology, self.paths.routes, by_capacity=by_capacity, place=place)

    def route_changes(self, reroutes: tuple[Reroute, ...]) -> Iterator[TimedChange]:
        """These routes as entries of the switches' programs, where p4cc fills their route tables."""
        sets = other_sets(reroutes)
        for one in reroutes:
            table = self.programs.by_switch[one.switch].routes
            if table is not None:
                where = (one.switch, one.host, one.ports)
                entry = route_of(self.topology, self.paths.routes, sets, table, where)
                yield TimedChange(one.at_ns, one.switch, entry, f"{self.scenario} at faults[{one.fault}]")

    def pair_rtts(self) -> spec.PairRttsSpec:
        """The base round-trip time of each pair of hosts; those with links of one kind to one home are a group."""
        groups: dict[tuple[object, ...], list[str]] = {}
        for host, ends in self.topology.interfaces.items():
            links = ((switch, self.topology.links[port.link_index]) for switch, port in ends)
            groups.setdefault(tuple((switch, link.rate_bps, link.delay_ns) for switch, link in links), []).append(host)
        packet_bytes, found = self.base_packet_bytes, list(groups.values())
        if len(found) > MAX_PAIR_GROUPS:
            cause = (
                f"base_rtt: pair needs a time for each two of {len(found):,} groups of hosts with equal links; "
                f"the limit is {MAX_PAIR_GROUPS:,} groups"
            )
            remedy = "leave base_rtt out, for the longest round-trip time, or give base_rtt_ns"
            raise UserError(cause, place=f"{self.scenario} at transport.base_rtt", remedy=remedy)

        def rtt_ns(sources: list[str], destinations: list[str]) -> int:
            src = sources[0]
            dst = next((host for host in destinations if host != src), None)
            return 1 if dst is None else max(1, self.paths.between(src, dst).rtt_ns(packet_bytes))

        return {"groups": found, "rtt_ns": [[rtt_ns(one, other) for other in found] for one in found]}

    def ideals(self) -> Mapping[str, Ideal]:
        """Formulas for completion times alone in the network."""
        # A user's program may send each packet where it likes.
        sources = {self.case.source_of(switch).program for switch in self.topology.switch_names}
        is_own = all(is_builtin_file(find_program(source, self.scenario)) for source in sources)
        sprayed = FLOWLET_GAPS in self.programs.roles or not is_own
        return ideals(self.case, self._user_bytes, sprayed=sprayed)

    @property
    def profile(self) -> Profile:
        """Codepoints of the two levels; a user's program without p4cc's map knows one (RFC 3168)."""
        given = self.case.switch.ecn_profile
        if given is not None:
            return Profile(given)
        own = {CODEPOINTS, ROUTES} & self.programs.roles
        return Profile.GST if own else Profile.RFC3168

    def commands_left_out(self) -> Iterator[str]:
        """Warnings about commands of files that P4Runtime has no request for."""
        for switch, commands in self.programs.commands.items():
            if commands:
                names = ", ".join(dict.fromkeys(command.name for command in commands))
                yield f"{switch}: commands without a P4Runtime equivalent are skipped: {names}"

    def cells(self) -> dict[tuple[str, str], int]:
        """Cells of a full packet at every port whose thresholds are said in packets and counted in cells."""
        return cells_by_port(self.topology, self.units.cells_of_packets(), self.packet_bytes)

    def thresholds(self) -> Ports:
        """Thresholds of every port that marks; raises PlannerError that names the port."""
        try:
            chosen = thresholds_by_rule(self.topology, self._rule, packet_bytes=self.packet_bytes, paths=self.paths)
        except PlannerError as error:
            remedy = f"{error.remedy}; or set k_rule: never for ports that need not mark (switch.ports)"
            raise PlannerError(error.place, error.cause, remedy) from None
        filled = {
            port: thresholds
            for port, thresholds in self.programs.thresholds.items()
            if self.programs.by_switch[port[0]].has(THRESHOLDS)
        }
        return {**chosen, **filled}

    def bound_warnings(self) -> tuple[str, ...]:
        """Warnings about ports whose queues are too short for any threshold."""
        return bound_warnings(self.topology, self._rule, packet_bytes=self.packet_bytes, paths=self.paths)

    def _rule(self, switch: str, peer: str) -> ThresholdRule | None:
        """How a port's thresholds are chosen; None where it never marks, or its entries are the user's."""
        if (fills := self._fills.get(switch)) is None:
            fills = self._fills[switch] = self.programs.by_switch[switch].fills(THRESHOLDS)
        if not fills:
            return None
        settings = self._settings(switch, peer)
        if id(settings) not in self._rules:
            self._rules[id(settings)] = settings.rule()
        return self._rules[id(settings)]

    def _settings(self, switch: str, peer: str) -> ThresholdSettings:
        """The last entry of `switch.ports` that fits, or the thresholds of the case."""
        of_ports = self.case.scenario.switch.ports
        if not of_ports:
            return self._thresholds
        fits = [entry for entry in of_ports if fnmatchcase(switch, entry.switch) and fnmatchcase(peer, entry.to)]
        return fits[-1] if fits else self._thresholds

    def _compiled_headers(self, switch: str) -> HeaderTypes:
        """Header types of a switch's program."""
        source = self.case.source_of(switch)
        return compiled_sources([source], self.scenario)[source.program].header_types()

    def spec(self, ports: Ports, schema_of: Callable[[str], P4Schema]) -> spec.NetworkSpec:
        """The engine's description: the engine checks it again and names refused values by their path."""
        scenario = self.case.scenario
        traffic, rtt_ns = self.traffic, self.paths.longest_rtt_ns(self.packet_bytes)
        windows, paced = self._algorithms(traffic, ports)
        made = self._description(windows, paced, rtt_ns, schema_of)
        if self.topology.has_several_links:
            made["interface_seed"] = scenario.switch.ecmp_seed
        if scenario.rdma_transport is not None and scenario.rdma_transport.base_rtt == "pair":
            made["pair_rtts"] = self.pair_rtts()
        return made

    def _description(
        self,
        windows: dict[str, spec.SenderConfig],
        paced: dict[str, spec.RdmaConfig],
        rtt_ns: int,
        schema_of: Callable[[str], P4Schema],
    ) -> spec.NetworkSpec:
        scenario, traffic = self.case.scenario, self.traffic
        return {
            "switches": self._switches(),
            "hosts": self._hosts(),
            "links": _links(self.topology),
            "algorithms": windows,
            "rdma": paced,
            "flows": traffic.flows,
            "rounds": traffic.rounds,
            "collectives": traffic.collectives,
            "jobs": traffic.jobs,
            "arrivals": traffic.arrivals,
            "pairs": traffic.pairs,
            "bursts": traffic.bursts,
            "closed_loops": traffic.closed_loops,
            "packets": traffic.packets,
            "headers": None if self.user_headers is None else self.user_headers.plain,
            "record": plan_record(self.case, self.topology, rtt_ns, schema_of, self.scenario),
            "faults": [_fault(fault) for fault in scenario.faults],
            "storms": [_storm(storm) for storm in scenario.storms],
            "slow_receivers": slow_receivers(
                scenario.slow_receivers, self.topology, scenario.switch.buffer, self.most_bytes, str(self.scenario)
            ),
            "host_jitter_ns": scenario.host_jitter_ns,
            "stop_ns": scenario.stop_ns,
            "limits": {"max_events": scenario.limits.max_events},
        }

    def _switches(self) -> list[spec.SwitchSpec]:
        device_ids, settings = plan_addresses(self.topology).device_ids, self.case.scenario.switch
        return [
            {
                "name": name,
                "device_id": device_ids[name],
                "timestamp_unit": self.units.time_unit(name),
                "pass_limit": settings.pass_limit,
                "deflect_on_drop": settings.deflect_on_drop,
                "cpu_port": settings.cpu_port,
                "ports": [self.fabric.port(name, port, self.most_bytes) for port in self.topology.ports[name]],
                "buffer": self.fabric.buffer(name, self.most_bytes),
            }
            for name in self.topology.switch_names
        ]

    def _hosts(self) -> list[spec.HostSpec]:
        hosts: list[spec.HostSpec] = []
        for name, address in plan_addresses(self.topology).hosts.items():
            mac, gateway_mac = format_mac(address.mac), format_mac(address.gateway_mac)
            host: spec.HostSpec = {
                "name": name,
                "mac": mac,
                "ipv4": format_ipv4(address.ipv4),
                "gateway_mac": gateway_mac,
            }
            if address.further_macs:
                host["interfaces"] = [{"gateway_mac": format_mac(one)} for one in address.further_macs]
                host["ways"] = [_way(way) for way in self.paths.host_ways.of(name)]
            if (length := self._prefix_len(address.prefix_len)) != 32:
                host["prefix_len"] = length
            hosts.append(host)
        return hosts

    def _prefix_len(self, prefix_len: int) -> int:
        """Which hosts a host sends to without a gateway: those of its network, or all where frames are on layer 2."""
        said = self.case.scenario.switch.layer2
        layer2 = self.programs.layer2 if said is None else said
        return 0 if layer2 else (prefix_len if said is None else 32)

    def _algorithms(
        self, traffic: TrafficPlan, ports: Ports
    ) -> tuple[dict[str, spec.SenderConfig], dict[str, spec.RdmaConfig]]:
        """Sender configurations by kind and name: the variant's, and those of traffic that brings its own."""
        windows: dict[str, spec.SenderConfig] = {}
        paced: dict[str, spec.RdmaConfig] = {}
        for name, sender in self._senders(traffic).items():
            if sender.rate_control is None:
                windows[name] = self._sender(sender, ports)
            else:
                paced[name] = self._paced(sender, sender.rate_control)
        return windows, paced

    def _senders(self, traffic: TrafficPlan) -> dict[str, Sender]:
        return {self.case.variant.name: self.case.variant, **traffic.senders}

    def _paced(self, sender: Sender, control: Algorithm) -> spec.RdmaConfig:
        transport = self.case.scenario.rdma_transport
        if transport is None:
            raise ValueError("the schema requires a transport for every sender with rate_control")
        base_rtt_ns = transport.base_rtt_ns or self.paths.longest_rtt_ns(self.base_packet_bytes)
        longest = (base_rtt_ns, self.paths.most_switches())
        cc = control.config(control.parameters(), self.user_algorithms)
        receiver = sender.receiver
        driven = None if receiver is None else receiver.config(receiver.parameters(), self.user_algorithms)
        log_base = self.case.switch.pint_log_base if control.reads_pint else None
        return self.fabric.sender(transport, sender.transport, (cc, driven), longest, log_base)

    def features(self) -> FeaturePlanner:
        """Settings of switches in addition to routes and thresholds."""
        rtt_ns = self.paths.longest_rtt_ns(self.packet_bytes)
        return FeaturePlanner(
            self.topology, self.case.switch, self.case.red, rtt_ns, self.units, self.ack_class, self.senders_choose
        )

    def odd_values(self) -> Iterator[str]:
        """Warnings about values that the schema takes and that nobody means."""
        yield from plausible.of_scenario(self.case.scenario)
        yield from plausible.of_case(self.case.scenario, self.case.variant, self.longest_rtt_ns, self.packet_bytes)
        lines = [self.topology.links[port.link_index].rate_bps for _, port in self.topology.attachments.values()]
        yield from plausible.of_sender(self.case.variant, max(lines), self.longest_rtt_ns, self.packet_bytes)
        transport = self.case.scenario.transport
        is_usual = (
            isinstance(transport, Transport) and transport.rwnd is None and "rwnd" not in self.case.variant.transport
        )
        if is_usual and self.case.variant.rate_control is None:
            yield from self.usual_window.warnings(f"case {self.case.label()}")

    def check_fit(self, ports: Ports) -> Iterator[str]:
        """Warnings about senders that were made for other switches; raises UserError where none of it makes sense."""
        switches = Switches(
            self.case.program,
            self.programs.roles,
            ports,
            self.topology.roles.bottleneck,
            is_builtin_file(find_program(self.case.program, self.scenario)),
            self.case.red.is_step,
        )
        items = (item.sender for item in self.case.scenario.flow_items.values())
        for sender in (self.case.variant, *(sender for sender in items if sender is not None)):
            yield from check_sender(sender, switches, f"case {self.case.label()}")
        yield from self._unpaused()
        place = f"case {self.case.label()}"
        yield from least_rate_warnings(self.traffic, self._senders(self.traffic), self.topology, place)

    def _unpaused(self) -> Iterator[str]:
        """Warnings about paced senders on queues that lose packets."""
        sent: dict[int, tuple[Sender, list[int]]] = {}
        for item in self.case.scenario.flow_items.values():
            sender = item.sender or self.case.variant
            if item.kind not in ("ns3", "flows"):
                sent.setdefault(id(sender), (sender, []))[1].append(self.case.priority_of(item))
        for sender, priorities in sent.values():
            yield from check_pauses(sender, priorities, self.case.scenario, f"case {self.case.label()}")

    def _sender(self, sender: Sender, ports: Ports) -> spec.SenderConfig:
        """A sender's configuration: the transport, the sender's changes to it, its algorithms."""
        cc: spec.AlgorithmConfig = {}
        if sender.congestion_avoidance is not None:
            cc["congestion_avoidance"] = self._algorithm(sender.congestion_avoidance, ports)
        cc["slow_start"] = self._algorithm(sender.slow_start, ports)
        transport = self.case.scenario.window_transport
        usual = UsualPath(self.usual_window.segments, self.path_times)
        return transport.config(sender.transport, self.profile.value, cc, usual)

    def _algorithm(self, algorithm: Algorithm, ports: Ports) -> spec.AlgorithmSpec:
        """An algorithm with its parameters; one that must know the switch's thresholds gets those installed."""
        given = algorithm.parameters()
        needs_thresholds = algorithm.entry is not None and algorithm.entry.needs_thresholds
        if not needs_thresholds or {"k", "k_dc"} <= set(given):
            return algorithm.config(given, self.user_algorithms)
        expected = ports.get(self.topology.roles.bottleneck or ("", ""))
        at = expected or min(ports.values(), key=lambda one: (one.k_pkts, one.k_dc_pkts), default=None)
        if at is None:
            raise UserError(
                f"{algorithm.name} needs the thresholds of the bottleneck, but no port marks",
                place=f"case {self.case.label()}",
                remedy="choose a k_rule other than never, or set the algorithm's k and k_dc",
            )
        thresholds: dict[str, Parameter] = {"k": at.k_pkts, "k_dc": at.k_dc_pkts}
        return algorithm.config({**thresholds, **given}, self.user_algorithms)


def _way(way: Way) -> spec.HostWaySpec:
    made: spec.HostWaySpec = {"interfaces": [list(group) for group in way.groups]}
    if way.hosts:
        made["to"] = list(way.hosts)
    return made


def _storm(storm: Storm) -> spec.StormSpec:
    made: spec.StormSpec = {"host": storm.host, "priority": storm.priority, "start_ns": storm.start_ns}
    if storm.end_ns is not None:
        made["end_ns"] = storm.end_ns
    if storm.pause_quanta is not None:
        made["pause_quanta"] = storm.pause_quanta
    return made


def _fault(fault: Fault) -> spec.FaultSpec:
    made: spec.FaultSpec
    if fault.between is None:
        made = {"switch": fault.switch, "down_ns": fault.down_ns}
    else:
        made = {"between": list(fault.between), "down_ns": fault.down_ns}
    if fault.up_ns is not None:
        made["up_ns"] = fault.up_ns
    return made


def _links(topology: Topology) -> list[spec.LinkSpec]:
    further = {
        (host, port.link_index): number
        for host, ends in topology.interfaces.items()
        for number, (_, port) in enumerate(ends)
        if number > 0
    }

    def end(node: str, port: int | None, index: int) -> spec.EndSpec:
        number = further.get((node, index)) if port is None else port
        return {"node": node} if number is None else {"node": node, "port": number}

    return [
        {
            "a": end(link.a, at_a, index),
            "b": end(link.b, at_b, index),
            "rate_bps": link.rate_bps,
            "delay_ns": link.delay_ns,
            "framing_bytes": link.framing_bytes,
            "loss": link.loss,
        }
        for index, (link, (at_a, at_b)) in enumerate(zip(topology.links, topology.port_numbers, strict=True))
    ]
