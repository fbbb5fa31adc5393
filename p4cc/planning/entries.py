"""The user's entries: rows of a scenario and files of other tools, for each switch, with the network's names resolved.

Values of rows may name what the topology knows (`names.py`); `self` is the switch that the row is for.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias

from finsy.proto import p4r
from google.protobuf import text_format

from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.planning.names import Names
from p4cc.scenario.programs import BfrtRow, CloneRow, FileRow, MulticastRow, TableRow
from p4cc.scenario.topology import ImportedTopology
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
    from p4cc.scenario.schema import Scenario
    from topos import Topology
    from topos.loaders.runtime import Value

P4RuntimeRow: TypeAlias = FileRow | TableRow | MulticastRow | CloneRow
"""What P4Runtime has requests for."""

_TEXT_FORMATS = (".txtpb", ".pbtxt", ".textproto")


def rows_of(settings: Scenario, scenario: Path) -> list[tuple[str, Row]]:
    """The rows of a scenario with their places in it, those of its topology file first; raises UserError."""
    own = [(f"switch.entries[{number}]", row) for number, row in enumerate(settings.switch.entries)]
    topology = settings.topology
    if not isinstance(topology, ImportedTopology) or not topology.entries:
        return own
    place = f"{scenario} at topology.entries"
    try:
        files = topology.entry_files(scenario)
    except TopologyError as error:
        raise UserError(str(error), place=place, remedy="correct the topology file") from None
    if not files:
        cause = f"{topology.file} names no file of entries for any switch"
        raise UserError(cause, place=place, remedy="leave it out, and write switch.entries")
    return [("topology.entries", FileRow(switch=switch, file=file)) for switch, file in files] + own


def explicit_rows(settings: Scenario, scenario: Path) -> list[dict[str, Any]] | None:
    """The rows of a scenario as data, with those of its topology file and without `{switch}`.

    None where that is what the scenario says itself. Raises UserError.
    """
    rows = rows_of(settings, scenario)
    if len(rows) == len(settings.switch.entries) and not any(_is_template(row) for _, row in rows):
        return None
    switches = settings.topology.build(scenario).switch_names
    explicit = [
        FileRow(switch=name, file=row.file.replace("{switch}", name)) if isinstance(row, FileRow) else row
        for _, row in rows
        for name in (switches if _is_template(row) else (row.switch,))
        if not _is_template(row) or fnmatchcase(name, row.switch)
    ]
    return [row.model_dump(mode="json", exclude_unset=True) for row in explicit]


def _is_template(row: Row) -> bool:
    return isinstance(row, FileRow) and "{switch}" in row.file


def plan_entries(settings: Scenario, topology: Topology, scenario: Path) -> Mapping[str, Runtime]:
    """What rows and files say of each switch that they name; raises UserError with the place of what is wrong."""
    found: dict[str, Runtime] = {}
    addresses = plan_addresses(topology)
    for key, row in rows_of(settings, scenario):
        if isinstance(row, BfrtRow):
            continue
        place = f"{scenario} at {key}"
        for switch in switches_named(row.switch, topology, place):
            names = Names(topology, addresses, switch)
            found[switch] = found.get(switch, NOTHING).joined(_runtime(row, names, scenario, place))
    return found


def switches_named(pattern: str, topology: Topology, place: str) -> list[str]:
    """The switches that a pattern names; raises UserError where it names none."""
    switches = [name for name in topology.switch_names if fnmatchcase(name, pattern)]
    if not switches:
        listed = ", ".join(topology.switch_names[:10])
        raise UserError(f"no switch is named {pattern!r}", place=place, remedy=f"switches: {listed}")
    return switches


def _runtime(row: P4RuntimeRow, names: Names, scenario: Path, place: str) -> Runtime:
    match row:
        case FileRow():
            return _file(row.file.replace("{switch}", names.itself), scenario, f"{place}.file")
        case TableRow():
            return Runtime(entries=(entry_of(row, names, place),))
        case MulticastRow():
            return Runtime(groups=(RuntimeGroup(row.multicast_group, _copies(row.ports, names, place), place),))
        case CloneRow():
            copies = _copies(row.ports, names, place)
            return Runtime(sessions=(RuntimeSession(row.clone_session, copies, row.packet_length_bytes, place),))


def entry_of(row: TableRow, names: Names, place: str) -> RuntimeEntry:
    """An entry with names of the network's resolved; raises UserError."""
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
    path = find_named(name, scenario, what="file of entries", key=place.rpartition(" at ")[2])
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
