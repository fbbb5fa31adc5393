"""The user's entries: rows of a scenario and files of other tools, for each switch, with the network's names resolved.

Values of rows may name what the topology knows (`names.py`); `self` is the switch that the row is for.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from controller.entities import CloneKey, CloneSession, MulticastGroup, MulticastKey
from controller.files import read_entries
from controller.written import NOTHING, Written, WrittenCopies, WrittenEntry
from p4cc.errors import UserError
from p4cc.files import find_named
from p4cc.planning.names import Names
from p4cc.scenario.programs import BfrtRow, CloneRow, FileRow, MulticastRow, TableRow
from p4cc.scenario.topology import ImportedTopology
from topos import TopologyError, plan_addresses
from topos.loaders.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from controller.written import Value
    from p4cc.json_data import JsonObject
    from p4cc.scenario.programs import MatchValue, Row
    from p4cc.scenario.schema import ScenarioModel
    from topos import Topology

P4RuntimeRow: TypeAlias = FileRow | TableRow | MulticastRow | CloneRow
"""The kinds of entries that P4Runtime has requests for."""


def rows_of(settings: ScenarioModel, scenario: Path) -> list[tuple[str, Row]]:
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
        cause = f"{topology.file} does not name an entry file for any switch"
        raise UserError(cause, place=place, remedy="remove topology.entries, and write switch.entries")
    return [("topology.entries", FileRow(switch=switch, file=file)) for switch, file in files] + own


def explicit_rows(settings: ScenarioModel, scenario: Path) -> list[JsonObject] | None:
    """The rows of a scenario as data, with those of its topology file and without `{switch}`.

    None if the scenario has exactly these rows. Raises UserError.
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


def plan_entries(settings: ScenarioModel, topology: Topology, scenario: Path) -> Mapping[str, Written]:
    """The rows and files of each switch that they name; raises UserError with the place of an error."""
    found: dict[str, Written] = {}
    addresses = plan_addresses(topology)
    for key, row in rows_of(settings, scenario):
        if isinstance(row, BfrtRow):
            continue
        place = f"{scenario} at {key}"
        for switch in switches_named(row.switch, topology, place):
            names = Names(topology, addresses, switch)
            found[switch] = found.get(switch, NOTHING).joined(_written(row, names, scenario, place))
    return found


def switches_named(pattern: str, topology: Topology, place: str) -> list[str]:
    """The switches that a pattern names; raises UserError where it names none."""
    switches = [name for name in topology.switch_names if fnmatchcase(name, pattern)]
    if not switches:
        listed = ", ".join(topology.switch_names[:10])
        raise UserError(f"no switch matches {pattern!r}", place=place, remedy=f"switches: {listed}")
    return switches


def _written(row: P4RuntimeRow, names: Names, scenario: Path, place: str) -> Written:
    match row:
        case FileRow():
            return _file(row.file.replace("{switch}", names.itself), scenario, f"{place}.file")
        case TableRow():
            return Written(entries=(entry_of(row, names, place),))
        case MulticastRow():
            group = MulticastGroup(MulticastKey(row.multicast_group), _copies(row.ports, names, place))
            return Written(copies=(WrittenCopies(group, place),))
        case CloneRow():
            key, copies = CloneKey(row.clone_session), _copies(row.ports, names, place)
            return Written(copies=(WrittenCopies(CloneSession(key, copies, row.packet_length_bytes), place),))


def entry_of(row: TableRow, names: Names, place: str) -> WrittenEntry:
    """An entry with names of the network's resolved; raises UserError."""
    params = tuple((name, names.value(value, f"{place}.params.{name}")) for name, value in row.params.items())
    match = match_of(row.match, names, f"{place}.match")
    return WrittenEntry(row.table, match, row.action, params, place, row.default, row.priority)


def match_of(row: Mapping[str, MatchValue], names: Names, place: str) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """Keys with their one or two values, names of the network's resolved; raises UserError."""
    return tuple(
        (key, tuple(names.value(one, f"{place}.{key}") for one in (given if isinstance(given, list) else [given])))
        for key, given in row.items()
    )


def _copies(ports: Sequence[Value], names: Names, place: str) -> tuple[tuple[int, int], ...]:
    """Ports with instances, which distinguish copies to one port."""
    taken: dict[int, int] = {}
    copies: list[tuple[int, int]] = []
    for index, value in enumerate(ports):
        port = names.port(value, f"{place}.ports[{index}]")
        taken[port] = taken.get(port, 0) + 1
        copies.append((port, taken[port]))
    return tuple(copies)


def _file(name: str, scenario: Path, place: str) -> Written:
    path = find_named(name, scenario, what="entry file", key=place.rpartition(" at ")[2])
    try:
        return read_entries(read_text(path), name)
    except TopologyError as error:
        raise UserError(str(error), place=place, remedy="correct the file") from None
