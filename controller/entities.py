"""Entities of P4Runtime and BF Runtime as plain comparable values, by the program's names.

Invariants: values are non-negative integers; the fields of a match and the members of a group are in canonical
(ascending) order, so that equality of two values is equality of the state they describe; a field that matches
everything is left out. Ids appear only in `codec` and `bfrt.codec`; what a user wrote is `written` before it is one of
these.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


def _number(value: int) -> str:
    """Ports, thresholds and lengths as plans print them; addresses in hexadecimal."""
    return str(value) if value < 1 << 16 else f"{value:#x}"


@dataclass(frozen=True, order=True, slots=True)
class ActionCall:
    """An action with its arguments, (parameter name, value) in the order of the names."""

    name: str
    args: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_number(value)}' for name, value in self.args)})"


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
class ActionSet:
    """An entry's actions by selector without a separate group: (action, weight, watched port or 0)."""

    members: tuple[tuple[ActionCall, int, int], ...]

    def __str__(self) -> str:
        return " or ".join(f"{call}x{weight}" for call, weight, _ in self.members) or "no action"


@dataclass(frozen=True, order=True, slots=True)
class Exact:
    """An exact match on one field."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={_number(self.value)}"


@dataclass(frozen=True, order=True, slots=True)
class Lpm:
    """A longest-prefix match on one field; bits behind the prefix are 0 and the prefix is at least 1."""

    field: str
    value: int
    prefix_len: int

    def __str__(self) -> str:
        return f"{self.field}={_number(self.value)}/{self.prefix_len}"


@dataclass(frozen=True, order=True, slots=True)
class Range:
    """A match on one field's values from `low` to `high`, both among them."""

    field: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.field}={_number(self.low)}..{_number(self.high)}"


@dataclass(frozen=True, order=True, slots=True)
class Ternary:
    """A match on the bits of one field that a mask names; others are 0, and the mask is not."""

    field: str
    value: int
    mask: int

    def __str__(self) -> str:
        return f"{self.field}={self.value:#x} &&& {self.mask:#x}"


@dataclass(frozen=True, order=True, slots=True)
class OptionalMatch:
    """An exact match on a field that other entries leave out."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={_number(self.value)}"


Match: TypeAlias = Exact | Lpm | Range | Ternary | OptionalMatch
EntryAction: TypeAlias = ActionCall | MemberRef | GroupRef | ActionSet


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
    """Identity of a table entry: table, match fields in the order of their names, and where several may fit priority.

    The highest priority wins; 0 is that of tables whose keys match exactly or by prefix.
    """

    table: str
    match: tuple[Match, ...]
    priority: int = 0
    is_default: bool = False
    """Whether it is the table's default action, which is always there and can only be changed."""

    def __str__(self) -> str:
        if self.is_default:
            return f"{self.table} [default]"
        fields = ", ".join(str(field) for field in self.match) or "everything"
        return f"{self.table} [{fields}]" + (f" priority {self.priority}" if self.priority else "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A table entry."""

    key: EntryKey
    action: EntryAction


@dataclass(frozen=True, slots=True)
class MulticastKey:
    """Identity of a multicast group."""

    group_id: int

    def __str__(self) -> str:
        return f"multicast group {self.group_id}"


@dataclass(frozen=True, slots=True)
class MulticastGroup:
    """A multicast group: (egress port, instance) of each copy, in the order in which they are made."""

    key: MulticastKey
    replicas: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CloneKey:
    """Identity of a clone (mirror) session."""

    session_id: int

    def __str__(self) -> str:
        return f"clone session {self.session_id}"


@dataclass(frozen=True, slots=True)
class CloneSession:
    """A clone session: (egress port, instance) of each copy, and their queue; 0 bytes does not truncate."""

    key: CloneKey
    replicas: tuple[tuple[int, int], ...]
    packet_length_bytes: int = 0
    class_of_service: int = 0


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A P4Runtime entity as a file gives it, serialized: registers, meters, and others without a class here."""

    message: bytes

    @property
    def key(self) -> bytes:
        """The whole of it."""
        return self.message


Key: TypeAlias = MemberKey | GroupKey | EntryKey | MulticastKey | CloneKey | bytes
Entity: TypeAlias = Member | Group | Entry | MulticastGroup | CloneSession | Verbatim


@dataclass(frozen=True, slots=True)
class Scope:
    """The tables and action profiles that a plan owns; what lies outside is never read or written."""

    tables: tuple[str, ...]
    profiles: tuple[str, ...]


class UpdateKind(Enum):
    """The operation of a write."""

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
    """One line that names an entity and its action."""
    return action_of(entity) if isinstance(entity, Verbatim) else f"{entity.key} -> {action_of(entity)}"


def action_of(entity: Entity) -> str:
    """The action of an entity, without its key."""
    match entity:
        case Verbatim():
            return f"a P4Runtime message of {len(entity.message)} bytes"
        case MulticastGroup() | CloneSession():
            return ", ".join(f"port {port}/{instance}" for port, instance in entity.replicas)
        case Group():
            return f"members {', '.join(f'{member}x{weight}' for member, weight in entity.members) or 'none'}"
        case Member() | Entry():
            return str(entity.action)
