"""The tables of a program in a server's bf-rt.json: names, ids, types. Pure, no I/O.

The text is untrusted: what is used of it is checked first, and kinds of tables that plans do not use are skipped.
Nothing is guessed: a missing name or id is an error.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar, cast

from controller.errors import PlanError

K = TypeVar("K")
V = TypeVar("V")

MAX_SCHEMA_BYTES = 64 << 20
"""Of one bf-rt.json; the largest programs that we know have a few MiB."""
MAX_WIDTH_BITS = 1 << 16

ACTION_MEMBER_ID = "$ACTION_MEMBER_ID"
ACTION_MEMBER_STATUS = "$ACTION_MEMBER_STATUS"
COUNTER_INDEX = "$COUNTER_INDEX"
COUNTER_PACKETS = "$COUNTER_SPEC_PKTS"
MATCH_PRIORITY = "$MATCH_PRIORITY"
MAX_GROUP_SIZE = "$MAX_GROUP_SIZE"
REGISTER_INDEX = "$REGISTER_INDEX"
SELECTOR_GROUP_ID = "$SELECTOR_GROUP_ID"

_OF_PROGRAMS = ("Action", "Counter", "Lpf", "MatchAction", "Meter", "Register", "Wred")
"""Kinds of tables to name in messages: those that a program's author knows."""
_INTEGER_BITS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "int32": 32, "int64": 64, "bool": 1}


@dataclass(frozen=True)
class Field:
    """A field of key or data. `width_bits` is 0 for text and numbers with a point."""

    name: str
    id: int
    kind: str
    """`bytes`, `uint32`, `float`, ..."""
    width_bits: int
    repeated: bool = False
    default: int | None = None
    annotations: tuple[str, ...] = ()
    """As written in the program."""

    @property
    def width_bytes(self) -> int:
        """Bytes of a value on the wire."""
        return (self.width_bits + 7) // 8


@dataclass(frozen=True)
class KeyField:
    """A field of a key, and how it is matched."""

    field: Field
    match: str
    """`Exact`, `LPM`, `Range`, `Ternary`, `Optional`."""


@dataclass(frozen=True)
class Action:
    """An action of a table with its parameters, by name and by id."""

    name: str
    id: int
    params: Mapping[str, Field]
    by_id: Mapping[int, Field]
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table; `data` are the fields that belong to no action."""

    name: str
    id: int
    kind: str
    size: int
    keys: Mapping[str, KeyField]
    keys_by_id: Mapping[int, KeyField]
    actions: Mapping[str, Action]
    actions_by_id: Mapping[int, Action]
    data: Mapping[str, Field]
    data_by_id: Mapping[int, Field]
    depends_on: tuple[int, ...]
    annotations: tuple[str, ...] = ()

    def data_field(self, name: str) -> Field:
        """A field of its data; raises PlanError."""
        result = self.data.get(name)
        if result is None:
            missing(f"table {self.name}: field", name, self.data)
        return result


class Schema:
    """The tables of one program."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.tables: dict[str, Table] = {}
        """By the names of bf-rt.json, which begin with the pipe's."""
        self.by_id: dict[int, Table] = {}
        self._short: dict[str, list[Table]] = {}
        for table in tables:
            if table.name in self.tables or table.id in self.by_id:
                raise _wrong(f"table {table.name}", "its name or id occurs twice")
            self.tables[table.name] = self.by_id[table.id] = table
            self._short.setdefault(table.name.partition(".")[2], []).append(table)

    def find(self, name: str, what: str = "table") -> Table:
        """The table of a name, whole or without the pipe's; raises PlanError that lists the known ones."""
        if (whole := self.tables.get(name)) is not None:
            return whole
        result = self._short.get(name, [])
        if len(result) > 1:
            cause = f"several pipes have such a table: {', '.join(table.name for table in result)}"
            raise PlanError(f"{what} {name!r}", cause, "load one program on all pipes")
        if not result:
            missing(what, name, (short for short, of in self._short.items() if of[0].kind.startswith(_OF_PROGRAMS)))
        return result[0]

    def selector_of(self, profile: Table) -> Table:
        """The table of an action profile's groups; raises PlanError where it has none."""
        selectors = [one for one in self.tables.values() if one.kind == "Selector" and profile.id in one.depends_on]
        if len(selectors) != 1:
            cause = f"{len(selectors)} selectors depend on it"
            raise PlanError(f"action profile {profile.name}", cause, "load a program with only one selector for it")
        return selectors[0]


def missing(what: str, name: object, known: Iterable[object]) -> NoReturn:
    """Raises the PlanError for a name that the program lacks."""
    names = ", ".join(sorted(map(str, known))) or "none"
    raise PlanError(
        f"{what} {name!r}", f"the P4 program does not define it; it defines: {names}", "load a program that defines it"
    )


def parse_schema(data: bytes) -> Schema:
    """The schema of a bf-rt.json; raises PlanError."""
    if len(data) > MAX_SCHEMA_BYTES:
        raise _wrong("text", f"{len(data)} bytes exceed the limit of {MAX_SCHEMA_BYTES}")
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _wrong("text", f"is not valid JSON: {error}") from None
    tables = _list(_map(plain, "text"), "tables", "text")
    return Schema(_table(_map(table, f"table {at}")) for at, table in enumerate(tables))


def _table(plain: Mapping[str, object]) -> Table:
    name = _text(plain, "name", "a table")
    where = f"table {name}"
    keys = [_key(_map(key, where), where) for key in _list(plain, "key", where)]
    actions = [_action(_map(one, where), where) for one in _list(plain, "action_specs", where, needed=False)]
    data = list(_data(_list(plain, "data", where, needed=False), where))
    depends = _list(plain, "depends_on", where, needed=False)
    return Table(
        name,
        _id(plain, where),
        _text(plain, "table_type", where),
        _number(plain.get("size", 0), f"{where}: size"),
        _once(((key.field.name, key) for key in keys), where),
        _once(((key.field.id, key) for key in keys), where),
        _once(((action.name, action) for action in actions), where),
        _once(((action.id, action) for action in actions), where),
        _once(((field.name, field) for field in data), where),
        _once(((field.id, field) for field in data), where),
        tuple(_number(one, f"{where}: depends_on") for one in depends),
        _annotations(plain, where),
    )


def _key(plain: Mapping[str, object], where: str) -> KeyField:
    field = _field(plain, where)
    return KeyField(field, _text(plain, "match_type", f"{where}, key {field.name}"))


def _action(plain: Mapping[str, object], where: str) -> Action:
    name = _text(plain, "name", where)
    at = f"{where}, action {name}"
    fields = list(_data(_list(plain, "data", at, needed=False), at))
    by_id = _once(((field.id, field) for field in fields), at)
    params = _once(((field.name, field) for field in fields), at)
    return Action(name, _id(plain, at), params, by_id, _annotations(plain, at))


def _data(plain: Iterable[object], where: str) -> Iterator[Field]:
    """Fields of data: each is alone, a `singleton`, or is one of several that exclude each other."""
    for one in plain:
        entry = _map(one, where)
        if "oneof" in entry:
            yield from (_field(_map(part, where), where) for part in _list(entry, "oneof", where))
        else:
            yield _field(_map(entry.get("singleton", entry), where), where)


def _field(plain: Mapping[str, object], where: str) -> Field:
    name = _text(plain, "name", where)
    at = f"{where}, field {name}"
    # A field with fields of its own has no type; plans have no use for one.
    kind = _map(plain.get("type", {"type": "container"}), at)
    word = _text(kind, "type", at)
    width = _number(kind.get("width"), f"{at}: width") if word == "bytes" else _INTEGER_BITS.get(word, 0)
    if width > MAX_WIDTH_BITS:
        raise _wrong(at, f"has {width} bits, more than {MAX_WIDTH_BITS}")
    default = kind.get("default_value")
    number = default if isinstance(default, int) and not isinstance(default, bool) else None
    return Field(name, _id(plain, at), word, width, plain.get("repeated") is True, number, _annotations(plain, at))


def _annotations(plain: Mapping[str, object], where: str) -> tuple[str, ...]:
    """Names of annotations, which are their whole text."""
    return tuple(_text(_map(one, where), "name", where) for one in _list(plain, "annotations", where, needed=False))


def _once(pairs: Iterable[tuple[K, V]], where: str) -> dict[K, V]:
    result: dict[K, V] = {}
    for key, value in pairs:
        if result.setdefault(key, value) is not value:
            raise _wrong(where, f"has {key!r} twice")
    return result


def _map(plain: object, where: str) -> Mapping[str, object]:
    if not isinstance(plain, dict):
        raise _wrong(where, "is not an object")
    return cast("dict[str, object]", plain)


def _list(plain: Mapping[str, object], name: str, where: str, *, needed: bool = True) -> list[object]:
    result = plain.get(name, None if needed else [])
    if not isinstance(result, list):
        raise _wrong(where, f"{name} is not a list")
    return cast("list[object]", result)


def _text(plain: Mapping[str, object], name: str, where: str) -> str:
    result = plain.get(name)
    if not isinstance(result, str):
        raise _wrong(where, f"{name} is not a string")
    return result


def _id(plain: Mapping[str, object], where: str) -> int:
    return _number(plain.get("id"), f"{where}: id")


def _number(plain: object, where: str) -> int:
    if not isinstance(plain, int) or isinstance(plain, bool) or not 0 <= plain < 1 << 32:
        raise _wrong(where, "is not a 32-bit number")
    return plain


def _wrong(where: str, cause: str) -> PlanError:
    return PlanError(f"bf-rt.json of the switch, {where[:200]}", cause, "check that a BF Runtime server listens there")
