"""Where routes go in a program's P4Info: the table that a user names, or the one that fits by itself. Pure, no I/O."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from finsy import P4Schema
from finsy.p4schema import P4ActionRef, P4MatchField, P4MatchType, P4Table

from controller.errors import PlanError
from controller.resolve import find_named
from controller.roles import role_of, roles_of
from controller.route_table import (
    IPV4_BITS,
    IPV6_BITS,
    MAC_BITS,
    OF_THE_HOST,
    ROUTES,
    Param,
    Role,
    RouteTable,
    said_routes,
)

PORT_BITS = 9
"""Width of v1model's ports; PSA's are wider."""

_WIDTHS = {4: (IPV4_BITS, MAC_BITS), 6: (IPV6_BITS, MAC_BITS)}
"""Of addresses that routes are looked up by, for each IP version."""
_NAMES = {4: "an IPv4 address has 32", 6: "an IPv6 address has 128"}

# Parts of a key's last name that say "destination", in the spellings of public programs.
_DESTINATION = ("dst", "dest", "daddr", "dip", "target")


@dataclass(frozen=True)
class NamedRoutes:
    """The user's choice of a table: names may be short, `key` may be left out where there is only one."""

    table: str
    action: str
    params: Mapping[str, Role | int]
    key: str | None = None


def find_routes(schema: P4Schema, filled: Iterable[str] = (), ip: int = 4) -> RouteTable | None:
    """The table that routes go to: the one that the program says, or where exactly one fits that; None where none does.

    Tables of `filled` get their entries elsewhere and are left out; `ip` is the version of hosts' packets. Raises
    PlanError that lists the candidates where more than one fits, and where the program's own takes other addresses.
    """
    text = said_routes(roles_of(schema))
    if text is not None and text.key_bits not in _WIDTHS[ip]:
        cause = f"routes go to {text.table}, whose key has {text.key_bits} bits; {_NAMES[ip]}"
        remedy = "use a program that routes IPv6 or forwards by MAC address, or remove transport.ip"
        raise PlanError("transport.ip", cause, remedy)
    if text is not None:
        return text
    taken = frozenset(filled)
    of_tables = [route for table in schema.tables if table.name not in taken for route in _fits(table, ip)]
    # A router that writes MAC addresses may have a table of them in addition to its routes.
    fits = [route for route in of_tables if not route.is_layer2] or of_tables
    if len(fits) > 1:
        listed = "; ".join(f"{route.table} with {route.action}" for route in fits)
        raise PlanError(
            "switch.routes",
            f"{len(fits)} tables or actions could be meant for routes: {listed}",
            "name one: routes: {table: ..., action: ..., params: {...: egress_port}}",
        )
    return fits[0] if fits else None


def named_routes(schema: P4Schema, named: NamedRoutes, ip: int = 4) -> RouteTable:
    """The table that a user names, with whole names; raises PlanError for a table that does not fit."""
    place = "switch.routes"
    table = find_named(named.table, schema.tables, "table", f"{place}.table")
    field = _key(table, named.key, ip)
    actions = [(_whole_name(schema, ref), ref) for ref in table.actions]
    chosen = [name for name, ref in actions if named.action in (name, ref.alias) or name.endswith(f".{named.action}")]
    if len(chosen) != 1:
        listed = ", ".join(name for name, _ in actions)
        raise PlanError(f"{place}.action", f"{table.name} has no unique action {named.action!r}", f"name one: {listed}")
    params = {param.name: param.bitwidth for param in schema.actions[chosen[0]].params}
    if set(named.params) != set(params):
        wanted = ", ".join(params) or "no parameter"
        raise PlanError(
            f"{place}.params",
            f"{chosen[0]} takes {wanted}; given: {', '.join(named.params) or 'none'}",
            f"set each parameter to one of {', '.join(Role)} or a number",
        )
    profile = table.action_profile
    if profile is not None and (of_host := [n for n, value in named.params.items() if value in OF_THE_HOST]):
        raise PlanError(
            f"{place}.params.{of_host[0]}",
            f"next hops of {table.name} are action profile members, which hosts share, but "
            f"{named.params[of_host[0]]} differs per host",
            "set it to another role or a number",
        )
    return RouteTable(
        table.name,
        field.name,
        "lpm" if field.match_type is P4MatchType.LPM else "exact",
        chosen[0],
        tuple(sorted(named.params.items())),
        None if profile is None else profile.name,
        groups=profile is not None and profile.with_selector,
        key_bits=field.bitwidth,
        is_said=role_of(table) == ROUTES,
    )


def candidates(schema: P4Schema, ip: int = 4) -> Sequence[str]:
    """Tables with a key as wide as an address and an action with something like a port, for a message."""
    return [
        table.name
        for table in schema.tables
        if any(field.bitwidth in _WIDTHS[ip] for field in table.match_fields)
        and any(_port_param(ref) is not None for ref in table.actions)
    ]


def _key(table: P4Table, name: str | None, ip: int) -> P4MatchField:
    fields = list(table.match_fields)
    matches = [field for field in fields if name in (None, field.name, field.alias, field.name.rsplit(".", 1)[-1])]
    listed = ", ".join(field.name for field in fields) or "none"
    if len(matches) != 1:
        cause = f"{table.name} has no unique key {name!r}" if name else f"{table.name} has {len(fields)} keys"
        raise PlanError("switch.routes.key", cause, f"name one: {listed}")
    field = matches[0]
    by_hand = "write its entries in switch.entries, and set routes: none"
    if others := [other.name for other in fields if other is not field]:
        raise PlanError("switch.routes.key", f"{table.name} also matches on {', '.join(others)}", by_hand)
    if field.match_type not in (P4MatchType.EXACT, P4MatchType.LPM):
        cause = f"{field.name} of {table.name} has neither an exact nor an lpm match"
        raise PlanError("switch.routes.key", cause, by_hand)
    if field.bitwidth not in _WIDTHS[ip]:
        cause = f"{field.name} has {field.bitwidth} bits, but {_NAMES[ip]} and a MAC address 48"
        raise PlanError("switch.routes.key", cause, by_hand)
    return field


def _fits(table: P4Table, ip: int) -> Iterator[RouteTable]:
    """The ways in which routes fit a table: one for each of its actions that takes a port and nothing unknown."""
    fields = list(table.match_fields)
    if table.is_const or len(fields) != 1:
        return
    field = fields[0]
    kinds = {P4MatchType.EXACT: "exact", P4MatchType.LPM: "lpm"}
    last = field.name.rsplit(".", 1)[-1].lower()
    is_address = field.bitwidth in _WIDTHS[ip] and any(part in last for part in _DESTINATION)
    if field.match_type not in kinds or not is_address:
        return
    profile = table.action_profile
    for ref in table.actions:
        params = _roles(ref)
        if params is not None:
            yield RouteTable(
                table.name,
                field.name,
                "lpm" if field.match_type is P4MatchType.LPM else "exact",
                ref.name,
                params,
                None if profile is None else profile.name,
                groups=profile is not None and profile.with_selector,
                key_bits=field.bitwidth,
            )


def _roles(ref: P4ActionRef) -> tuple[Param, ...] | None:
    """Roles of an action's parameters: one port, and the next hop's MAC address where it takes one; None if others."""
    port = _port_param(ref)
    if port is None:
        return None
    result: list[Param] = [(port, Role.EGRESS_PORT)]
    for param in ref.params:
        if param.name == port:
            continue
        if param.bitwidth != MAC_BITS or len(result) > 1 or "src" in param.name.lower():
            return None
        result.append((param.name, Role.NEXT_HOP_MAC))
    return tuple(sorted(result))


def _port_param(ref: P4ActionRef) -> str | None:
    """The parameter that is a port: its name says so, or it is the only one as wide as a port."""
    params = list(ref.params)
    by_name = [param.name for param in params if "port" in param.name.lower() and PORT_BITS <= param.bitwidth <= 32]
    by_width = [param.name for param in params if param.bitwidth == PORT_BITS]
    found = by_name or by_width
    return found[0] if len(found) == 1 else None


def _whole_name(schema: P4Schema, ref: P4ActionRef) -> str:
    return schema.actions[ref.id].name
