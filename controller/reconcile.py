"""The difference between what a switch should hold and what it holds, as the fewest writes that remove it.

Pure: no I/O. Writes come in batches; a server may reorder within a batch (P4Runtime 12.2), so no write depends on
another of its own batch. Order: entries that go (they free room and refer to others), then members, groups and
entries that come or change, then groups and members that go, when nothing refers to them any more.
"""

from collections.abc import Iterable, Mapping

from controller.entities import Entity, Entry, Group, Key, Member, Update, UpdateKind

# Keeps a request of this program's largest entities far below gRPC's 4 MiB.
MAX_BATCH = 1000


def diff(desired: Iterable[Entity], actual: Iterable[Entity]) -> tuple[tuple[Update, ...], ...]:
    """Batches that turn `actual` into `desired`; empty if they agree. Each key may occur once on either side."""
    want = by_key(desired)
    have = by_key(actual)
    insert = [Update(UpdateKind.INSERT, entity) for key, entity in want.items() if key not in have]
    modify = [Update(UpdateKind.MODIFY, entity) for key, entity in want.items() if key in have and have[key] != entity]
    delete = [Update(UpdateKind.DELETE, entity) for key, entity in have.items() if key not in want]
    change = insert + modify
    phases = (
        _of(delete, Entry),
        _of(change, Member),
        _of(change, Group),
        _of(change, Entry),
        _of(delete, Group),
        _of(delete, Member),
    )
    return tuple(phase[at : at + MAX_BATCH] for phase in phases for at in range(0, len(phase), MAX_BATCH))


def by_key(entities: Iterable[Entity]) -> Mapping[Key, Entity]:
    """Entities by their identity, in order; raises ValueError if one occurs twice."""
    found: dict[Key, Entity] = {}
    for entity in entities:
        if entity.key in found:
            raise ValueError(f"{entity.key} occurs twice")
        found[entity.key] = entity
    return found


def _of(updates: Iterable[Update], kind: type[Member] | type[Group] | type[Entry]) -> tuple[Update, ...]:
    """The updates of one kind of entity, in order."""
    return tuple(update for update in updates if isinstance(update.entity, kind))
