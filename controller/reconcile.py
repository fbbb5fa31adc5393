"""The difference between desired and present state, as the fewest writes that remove it.

Pure: no I/O. Writes come in batches; a server may reorder within a batch (P4Runtime 12.2), so no write depends on
another of its own batch. Order: entries that go (they free room and refer to others), then members, groups and
entries that come or change, then groups and members that go, when nothing refers to them any more. What copies packets
is referred to by numbers alone, and goes with the entries.
"""

from collections.abc import Iterable, Mapping, Sequence

from controller.entities import Entity, Entry, EntryKey, Group, Key, Member, Update, UpdateKind

# Keeps a request of this program's largest entities far below gRPC's 4 MiB.
MAX_BATCH = 1000


def diff(
    desired: Iterable[Entity], actual: Iterable[Entity], *, keeps_others: bool = False
) -> tuple[tuple[Update, ...], ...]:
    """Batches that turn `actual` into `desired`; empty if they agree. Each key may occur once on either side.

    With `keeps_others` nothing is deleted.
    """
    desired, actual = tuple(desired), tuple(actual)
    if _is_same(desired, actual):
        return ()
    want = by_key(desired)
    have = by_key(actual)
    insert: list[Update] = []
    modify: list[Update] = []
    for key, entity in want.items():
        # An empty switch is what most installations find: no key need be hashed once more.
        present = have.get(key) if have else None
        if present is None and not (isinstance(key, EntryKey) and key.is_default):
            insert.append(Update(UpdateKind.INSERT, entity))
        elif present is not entity and present != entity:
            modify.append(Update(UpdateKind.MODIFY, entity))
    gone = () if keeps_others else (entity for key, entity in have.items() if key not in want)
    delete = [Update(UpdateKind.DELETE, entity) for entity in gone]
    come, go = _by_kind(insert + modify), _by_kind(delete)
    return _cut(go[Entry], come[Member], come[Group], come[Entry], go[Group], go[Member])


def _cut(*phases: Sequence[Update]) -> tuple[tuple[Update, ...], ...]:
    """Batches of the phases in their order."""
    return tuple(tuple(phase[at : at + MAX_BATCH]) for phase in phases for at in range(0, len(phase), MAX_BATCH))


class Inserts:
    """The writes that fill empty switches. An entity that plans share is hashed only once, because hashing is slow."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int, Update]] = {}
        """By the identity of the entity, which its update keeps: number of its key, phase, update."""
        self._numbers: dict[Key, int] = {}

    def batches(self, desired: Sequence[Entity]) -> tuple[tuple[Update, ...], ...]:
        """As `diff` with a switch that has nothing."""
        known, numbers = self._known, set[int]()
        phases: tuple[list[Update], ...] = tuple([] for _ in _PHASES)
        for entity in desired:
            number, phase, update = known.get(id(entity)) or self._learn(entity)
            numbers.add(number)
            phases[phase].append(update)
        if len(numbers) != len(desired):
            return diff(desired, ())
        members, groups, entries, defaults = phases
        return _cut(members, groups, entries + defaults)

    def _learn(self, entity: Entity) -> tuple[int, int, Update]:
        key = entity.key
        phase = _PHASES.index(type(entity)) if isinstance(entity, Member | Group) else 2
        kind = UpdateKind.INSERT
        if isinstance(key, EntryKey) and key.is_default:
            phase, kind = 3, UpdateKind.MODIFY
        number = self._numbers.setdefault(key, len(self._numbers))
        learned = self._known[id(entity)] = number, phase, Update(kind, entity)
        return learned


_PHASES = (Member, Group, Entry, "defaults")


def _is_same(desired: Sequence[Entity], actual: Sequence[Entity]) -> bool:
    """Whether both have the identical objects, each once, as with a switch that is up to date."""
    known = set(map(id, desired))
    return len(known) == len(desired) == len(actual) and known == set(map(id, actual))


def by_key(entities: Iterable[Entity]) -> Mapping[Key, Entity]:
    """Entities by their identity, in order; raises ValueError if one occurs twice."""
    result: dict[Key, Entity] = {}
    for count, entity in enumerate(entities, start=1):
        result.setdefault(entity.key, entity)
        if len(result) != count:
            raise ValueError(f"{entity.key} occurs twice")
    return result


def _by_kind(updates: Iterable[Update]) -> Mapping[type[Entity], list[Update]]:
    """The updates of each kind of entity, in order."""
    result: dict[type[Entity], list[Update]] = {Member: [], Group: [], Entry: []}
    for update in updates:
        kind = type(update.entity)
        result[kind if kind in result else Entry].append(update)
    return result
