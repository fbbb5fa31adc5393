"""The roles of a program's tables by its annotations: the contract between a P4 program and its controller.

    @p4cc_role("ecn_dual.thresholds")          a table or counter: FEATURE.PART
    @p4cc_role("k_min") queue_depth_t low      a parameter, key or action whose own name is another
    @p4cc_unit("depth") queue_depth_t k        the unit that a parameter takes

Without an annotation a key, parameter or action goes by the last part of its own name. P4Info carries the structured
form (`@p4cc_role["k_min"]`) too; bf-rt.json carries the plain one only, which therefore is that of p4cc's controls.
Pure, no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from controller.entities import ActionCall, Entry, EntryKey, Exact, Match, Range
from controller.errors import PlanError

if TYPE_CHECKING:
    from finsy import P4Schema
    from finsy.p4schema import P4Annotation, P4MatchField

_ANNOTATION = re.compile(r'@p4cc_(role|unit)\s*\(\s*"([^"]{1,100})"\s*\)')


class Annotated(Protocol):
    """finsy's view of a P4Info."""

    @property
    def annotations(self) -> list[P4Annotation]:
        """In either form."""
        ...


DEPTH, TICKS = "depth", "ticks"
"""Units: of the traffic manager's queue depths (packets or cells), and of the switch's clock."""


@dataclass(frozen=True)
class Row:
    """An entry of a table with a role: values by the roles of keys (two for a range) and of parameters."""

    role: str
    key: Mapping[str, int | tuple[int, int]]
    action: str
    args: Mapping[str, int] = field(default_factory=dict[str, int])
    priority: int = 0
    """Where a key is a range."""
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of arguments, where the program may take them in another one."""


@dataclass(frozen=True)
class KeyPart:
    """A key: its name in the program, how it is matched (`exact`, `range`, ...), and its bits."""

    name: str
    kind: str
    bits: int


@dataclass(frozen=True)
class ParamPart:
    """A parameter: its name in the program, its bits, and the unit that it takes."""

    name: str
    bits: int
    unit: str | None


@dataclass(frozen=True)
class ActionPart:
    """An action: its name in the program, and its parameters by role."""

    name: str
    params: Mapping[str, ParamPart]


@dataclass(frozen=True, eq=False)
class TablePart:
    """A table: its name in the program, keys and actions by role. One of a program equals itself alone."""

    role: str
    name: str
    keys: Mapping[str, KeyPart]
    actions: Mapping[str, ActionPart]
    profile: str | None = None
    """Its action profile, whose actions then are its own."""
    selects: bool = False
    """Whether the profile chooses among the members of groups."""

    def entry(self, row: Row) -> Entry:
        """The entry of a row by the program's names; raises PlanError for a row that does not fit the table."""
        match = sorted((self._match(role, value) for role, value in row.key.items()), key=lambda one: one.field)
        if missing := self.keys.keys() - row.key.keys():
            raise self._wrong(f"key {', '.join(sorted(missing))} gets no value", "remove the key from the table")
        action = self.actions.get(row.action)
        if action is None:
            raise self._wrong(
                f"it has no action {row.action}", f'add the action, or annotate one with @p4cc_role("{row.action}")'
            )
        args = sorted((self.param(row.action, role, row.units.get(role)).name, one) for role, one in row.args.items())
        if len(args) != len(action.params):
            more = ", ".join(sorted(action.params.keys() - row.args.keys()))
            raise self._wrong(
                f"its action {action.name} has further parameters: {more}", "remove them from the program"
            )
        return Entry(EntryKey(self.name, tuple(match), row.priority), ActionCall(action.name, tuple(args)))

    def param(self, action: str, role: str, unit: str | None = None) -> ParamPart:
        """A parameter of an action; raises PlanError if there is none, or if it takes another unit."""
        result = self.actions[action].params.get(role) if action in self.actions else None
        if result is None:
            remedy = f'rename the parameter, or annotate it with @p4cc_role("{role}")'
            raise self._wrong(f"its action {action} has no parameter {role}", remedy)
        if unit is not None and result.unit not in (None, unit):
            cause = f"parameter {result.name} of {action} is in {result.unit}, but its value is in {unit}"
            raise self._wrong(cause, f'compare it in {unit}, and annotate it with @p4cc_unit("{unit}")')
        return result

    def _match(self, role: str, value: int | tuple[int, int]) -> Match:
        key, kind = self.keys.get(role), "exact" if isinstance(value, int) else "range"
        if key is None:
            remedy = f'add it: NAME: {kind} @name("{role}")'
            raise self._wrong(f"it has no {kind} key {role}", remedy)
        if key.kind != kind:
            raise self._wrong(f"its key {key.name} has match kind {key.kind}", f"use match kind {kind}")
        return Exact(key.name, value) if isinstance(value, int) else Range(key.name, *value)

    def _wrong(self, cause: str, remedy: str) -> PlanError:
        return PlanError(f"table {self.name} ({self.role})", cause, remedy)


@dataclass(frozen=True)
class Roles:
    """Tables of a program that have a role, by it, and names of such counters."""

    tables: Mapping[str, TablePart] = field(default_factory=dict[str, TablePart])
    counters: Mapping[str, str] = field(default_factory=dict[str, str])

    def __contains__(self, role: str) -> bool:
        return role in self.tables or role in self.counters

    def table(self, role: str) -> TablePart:
        """The table of a role; raises PlanError where the program has none."""
        result = self.tables.get(role)
        if result is None:
            raise PlanError("P4 program", f'no table has @p4cc_role("{role}")', "run a program that has such a table")
        return result

    def with_table(self, table: TablePart) -> Roles:
        """These with one more."""
        return Roles({**self.tables, table.role: table}, self.counters)


NO_ROLES = Roles()


def roles_of(schema: P4Schema) -> Roles:
    """The roles of a program by its P4Info; raises PlanError where two tables have one."""
    tables: list[TablePart] = []
    for table in schema.tables:
        if (role := role_of(table)) is None:
            continue
        keys = [(_texts(key), KeyPart(key.name, _kind(key), key.bitwidth)) for key in table.match_fields]
        actions = [
            (_texts(action), action.name, [(_texts(one), one.name, one.bitwidth) for one in action.params])
            for action in (schema.actions[ref.id] for ref in table.actions)
        ]
        profile = table.action_profile
        name, selects = (None, False) if profile is None else (profile.name, profile.with_selector)
        tables.append(table_part(role, table.name, keys, actions, name, selects=selects))
    result = ((role_of(counter), counter.name) for counter in schema.counters)
    return made(tables, ((role, name) for role, name in result if role is not None))


def table_part(
    role: str,
    name: str,
    keys: Iterable[tuple[Iterable[str], KeyPart]],
    actions: Iterable[tuple[Iterable[str], str, Iterable[tuple[Iterable[str], str, int]]]],
    profile: str | None = None,
    *,
    selects: bool = False,
) -> TablePart:
    """A table of its keys, its actions and their parameters (name and bits), each after its annotations."""
    by_role: dict[str, ActionPart] = {}
    for texts, action, params in actions:
        parts: dict[str, ParamPart] = {}
        for of_param, param, bits in params:
            said = tuple(of_param)
            parts[role_in(said) or param] = ParamPart(param, bits, unit_in(said))
        by_role[role_in(texts) or last(action)] = ActionPart(action, parts)
    of_keys = {role_in(texts) or last(key.name): key for texts, key in keys}
    return TablePart(role, name, of_keys, by_role, profile, selects)


def made(tables: Iterable[TablePart], counters: Iterable[tuple[str, str]]) -> Roles:
    """Roles, each once; raises PlanError where two tables have one."""
    found: dict[str, TablePart] = {}
    for table in tables:
        if (first := found.setdefault(table.role, table)) is not table:
            cause = f"both {first.name} and {table.name} have the role {table.role}"
            raise PlanError("P4 program", cause, "apply the control only once")
    return Roles(found, dict(counters))


def role_of(of: Annotated) -> str | None:
    """The role of something in a P4Info."""
    return role_in(_texts(of))


def role_in(annotations: Iterable[str]) -> str | None:
    """The role in annotations, as written in the program."""
    return next(_of("role", annotations), None)


def unit_in(annotations: Iterable[str]) -> str | None:
    """The unit that annotations give."""
    return next(_of("unit", annotations), None)


def last(name: str) -> str:
    """The last part of a name."""
    return name.rpartition(".")[2]


def _of(kind: str, annotations: Iterable[str]) -> Iterator[str]:
    return (match[2] for text in annotations if (match := _ANNOTATION.match(text)) is not None and match[1] == kind)


def _texts(of: Annotated) -> Iterator[str]:
    """Annotations of something of finsy's in their plain form."""
    for one in of.annotations:
        match one.body:
            case str(text):
                yield f"@{one.name}({text})"
            case (str(text),):
                yield f'@{one.name}("{text}")'
            case _:
                continue


def _kind(key: P4MatchField) -> str:
    kind = key.match_type
    # A kind of another architecture has no number in P4Runtime, and is there as text.
    return kind if isinstance(kind, str) else kind.name.lower()
