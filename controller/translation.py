"""Entities and their messages, each translated once: the switches of a network hold much the same.

Plans share what is equal, so an entity is known by its identity, which needs no hash of all that it holds. What a
switch sends back is the entity that was sent: a comparison of both ends at once.
"""

from typing import TypeVar

from finsy import P4Schema
from finsy.proto import p4r

from controller import codec
from controller.entities import Entity, Update, UpdateKind

K = TypeVar("K")
V = TypeVar("V")

MAX_KEPT = 1 << 16
"""Translations kept of each direction; past that all are forgotten."""


class Translation:
    """What `codec` does for one schema, with memory."""

    def __init__(self, schema: P4Schema) -> None:
        self._schema = schema
        self._updates: dict[int, tuple[Entity, p4r.Update]] = {}
        """By the identity of the entity, which is kept so that no other one gets it."""
        self._entities: dict[bytes, Entity] = {}

    def to_update(self, update: Update) -> p4r.Update:
        """As `codec.to_update`; the message is for reading only."""
        if update.kind is not UpdateKind.INSERT:
            return codec.to_update(update, self._schema)
        known = self._updates.get(id(update.entity))
        if known is None:
            _make_room(self._updates)
            _make_room(self._entities)
            known = update.entity, codec.to_update(update, self._schema)
            self._updates[id(update.entity)] = known
            # A switch that sends these very bytes holds this very entity.
            self._entities.setdefault(known[1].entity.SerializeToString(), update.entity)
        return known[1]

    def from_entity(self, message: p4r.Entity) -> Entity:
        """As `codec.from_entity`."""
        raw = message.SerializeToString()
        if raw not in self._entities:
            _make_room(self._entities)
            self._entities[raw] = codec.from_entity(message, self._schema)
        return self._entities[raw]


def _make_room(cache: dict[K, V]) -> None:
    if len(cache) >= MAX_KEPT:
        cache.clear()
