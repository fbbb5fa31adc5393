"""What a switch can be told over P4Runtime or BF Runtime, as plain comparable values by the program's names.

Only what our programs use: exact keys, prefixes, and ranges with priorities. Invariants: values are non-negative
integers; the fields of a match and the members of a group are in canonical (ascending) order, so that equality of
two values is equality of the state they describe. Ids appear only in `convert` and `bfrt.convert`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


@dataclass(frozen=True, order=True, slots=True)
class ActionCall:
    """An action with its arguments, (parameter name, value) in the order of the names."""

    name: str
    args: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value:#x}' for name, value in self.args)})"


@dataclass(frozen=True, order=True, slots=True)
class MemberRef:
    """A table entry's action by member of an action profile."""

    member_id: int

    def __str__(self) -> str:
        return f"member {self.member_id}"


@dataclass(frozen=True, order=True, slots=True)
class GroupRef:
    """A table entry's action by group of an action selector."""

    group_id: int

    def __str__(self) -> str:
        return f"group {self.group_id}"


@dataclass(frozen=True, order=True, slots=True)
class Exact:
    """An exact match on one field."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={self.value:#x}"


@dataclass(frozen=True, order=True, slots=True)
class Lpm:
    """A longest-prefix match on one field; bits behind the prefix are 0 and the prefix is at least 1."""

    field: str
    value: int
    prefix_len: int

    def __str__(self) -> str:
        return f"{self.field}={self.value:#x}/{self.prefix_len}"


@dataclass(frozen=True, order=True, slots=True)
class Range:
    """A match on one field's values from `low` to `high`, both among them."""

    field: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.field}={self.low:#x}..{self.high:#x}"


Match: TypeAlias = Exact | Lpm | Range
EntryAction: TypeAlias = ActionCall | MemberRef | GroupRef


@dataclass(frozen=True, slots=True)
class MemberKey:
    """Identity of an action-profile member."""

    profile: str
    member_id: int

    def __str__(self) -> str:
        return f"{self.profile} member {self.member_id}"


@dataclass(frozen=True, slots=True)
class Member:
    """An action-profile member."""

    key: MemberKey
    action: ActionCall


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Identity of an action-selector group."""

    profile: str
    group_id: int

    def __str__(self) -> str:
        return f"{self.profile} group {self.group_id}"


@dataclass(frozen=True, slots=True)
class Group:
    """An action-selector group: (member id, weight) in the order of the ids; its room is the selector's maximum.

    A `watching` group's members each watch the port whose number is their id, and are not chosen while it is down.
    """

    key: GroupKey
    members: tuple[tuple[int, int], ...]
    watching: bool = False


@dataclass(frozen=True, slots=True)
class EntryKey:
    """Identity of a table entry: table, match fields in the order of their names, and where there are ranges priority.

    The highest priority wins; 0 is that of tables without ranges.
    """

    table: str
    match: tuple[Match, ...]
    priority: int = 0

    def __str__(self) -> str:
        fields = ", ".join(str(field) for field in self.match) or "everything"
        return f"{self.table} [{fields}]" + (f" priority {self.priority}" if self.priority else "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A table entry."""

    key: EntryKey
    action: EntryAction


Key: TypeAlias = MemberKey | GroupKey | EntryKey
Entity: TypeAlias = Member | Group | Entry


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables and action profiles that a plan owns; what lies outside is never read or written."""

    tables: tuple[str, ...]
    profiles: tuple[str, ...]


class UpdateKind(Enum):
    """What a write does to an entity."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Update:
    """One write."""

    kind: UpdateKind
    entity: Entity

    def __str__(self) -> str:
        return f"{self.kind.value} {describe(self.entity)}"


def describe(entity: Entity) -> str:
    """One line that names an entity and what it does."""
    match entity:
        case Group():
            members = ", ".join(f"{member}x{weight}" for member, weight in entity.members)
            return f"{entity.key} -> members {members or 'none'}"
        case Member() | Entry():
            return f"{entity.key} -> {entity.action}"
