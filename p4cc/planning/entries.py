"""The user's entries: rows of a scenario and files of other tools, for each switch, with the network's names resolved.

Values of rows may name what the topology knows (`names.py`); `self` is the switch that the row is for.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from finsy.proto import p4r
from google.protobuf import text_format

from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.planning.names import Names
from p4cc.scenario.programs import CloneRow, FileRow, MulticastRow, TableRow
from topos import TopologyError, plan_addresses
from topos.loaders import runtime_json, switch_cli
from topos.loaders.reading import parse_json, read_text
from topos.loaders.runtime import (
    NOTHING,
    Runtime,
    RuntimeEntry,
    RuntimeGroup,
    RuntimeSession,
    WholeMatch,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p4cc.scenario.programs import Row
    from topos import Topology
    from topos.loaders.runtime import Value

_TEXT_FORMATS = (".txtpb", ".pbtxt", ".textproto")


def plan_entries(rows: Sequence[Row], topology: Topology, scenario: Path) -> Mapping[str, Runtime]:
    """What rows and files say of each switch that they name; raises UserError with the place of what is wrong."""
    found: dict[str, Runtime] = {}
    addresses = plan_addresses(topology)
    for number, row in enumerate(rows):
        place = f"{scenario} at switch.entries[{number}]"
        switches = [name for name in topology.switch_names if fnmatchcase(name, row.switch)]
        if not switches:
            listed = ", ".join(topology.switch_names[:10])
            raise UserError(f"no switch is named {row.switch!r}", place=place, remedy=f"switches: {listed}")
        for switch in switches:
            names = Names(topology, addresses, switch)
            found[switch] = found.get(switch, NOTHING).joined(_runtime(row, names, scenario, place))
    return found


def _runtime(row: Row, names: Names, scenario: Path, place: str) -> Runtime:
    match row:
        case FileRow():
            return _file(row.file.replace("{switch}", names.itself), scenario, f"{place}.file")
        case TableRow():
            return Runtime(entries=(_entry(row, names, place),))
        case MulticastRow():
            return Runtime(groups=(RuntimeGroup(row.multicast_group, _copies(row.ports, names, place), place),))
        case CloneRow():
            copies = _copies(row.ports, names, place)
            return Runtime(sessions=(RuntimeSession(row.clone_session, copies, row.packet_length_bytes, place),))


def _entry(row: TableRow, names: Names, place: str) -> RuntimeEntry:
    match = tuple(
        WholeMatch(
            key,
            tuple(names.value(one, f"{place}.match.{key}") for one in (given if isinstance(given, list) else [given])),
        )
        for key, given in row.match.items()
    )
    params = tuple((name, names.value(value, f"{place}.params.{name}")) for name, value in row.params.items())
    return RuntimeEntry(row.table, match, row.action, params, place, row.default, row.priority)


def _copies(ports: Sequence[Value], names: Names, place: str) -> tuple[tuple[int, int], ...]:
    """Ports with instances: copies to one port are told apart by them."""
    taken: dict[int, int] = {}
    copies: list[tuple[int, int]] = []
    for index, value in enumerate(ports):
        port = names.port(value, f"{place}.ports[{index}]")
        taken[port] = taken.get(port, 0) + 1
        copies.append((port, taken[port]))
    return tuple(copies)


def _file(name: str, scenario: Path, place: str) -> Runtime:
    path = find_named(name, scenario, what="file of entries", key="switch.entries")
    try:
        text = read_text(path)
        if path.suffix == ".json":
            return runtime_json.runtime(parse_json(text, name), name)
        if path.suffix in _TEXT_FORMATS:
            return _messages(text, name)
        return switch_cli.runtime(switch_cli.parse(text, name))
    except TopologyError as error:
        raise UserError(str(error), place=place, remedy="correct the file") from None


def _messages(text: str, place: str) -> Runtime:
    """Entities of a WriteRequest in protobuf text; what it deletes is an error, as nothing is there yet."""
    request = p4r.WriteRequest()
    try:
        text_format.Parse(text, request)
    except text_format.ParseError as error:
        remedy = "write a p4.v1.WriteRequest: updates { type: INSERT entity { ... } }"
        raise UserError(f"is no P4Runtime WriteRequest: {error}", place=place, remedy=remedy) from None
    except RecursionError:
        raise UserError("nests too deeply", place=place, remedy="write values without structs in structs") from None
    for number, update in enumerate(request.updates):
        if update.type == p4r.Update.DELETE:
            raise UserError("deletes what is not there", place=f"{place}: updates[{number}]", remedy="leave it out")
    return Runtime(entities=tuple(update.entity.SerializeToString(deterministic=True) for update in request.updates))
