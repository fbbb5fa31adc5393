"""The table of a program that routes are written to: one that it says itself, that the user names, or that is found.

What a route needs is the same everywhere: a table whose key is the destination's address (IPv4, IPv6 or MAC), and an
action that takes an egress port. How they are called, whether the key is matched exactly or by prefix, and whether next
hops are in an action profile is the program's business; `RouteTable` says it, `controller.find_routes` finds it in a
P4Info, `controller.route_plan` fills it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from controller.errors import PlanError
from controller.roles import Roles

IPV4_BITS = 32
IPV6_BITS = 128
MAC_BITS = 48


class Role(StrEnum):
    """The meaning of a parameter of a route's action."""

    EGRESS_PORT = "egress_port"
    NEXT_HOP_MAC = "next_hop_mac"
    OWN_MAC = "own_mac"
    """Of the switch's own port, for programs that write the source address."""
    HOST_IPV4 = "host_ipv4"
    HOST_MAC = "host_mac"
    """Of the destination."""


OF_THE_HOST = frozenset({Role.HOST_IPV4, Role.HOST_MAC})
"""Roles whose value differs from host to host, so that no member of an action profile can hold them."""

Param = tuple[str, Role | int]
"""A parameter and its value: a role, or a number that all routes share."""


@dataclass(frozen=True)
class RouteTable:
    """Where routes go in a program."""

    table: str
    key: str
    match: Literal["exact", "lpm"]
    action: str
    params: tuple[Param, ...]
    profile: str | None = None
    """The table's action profile, if it has one."""
    groups: bool = False
    """Whether the profile is a selector, which chooses among equal paths."""
    key_bits: int = IPV4_BITS
    """Width of the key: an IPv4 or IPv6 address, or a MAC address in a program that forwards on layer 2."""
    by_host: bool = False
    """Whether each host has a separate entry although prefixes would do."""
    is_said: bool = False
    """Whether the program says so itself, as `p4src/controls/forward.p4` does; it may take a seed of choices too."""

    @property
    def is_layer2(self) -> bool:
        """Whether hosts must send to each other's MAC addresses for its entries to match."""
        return self.key_bits == MAC_BITS

    @property
    def takes_prefixes(self) -> bool:
        """Whether hosts that lie one after another and have one way share an entry."""
        of_a_host = any(value in OF_THE_HOST for _, value in self.params)
        return self.match == "lpm" and not (self.by_host or self.is_layer2 or of_a_host)

    def __str__(self) -> str:
        taken = ", ".join(f"{name}={value}" for name, value in self.params)
        equal_paths = "equal paths as groups" if self.groups else "the lowest port of equal paths"
        return f"table {self.table}, key {self.key} ({self.match}), action {self.action}({taken}), {equal_paths}"


ROUTES, ECMP_SEEDS = "forward.routes", "forward.ecmp_seeds"
"""Roles of the tables of `p4src/controls/forward.p4`."""


def said_routes(roles: Roles) -> RouteTable | None:
    """The table that a program says is that of routes; raises PlanError for one that no route fits."""
    table = roles.tables.get(ROUTES)
    if table is None:
        return None
    keys = [key for key in table.keys.values() if key.kind in ("exact", "lpm")]
    for action in table.actions.values():
        params = sorted((param.name, Role(role)) for role, param in action.params.items() if role in set(Role))
        if len(keys) == 1 and len(params) == len(action.params) and Role.EGRESS_PORT in dict(params).values():
            (key,) = keys
            match = "lpm" if key.kind == "lpm" else "exact"
            into = table.profile, table.selects, key.bits
            return RouteTable(table.name, key.name, match, action.name, tuple(params), *into, is_said=True)
    cause = (
        f"it has {len(keys)} address keys, or no action that takes an egress_port and only parameters with route roles"
    )
    remedy = (
        "give it one address key, exact or lpm, and annotate each parameter with @p4cc_role and one of "
        f"{', '.join(Role)}"
    )
    raise PlanError(f"table {table.name} ({ROUTES})", cause, remedy)
