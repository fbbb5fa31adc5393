"""Entries besides routes: rows of tables with a role, for each switch.

A feature names the roles that it fills; a plan writes its rows in the tables of the switch's program (`roles`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from controller.entities import CloneSession
from controller.roles import TICKS, Row

PortName = tuple[str, str]
"""A switch and the neighbour that the port leads to."""

PRIORITIES = "ack_priority.priorities"
FLOWLET_GAPS = "spray.gaps"
TRAFFIC_CLASSES = 8
ETHERTYPE_IPV4 = 0x0800


class Feature(Protocol):
    """Tables of a program that the controller fills."""

    @property
    def roles(self) -> tuple[str, ...]:
        """Of the tables that the controller owns."""
        ...

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """Rows of one switch; `ports` are its numbers and neighbours."""
        ...


@runtime_checkable
class Cloning(Protocol):
    """A feature that needs clone sessions besides."""

    def sessions(self, ports: Mapping[int, str]) -> tuple[CloneSession, ...]:
        """Sessions of one switch; `ports` are its numbers and neighbours."""
        ...


@dataclass(frozen=True)
class PortTable:
    """A table by egress port: one row for each port that is named, with the attributes of its plan as arguments."""

    role: str
    ports: Mapping[PortName, object]
    """Plans of ports: dataclasses whose fields are the roles of the action's parameters."""
    action: str = "set_port"
    units: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def roles(self) -> tuple[str, ...]:
        """The one."""
        return (self.role,)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """One row for each port with a plan."""
        for number, peer in ports.items():
            if (at := self.ports.get((switch, peer))) is not None:
                args = {name: int(value) for name, value in vars(at).items()}
                yield Row(self.role, {"egress_port": number}, self.action, args, units=self.units)


@dataclass(frozen=True)
class QueueSettings:
    """The queue of ACKs, NACKs and notifications of every class; None leaves them in the highest."""

    control_priority: int | None = None
    roles: tuple[str, ...] = (PRIORITIES,)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """One row for each class, where control packets are not in the highest queue."""
        del switch, ports
        if self.control_priority is None:
            return
        for traffic_class in range(TRAFFIC_CLASSES):
            key = {"is_control": 1, "traffic_class": traffic_class}
            yield Row(PRIORITIES, key, "set_priority", {"value": self.control_priority})


@dataclass(frozen=True)
class SpraySettings:
    """Programs that spray packets (`spray.p4`): a pause of `gap_ticks` of the switch's clock begins a flowlet.

    None sends each packet on a separate path, unless senders choose paths by source ports (`follows_senders`).
    """

    gap_ticks: int | None = None
    follows_senders: bool = False
    roles: tuple[str, ...] = (FLOWLET_GAPS,)

    def rows(self, switch: str, ports: Mapping[int, str]) -> Iterator[Row]:
        """The one row of a switch whose flowlets keep to a path, or whose senders choose."""
        del switch, ports
        if self.follows_senders:
            yield Row(FLOWLET_GAPS, {"ether_type": ETHERTYPE_IPV4}, "follow_sender", {})
            return
        if self.gap_ticks is not None:
            args, units = {"ticks": self.gap_ticks}, {"ticks": TICKS}
            yield Row(FLOWLET_GAPS, {"ether_type": ETHERTYPE_IPV4}, "set_gap", args, units=units)
