"""Routes as a program's route table takes them: next hops, groups of equal paths, an entry for each prefix or host.

Pure and deterministic. A next hop's member id is its port number (a port has one neighbour), and groups are numbered
from 1 in the order of their ports.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from controller.ecmp import switch_factor
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    GroupRef,
    Lpm,
    Member,
    MemberKey,
    MemberRef,
)
from controller.features import ETHERTYPE_IPV4
from controller.prefixes import Addresses, covering, runs
from controller.roles import Row, TablePart
from controller.route_table import ECMP_SEEDS, IPV4_BITS, IPV6_BITS, MAC_BITS, Role, RouteTable
from topos import AddressPlan, HostAddress, SwitchRoutes, Topology


@dataclass(frozen=True)
class Ordered:
    """Hosts by address."""

    addresses: Addresses
    places: npt.NDArray[np.int64]
    """Of each of them in the order of the topology."""
    known: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict[tuple[int, int], Any])

    def covering(self, start: int, end: int) -> list[tuple[int, int]]:
        """As `prefixes.covering`; many switches ask for the same stretches."""
        if (found := self.known.get((start, end))) is None:
            found = self.known[start, end] = covering(self.addresses, start, end)
        return found


def ordered(plan: AddressPlan) -> Ordered:
    """The hosts of a plan by IPv4 address."""
    values = np.array([host.ipv4 for host in plan.hosts.values()], dtype=np.uint32)
    places = np.argsort(values)
    return Ordered(values[places], places)


Shared: TypeAlias = dict[tuple[object, ...], tuple[Entry, ...]]
"""Routes by stretch of hosts or host, and by next hop: one value for all switches that have the same one."""


_Place: TypeAlias = tuple[int, int | None]
"""The key of an entry: an address, and the prefix length where the table matches by prefixes."""


_Does: TypeAlias = ActionCall | tuple[type[GroupRef | MemberRef], int]
"""An action, or the reference to a group or member by its number."""


@dataclass(frozen=True)
class Routing:
    """One switch with the network around it."""

    topology: Topology
    addresses: AddressPlan
    by_address: Ordered
    switch: str
    routes: SwitchRoutes
    table: RouteTable
    shared: Shared
    others: tuple[tuple[int, ...], ...] = ()
    """Sets of ports that routes take while a link is down."""

    def entities(self, *, watching: bool) -> Iterator[Entity]:
        """Everything that the route table and its action profile hold."""
        if self.table.profile is not None:
            yield from self._members(self.table.profile)
            if self.table.groups:
                yield from self._groups(self.table.profile, watching)
        yield from self._entries()

    def seeds(self, ecmp_seed: int, table: TablePart) -> Iterator[Entry]:
        """The seed of a switch that has a choice; others need none."""
        if any(len(ports) > 1 for ports in self._used):
            factor = switch_factor(ecmp_seed, self.addresses.device_ids[self.switch])
            yield table.entry(Row(ECMP_SEEDS, {"ether_type": ETHERTYPE_IPV4}, "set_seed", {"factor": factor}))

    def _members(self, profile: str) -> Iterator[Member]:
        """One next hop for each port: out of it, towards the neighbour's interface."""
        for port in self.topology.ports[self.switch]:
            yield Member(MemberKey(profile, port.number), self._call(port.number, None))

    def _groups(self, profile: str, watching: bool) -> Iterator[Group]:
        """A group for each set of paths in use; a port comes as often as its weight says."""
        for ports, group_id in self._group_ids().items():
            yield Group(GroupKey(profile, group_id), tuple(Counter(ports).items()), watching)

    @cached_property
    def _used(self) -> list[tuple[int, ...]]:
        """The sets of ports that some host is reached by."""
        ways, ids = self.routes.numbered()
        # `np.unique` would import masked arrays.
        return [ways[number] for number in np.flatnonzero(np.bincount(ids)).tolist() if ways[number]]

    def _group_ids(self) -> dict[tuple[int, ...], int]:
        used = (*self._used, *self.others)
        sets = sorted({ports for ports in used if len(ports) > 1}) if self.table.groups else ()
        return {ports: index + 1 for index, ports in enumerate(sets)}

    def _entries(self) -> Iterator[Entry]:
        """A route for each prefix or host that there is a way to."""
        group_ids = self._group_ids()
        if self.table.takes_prefixes:
            yield from self._by_prefix(group_ids)
            return
        for host, ports in self.routes.items():
            if ports:
                place = self._place(self.addresses.hosts[host])
                yield self._entry(place, self._does(ports, host, group_ids))

    def _does(self, ports: tuple[int, ...], host: str | None, group_ids: Mapping[tuple[int, ...], int]) -> _Does:
        """The action of a route; the first of equal paths where the table has no groups."""
        if ports in group_ids:
            return GroupRef, group_ids[ports]
        if self.table.profile is not None:
            return MemberRef, ports[0]
        return self._call(ports[0], host)

    def entry_to(self, host: str, ports: tuple[int, ...]) -> Entry:
        """The route of one host alone by these ports, which some route takes."""
        address = self.addresses.hosts[host]
        (value, length) = self._place(address)
        place = (value, self.table.key_bits if length is not None else None)
        return self._entry(place, self._does(ports, host, self._group_ids()))

    def _entry(self, place: _Place, action: _Does) -> Entry:
        """The entry of a place; looked up by numbers, which are hashed faster than entities."""
        key = (self.table.table, self.table.key, place, action)
        if (result := self.shared.get(key)) is None:
            value, length = place
            match = Exact(self.table.key, value) if length is None else Lpm(self.table.key, value, length)
            does = action if isinstance(action, ActionCall) else action[0](action[1])
            result = self.shared[key] = (Entry(EntryKey(self.table.table, (match,)), does),)
        return result[0]

    def _by_prefix(self, group_ids: Mapping[tuple[int, ...], int]) -> Iterator[Entry]:
        """The routes of stretches of hosts: switches with the same stretch and action share its entries."""
        ways, ids = self.routes.numbered()
        if not self.table.groups:
            # One port of each set is all that such a table holds.
            firsts = [ports[:1] for ports in ways]
            ways = list(dict.fromkeys(firsts))
            numbers = {ports: number for number, ports in enumerate(ways)}
            ids = np.array([numbers[ports] for ports in firsts], dtype=np.int32)[ids]
        table = self.table.table, self.table.key, self.table.key_bits
        does = [self._does(ports, None, group_ids) if ports else None for ports in ways]
        for start, end, way in runs(ids[self.by_address.places]):
            action = does[way]
            if action is None:
                continue
            key = (*table, start, end, action)
            if (found := self.shared.get(key)) is None:
                places = self.by_address.covering(start, end)
                found = self.shared[key] = tuple(self._entry(self._prefix(*place), action) for place in places)
            yield from found

    def _prefix(self, value: int, length: int) -> _Place:
        """A prefix of IPv4 addresses as the table's key has it."""
        above = self.table.key_bits - IPV4_BITS
        return ((0 if above == 0 else HostAddress.ipv6_of(0)) | value, above + length)

    def _place(self, address: HostAddress) -> _Place:
        of_width = {IPV4_BITS: address.ipv4, IPV6_BITS: address.ipv6, MAC_BITS: address.mac}
        return of_width[self.table.key_bits], self.table.key_bits if self.table.match == "lpm" else None

    def _call(self, port: int, host: str | None) -> ActionCall:
        """The action that sends out of a port, on the way to a host where that matters."""
        args = ((name, self._value(value, port, host)) for name, value in self.table.params)
        return ActionCall(self.table.action, tuple(sorted(args)))

    def _value(self, value: Role | int, port: int, host: str | None) -> int:
        if not isinstance(value, Role):
            return value
        match value:
            case Role.EGRESS_PORT:
                return port
            case Role.NEXT_HOP_MAC:
                return self._neighbour_mac(port)
            case Role.OWN_MAC:
                return self.addresses.port_mac(self.switch, port)
            case Role.HOST_IPV4 | Role.HOST_MAC:
                if host is None:
                    raise ValueError("members of a profile and routes of prefixes hold nothing of one host's")
                address = self.addresses.hosts[host]
                return address.ipv4 if value is Role.HOST_IPV4 else address.mac

    def _neighbour_mac(self, number: int) -> int:
        port = self.topology.port(self.switch, number)
        far = self.topology.far_number(self.switch, port)
        return self.addresses.hosts[port.peer].mac if far is None else self.addresses.port_mac(port.peer, far)
