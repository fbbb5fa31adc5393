"""What programs that set rates are told: tables by port, D3's table for the division, first rates to stamp."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from controller import program
from controller.d3 import CapacityEstimate, D3Port, reciprocals, useful_flows
from controller.entities import ActionCall, Entry, EntryKey, Exact
from controller.features import PortName, by_port
from controller.rcp import RcpPort


@dataclass(frozen=True)
class D3PortPlan:
    """A port that allots rates; without an estimate its capacity does not follow load and queue."""

    port: D3Port
    estimate: CapacityEstimate | None = None
    is_clamped: bool = False
    """Whether a grant is never more than is left, which the published rule allows."""


@dataclass(frozen=True)
class D3Settings:
    """Ports of `d3.p4`; a port that is not named allots nothing."""

    ports: Mapping[PortName, D3PortPlan]
    tables: tuple[str, ...] = (program.D3_PORTS, program.D3_ESTIMATES, program.D3_RECIPROCALS)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """An entry for each port, one for each estimate, and the reciprocals."""
        plans = {number: self.ports[switch, peer] for number, peer in ports.items() if (switch, peer) in self.ports}
        for number, plan in plans.items():
            at = plan.port
            args = (("least", at.base_kbps), ("rate", at.capacity_kbps), ("shift", at.epoch_shift))
            action = program.SET_D3_PORT if plan.is_clamped else program.SET_D3_PORT_AS_PUBLISHED
            yield by_port(program.D3_PORTS, number, ActionCall(action, args))
            if (follows := plan.estimate) is not None:
                args = (
                    ("depth_bytes", follows.bytes_per_depth),
                    ("framing", follows.framing_bytes),
                    ("load", follows.load_gain),
                    ("lowest", follows.floor_kbps),
                    ("queue", follows.queue_gain),
                    ("speed", follows.bytes_per_time),
                    ("t", follows.interval),
                )
                yield by_port(program.D3_ESTIMATES, number, ActionCall(program.SET_D3_ESTIMATE, args))
        shares = max((useful_flows(plan.port) for plan in plans.values()), default=0)
        for flows, value in enumerate(reciprocals(shares) if shares else (), start=1):
            match = (Exact(program.FLOWS_KEY, flows),)
            yield Entry(
                EntryKey(program.D3_RECIPROCALS, match), ActionCall(program.SET_RECIPROCAL, (("value", value),))
            )


@dataclass(frozen=True)
class RcpSettings:
    """Ports of `rcp.p4`; a port that is not named neither measures nor stamps."""

    ports: Mapping[PortName, RcpPort]
    tables: tuple[str, ...] = (program.RCP_PORTS,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each port that stamps."""
        for number, peer in ports.items():
            if (at := self.ports.get((switch, peer))) is None:
                continue
            args = (
                ("c", at.capacity_kbps),
                ("depth_bytes", at.bytes_per_depth),
                ("framing", at.framing_bytes),
                ("initial", at.initial_kbps),
                ("load", at.load_gain),
                ("lowest", at.least_kbps),
                ("queue", at.queue_gain),
                ("speed", at.bytes_per_time),
                ("t", at.interval),
            )
            yield by_port(program.RCP_PORTS, number, ActionCall(program.SET_RCP_PORT, args))


@dataclass(frozen=True)
class RcpStampSettings:
    """Ports of `rcp_stamp.p4` before a controller's first step; one that is not named neither measures nor stamps."""

    ports: Mapping[PortName, RcpPort]
    tables: tuple[str, ...] = (program.RCP_STAMPED,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each port that stamps, with the first rate."""
        for number, peer in ports.items():
            if (at := self.ports.get((switch, peer))) is not None:
                args = (("fair", at.initial_kbps), ("framing", at.framing_bytes))
                yield by_port(program.RCP_STAMPED, number, ActionCall(program.SET_RCP_RATE, args))


@dataclass(frozen=True)
class D3StampSettings:
    """Ports of `d3_stamp.p4` before a controller's first reading; a port that is not named allots nothing."""

    ports: Mapping[PortName, D3PortPlan]
    tables: tuple[str, ...] = (program.D3_STAMPED,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each port: desires up to its capacity, and the base rate besides."""
        for number, peer in ports.items():
            if (plan := self.ports.get((switch, peer))) is not None:
                capacity_kbps, base_kbps = plan.port.capacity_kbps, plan.port.base_kbps
                args = (("fair", base_kbps), ("most", capacity_kbps), ("number", 0), ("rate", capacity_kbps))
                yield by_port(program.D3_STAMPED, number, ActionCall(program.SET_D3_SHARE, args))
