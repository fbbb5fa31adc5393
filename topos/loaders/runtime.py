"""What a switch is to hold, as files of other tools say it: values and names as they are written, nothing resolved.

A name may be short (`ipv4_lpm`); keys and parameters go by name or by position. What they mean to a program is found
with its P4Info (`controller.runtime`).
"""

from dataclasses import dataclass, replace

Value = int | str
"""A number, or text: an address, or digits."""

Key = str | int
"""The name of a match field or parameter, or its position from 0."""


@dataclass(frozen=True)
class WholeMatch:
    """Match of one field by everything that its kind takes.

    `values` holds one value (exact, optional), value and prefix length (lpm), value and mask (ternary), or low and high
    (range).
    """

    field: Key
    values: tuple[Value, ...]


@dataclass(frozen=True)
class RuntimeEntry:
    """A table entry, or a table's default action (`default`); `place` says where it is written."""

    table: str
    match: tuple[WholeMatch, ...]
    action: str
    params: tuple[tuple[Key, Value], ...]
    place: str
    default: bool = False
    priority: int | None = None


@dataclass(frozen=True)
class RuntimeGroup:
    """A multicast group: (egress port, instance) of each copy."""

    group_id: int
    replicas: tuple[tuple[int, int], ...]
    place: str


@dataclass(frozen=True)
class RuntimeSession:
    """A clone session: (egress port, instance) of each copy, and their queue; 0 bytes does not truncate."""

    session_id: int
    replicas: tuple[tuple[int, int], ...]
    packet_length_bytes: int
    place: str
    priority: int = 0


@dataclass(frozen=True)
class SwitchCommand:
    """A command for a switch's own command line."""

    name: str
    args: tuple[str, ...]
    place: str

    def __str__(self) -> str:
        return " ".join((self.name, *self.args))


@dataclass(frozen=True)
class Runtime:
    """Everything that one switch is to hold; `commands` are those that no P4Runtime request stands for."""

    entries: tuple[RuntimeEntry, ...] = ()
    groups: tuple[RuntimeGroup, ...] = ()
    sessions: tuple[RuntimeSession, ...] = ()
    commands: tuple[SwitchCommand, ...] = ()
    p4info: str | None = None
    """The P4Info that the file names, relative to the lab's folder."""
    device_config: str | None = None
    """The compiled program that the file names, likewise."""
    entities: tuple[bytes, ...] = ()
    """P4Runtime entities, serialized, of a file that holds messages."""

    def joined(self, other: "Runtime") -> "Runtime":
        """Both, one behind the other; files that name a program are this one's."""
        return replace(
            self,
            entries=self.entries + other.entries,
            groups=self.groups + other.groups,
            sessions=self.sessions + other.sessions,
            commands=self.commands + other.commands,
            entities=self.entities + other.entities,
        )

    def remarks(self) -> tuple[str, ...]:
        """What is written and probably not meant, with its place: numbers below zero."""
        found: list[str] = []
        for entry in self.entries:
            given = [(f"match {match.field}", value) for match in entry.match for value in match.values]
            given += [(f"parameter {name}", value) for name, value in entry.params]
            found += [
                f"{entry.place}: {what} of {entry.table} is {value}, which is sent in two's complement: a port or an "
                "address is never negative"
                for what, value in given
                if (value.strip().startswith("-") if isinstance(value, str) else value < 0)
            ]
        return tuple(found)

    def __bool__(self) -> bool:
        """Whether it holds anything that P4Runtime can write."""
        return bool(self.entries or self.groups or self.sessions or self.entities)


NOTHING = Runtime()
"""For a switch that no file says anything about."""
