"""Entries as a user or a file writes them: names and values that are not resolved yet.

A name may be short (`ipv4_lpm`); keys and parameters go by name or by position. `resolve` finds what they mean to a
program by its P4Info, `bfrt.rows` by its bf-rt.json.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from controller.entities import CloneSession, MulticastGroup

Value: TypeAlias = int | str
"""A number, or text: an address, or digits."""
AnyValue: TypeAlias = Value | bool | float | list[int] | list[bool] | list[str]
"""Of a field of BF Runtime's; a list of bytes may be digits of base 16 behind `0x`."""
Name: TypeAlias = str | int
"""The name of a match field or parameter, or its position from 0."""


@dataclass(frozen=True)
class WrittenEntry:
    """A table entry, or a table's default action (`default`); `place` says where it is written.

    A key has one value (exact, optional), or two: value and prefix length (lpm), value and mask (ternary), or low and
    high (range). Only BF Runtime has tables without actions, and `params` of other types than numbers.
    """

    table: str
    match: tuple[tuple[Name, tuple[Value, ...]], ...]
    action: str | None
    params: tuple[tuple[Name, AnyValue], ...]
    place: str
    default: bool = False
    priority: int | None = None


@dataclass(frozen=True)
class WrittenCopies:
    """A multicast group or clone session; `place` says where it is written."""

    entity: MulticastGroup | CloneSession
    place: str


@dataclass(frozen=True)
class SwitchCommand:
    """A command for a switch's own command line."""

    name: str
    args: tuple[str, ...]
    place: str

    def __str__(self) -> str:
        return " ".join((self.name, *self.args))


@dataclass(frozen=True)
class Written:
    """All entries of one switch; `commands` are those without a P4Runtime request."""

    entries: tuple[WrittenEntry, ...] = ()
    copies: tuple[WrittenCopies, ...] = ()
    commands: tuple[SwitchCommand, ...] = ()
    p4info: str | None = None
    """The P4Info that the file names, relative to the lab's folder."""
    device_config: str | None = None
    """The compiled program that the file names, likewise."""
    messages: tuple[bytes, ...] = ()
    """P4Runtime entities, serialized, of a file that holds messages."""

    def joined(self, other: "Written") -> "Written":
        """Both, one behind the other; files that name a program are this one's."""
        return replace(
            self,
            entries=self.entries + other.entries,
            copies=self.copies + other.copies,
            commands=self.commands + other.commands,
            messages=self.messages + other.messages,
        )

    def remarks(self) -> tuple[str, ...]:
        """Warnings about probable mistakes, with their places: negative numbers."""
        result: list[str] = []
        for entry in self.entries:
            given = [(f"match {name}", value) for name, values in entry.match for value in values]
            given += [(f"parameter {name}", value) for name, value in entry.params if isinstance(value, int | str)]
            result += [
                f"{entry.place}: {what} of {entry.table} is {value}, which is sent in two's complement, but ports "
                "and addresses are never negative"
                for what, value in given
                if (value.strip().startswith("-") if isinstance(value, str) else value < 0)
            ]
        return tuple(result)


NOTHING = Written()
"""For a switch that no file says anything about."""
