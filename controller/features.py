"""What programs beside the dual-threshold one are told: RED curves, telemetry, queues of control packets.

Each feature names the tables that it owns and gives their entries; a plan joins routes with its program's features.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

from controller import program
from controller.entities import ActionCall, CloneSession, Entry, EntryKey, Exact, Range
from controller.red import SLOPE_BITS, RedCurve, red_steps
from controller.telemetry import IntPort

PortName = tuple[str, str]
"""A switch and the neighbour that the port leads to."""

TRAFFIC_CLASSES = 8


class Feature(Protocol):
    """Tables of a program that the controller fills by port."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables that the controller owns."""
        ...

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """Entries of one switch; `ports` are its numbers and neighbours."""
        ...


@runtime_checkable
class Cloning(Protocol):
    """A feature that needs clone sessions besides."""

    def sessions(self, ports: Mapping[int, str]) -> tuple[CloneSession, ...]:
        """Sessions of one switch; `ports` are its numbers and neighbours."""
        ...


@dataclass(frozen=True)
class RedSettings:
    """Curves of `ecn_red.p4`; a port that is not named never marks."""

    curves: Mapping[PortName, RedCurve]
    tables: tuple[str, ...] = (program.CURVES,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each port with a curve."""
        for number, peer in ports.items():
            if (curve := self.curves.get((switch, peer))) is not None:
                args = (("high", curve.k_max), ("low", curve.k_min), ("rise", curve.slope))
                yield by_port(program.CURVES, number, ActionCall(program.SET_CURVE, args))


@dataclass(frozen=True)
class RedStepsSettings:
    """Curves of `ecn_red_steps.p4`, in steps; a port that is not named never marks."""

    curves: Mapping[PortName, RedCurve]
    tables: tuple[str, ...] = (program.RED_STEPS,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each step of each port with a curve."""
        found = {number: self.curves.get((switch, peer)) for number, peer in ports.items()}
        curves = {number: curve for number, curve in found.items() if curve is not None}
        for number, curve in curves.items():
            for step in red_steps(curve, len(curves)):
                match = (Exact(program.PORT_KEY, number), Range(program.DEPTH_KEY, step.low, step.high))
                call = ActionCall(program.SET_ALWAYS)
                if step.probability is not None:
                    call = ActionCall(program.SET_PROBABILITY, (("p", step.probability),))
                # No two steps of a port overlap: one priority does for all.
                yield Entry(EntryKey(program.RED_STEPS, match, 1), call)


@dataclass(frozen=True)
class WredSettings:
    """Curves of `ecn_wred.p4`, whose filter marks every packet from `k_max` on; only BF Runtime can write them."""

    curves: Mapping[PortName, RedCurve]
    tables: tuple[str, ...] = (program.WRED,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One cell for each port with a curve."""
        for number, peer in ports.items():
            if (curve := self.curves.get((switch, peer))) is not None:
                p_max = round(curve.slope * (curve.k_max - curve.k_min) * program.WRED_P_UNIT / (1 << SLOPE_BITS))
                args = (("high", curve.k_max), ("low", curve.k_min), ("p_max", p_max))
                match = (Exact(program.WRED_KEY, number),)
                yield Entry(EntryKey(program.WRED, match), ActionCall(program.SET_WRED, args))


@dataclass(frozen=True)
class TelemetrySettings:
    """Ports of `int_hpcc.p4`; a port that is not named neither counts nor stamps."""

    ports: Mapping[PortName, IntPort]
    tables: tuple[str, ...] = (program.INT_PORTS,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each port that stamps."""
        names = {
            "cells_per_depth": "cells",
            "framing_bytes": "framing",
            "max_hops": "hops",
            "rate_code": "rate",
            "switch_id": "id",
            "unit_shift": "shift",
        }
        for number, peer in ports.items():
            if (port := self.ports.get((switch, peer))) is not None:
                args = sorted((names[name], int(value)) for name, value in asdict(port).items())
                yield by_port(program.INT_PORTS, number, ActionCall(program.SET_INT_PORT, tuple(args)))


@dataclass(frozen=True)
class QueueSettings:
    """The queue of ACKs, NACKs and notifications of every class; None leaves them in the highest."""

    control_priority: int | None = None
    tables: tuple[str, ...] = (program.PRIORITIES,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """One entry for each class, where control packets are not in the highest queue."""
        del switch, ports
        if self.control_priority is None:
            return
        for traffic_class in range(TRAFFIC_CLASSES):
            match = (Exact(program.IS_CONTROL_KEY, 1), Exact(program.TRAFFIC_CLASS_KEY, traffic_class))
            call = ActionCall(program.SET_PRIORITY, (("value", self.control_priority),))
            yield Entry(EntryKey(program.PRIORITIES, match), call)


@dataclass(frozen=True)
class SpraySettings:
    """Programs that spray packets (`spray.p4`): a pause of `gap_ticks` of the switch's clock begins a flowlet.

    None gives each packet a path of its own.
    """

    gap_ticks: int | None = None
    tables: tuple[str, ...] = (program.FLOWLET_GAPS,)

    def entries(self, switch: str, ports: Mapping[int, str]) -> Iterator[Entry]:
        """The one entry of a switch whose flowlets keep to a path."""
        del switch, ports
        if self.gap_ticks is not None:
            match = (Exact(program.FLOWLET_KEY, program.ETHERTYPE_IPV4),)
            call = ActionCall(program.SET_FLOWLET_GAP, (("ticks", self.gap_ticks),))
            yield Entry(EntryKey(program.FLOWLET_GAPS, match), call)


def by_port(table: str, number: int, call: ActionCall) -> Entry:
    """An entry of a table by egress port, for the port of this number."""
    return Entry(EntryKey(table, (Exact(program.PORT_KEY, number),)), call)
