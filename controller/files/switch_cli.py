"""Command files of BMv2's command line: tables, multicast and mirroring become a `Written`.

One command on a line, words between spaces, `#` and `//` begin comments. Keys and parameters go by position. An entry
is `table_add TABLE ACTION KEY... => PARAM... [PRIORITY]`; a key is a value, `value/length`, `value&&&mask` or
`low->high`. Whether the last number is a priority only the program knows: it is when the action takes one less.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from controller.entities import CloneKey, CloneSession, MulticastGroup, MulticastKey
from controller.written import SwitchCommand, Value, Written, WrittenCopies, WrittenEntry
from topos.errors import fail
from topos.loaders.reading import as_int

MAX_COMMANDS = 1_000_000
_ARROW = "=>"
_PORT_SEPARATOR = "|"


def parse(text: str, place: str) -> tuple[SwitchCommand, ...]:
    """The commands of a file; raises TopologyError when there are too many."""
    result: list[SwitchCommand] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words or words[0].startswith("//"):
            continue
        if len(result) == MAX_COMMANDS:
            raise fail(f"{place}:{number}", f"the file has more than {MAX_COMMANDS} commands", "split the file")
        result.append(SwitchCommand(words[0], tuple(words[1:]), f"{place}:{number}"))
    return tuple(result)


@dataclass
class _Builder:
    """Collects the entities of commands."""

    entries: list[WrittenEntry] = field(default_factory=list[WrittenEntry])
    nodes: list[tuple[int, tuple[int, ...]]] = field(default_factory=list[tuple[int, tuple[int, ...]]])
    """Multicast nodes by handle: replication id and ports."""
    groups: dict[int, tuple[list[tuple[int, int]], str]] = field(
        default_factory=dict[int, tuple[list[tuple[int, int]], str]]
    )
    sessions: list[WrittenCopies] = field(default_factory=list[WrittenCopies])
    mirrored: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """Clone sessions that go to a multicast group."""
    others: list[SwitchCommand] = field(default_factory=list[SwitchCommand])


def read_commands(commands: Sequence[SwitchCommand]) -> Written:
    """The entities of the commands; raises TopologyError that names the line."""
    builder = _Builder()
    for command in commands:
        handler = _HANDLERS.get(command.name)
        if handler is None:
            builder.others.append(command)
        else:
            handler(builder, command)
    for session_id, group_id, place in builder.mirrored:
        replicas, _ = _group_of(builder, group_id, place)
        builder.sessions.append(_session(session_id, replicas, place))
    groups = [
        WrittenCopies(MulticastGroup(MulticastKey(number), tuple(replicas)), place)
        for number, (replicas, place) in builder.groups.items()
    ]
    return Written(tuple(builder.entries), (*groups, *builder.sessions), tuple(builder.others))


def _session(number: int, replicas: Sequence[tuple[int, int]], place: str) -> WrittenCopies:
    return WrittenCopies(CloneSession(CloneKey(number), tuple(replicas)), place)


def _table_add(builder: _Builder, command: SwitchCommand) -> None:
    if _ARROW not in command.args or command.args.index(_ARROW) < 2:
        raise fail(
            command.place, "is not an entry", f"write table_add TABLE ACTION KEY... {_ARROW} PARAM... [PRIORITY]"
        )
    arrow = command.args.index(_ARROW)
    table, action, *keys = command.args[:arrow]
    builder.entries.append(
        WrittenEntry(
            table,
            tuple((position, _key(key)) for position, key in enumerate(keys)),
            action,
            tuple(enumerate(command.args[arrow + 1 :])),
            command.place,
        )
    )


def _table_set_default(builder: _Builder, command: SwitchCommand) -> None:
    table, action, *params = _at_least(command, 2, "table_set_default TABLE ACTION PARAM...")
    builder.entries.append(WrittenEntry(table, (), action, tuple(enumerate(params)), command.place, default=True))


def _key(text: str) -> tuple[Value, ...]:
    for separator in ("&&&", "->", "/"):
        before, found, after = text.partition(separator)
        if found:
            return (before, after)
    return (text,)


def _group_create(builder: _Builder, command: SwitchCommand) -> None:
    number = _number(command, _at_least(command, 1, "mc_mgrp_create GROUP")[0])
    if number in builder.groups:
        raise fail(command.place, f"group {number} already exists", "remove one of the two")
    builder.groups[number] = ([], command.place)


def _node_create(builder: _Builder, command: SwitchCommand) -> None:
    instance, *ports = _at_least(command, 1, "mc_node_create RID PORT...")
    if _PORT_SEPARATOR in ports:
        raise fail(command.place, "refers to link aggregation groups", "list the ports instead")
    builder.nodes.append((_number(command, instance), tuple(_number(command, port) for port in ports)))


def _node_associate(builder: _Builder, command: SwitchCommand) -> None:
    group, handle = (_number(command, word) for word in _at_least(command, 2, "mc_node_associate GROUP NODE")[:2])
    if handle >= len(builder.nodes):
        raise fail(command.place, f"node {handle} does not exist", "create it first; nodes are numbered from 0")
    instance, ports = builder.nodes[handle]
    _group_of(builder, group, command.place)[0].extend((port, instance) for port in ports)


def _mirroring_add(builder: _Builder, command: SwitchCommand) -> None:
    session, port = (_number(command, word) for word in _at_least(command, 2, "mirroring_add SESSION PORT")[:2])
    builder.sessions.append(_session(session, [(port, 0)], command.place))


def _mirroring_add_group(builder: _Builder, command: SwitchCommand) -> None:
    session, group = (_number(command, word) for word in _at_least(command, 2, "mirroring_add_mc SESSION GROUP")[:2])
    builder.mirrored.append((session, group, command.place))


def _group_of(builder: _Builder, number: int, place: str) -> tuple[list[tuple[int, int]], str]:
    if number not in builder.groups:
        raise fail(place, f"multicast group {number} does not exist", "create it with mc_mgrp_create")
    return builder.groups[number]


def _at_least(command: SwitchCommand, count: int, usage: str) -> tuple[str, ...]:
    if len(command.args) < count:
        raise fail(command.place, f"{command.name} needs more arguments", f"write {usage}")
    return command.args


def _number(command: SwitchCommand, word: str) -> int:
    return as_int(word, command.place)


_HANDLERS: dict[str, Callable[[_Builder, SwitchCommand], None]] = {
    "table_add": _table_add,
    "table_set_default": _table_set_default,
    "mc_mgrp_create": _group_create,
    "mc_node_create": _node_create,
    "mc_node_associate": _node_associate,
    "mirroring_add": _mirroring_add,
    "mirroring_add_mc": _mirroring_add_group,
}
