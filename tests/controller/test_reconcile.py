"""Reconcile against an independent model of a server that refuses what P4Runtime refuses, in any order of a batch."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller import EcnSettings, Profile, Thresholds, same_thresholds
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    GroupRef,
    Key,
    Member,
    MemberKey,
    MemberRef,
    Update,
    UpdateKind,
)
from controller.reconcile import MAX_BATCH, Inserts, diff
from tests.controller import own_program as program
from tests.controller.planned import planned
from topos import generate


class Server:
    """State by key; refuses a second insert, a change of nothing, and any write that leaves a reference dangling."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.state: dict[Key, Entity] = {entity.key: entity for entity in entities}

    def write(self, update: Update) -> None:
        key = update.entity.key
        assert (update.kind is UpdateKind.INSERT) == (key not in self.state), f"refused: {update}"
        if update.kind is UpdateKind.DELETE:
            del self.state[key]
        else:
            self.state[key] = update.entity
        for entity in self.state.values():
            assert all(target in self.state for target in references(entity)), f"{update} leaves {entity} dangling"


def references(entity: Entity) -> list[Key]:
    match entity:
        case Group():
            return [MemberKey(entity.key.profile, member_id) for member_id, _ in entity.members]
        case Entry(_, MemberRef(member_id)):
            return [MemberKey("profile", member_id)]
        case Entry(_, GroupRef(group_id)):
            return [GroupKey("profile", group_id)]
        case _:
            return []


@st.composite
def states(draw: st.DrawFn) -> tuple[Entity, ...]:
    """A state without dangling references, in any order."""
    member_ids = draw(st.sets(st.integers(1, 5)))
    port = st.integers(0, 2)
    members = [Member(MemberKey("profile", i), ActionCall("hop", (("port", draw(port)),))) for i in member_ids]
    groups: list[Group] = []
    if member_ids:
        for group_id in draw(st.sets(st.integers(1, 3))):
            chosen = sorted(draw(st.sets(st.sampled_from(sorted(member_ids)), min_size=1)))
            groups.append(Group(GroupKey("profile", group_id), tuple((i, draw(st.integers(1, 2))) for i in chosen)))
    actions = [ActionCall("mark", (("k", 1),)), ActionCall("mark", (("k", 2),))]
    targets = [*actions, *(MemberRef(i) for i in member_ids), *(GroupRef(group.key.group_id) for group in groups)]
    entries = [
        Entry(EntryKey("table", (Exact("key", value),)), draw(st.sampled_from(targets)))
        for value in draw(st.sets(st.integers(0, 4)))
    ]
    return tuple(draw(st.permutations([*members, *groups, *entries])))


@given(states(), states(), st.integers())
def test_the_difference_leads_to_the_desired_state(
    desired: tuple[Entity, ...], actual: tuple[Entity, ...], seed: int
) -> None:
    server = Server(actual)
    batches = diff(desired, actual)
    for batch in batches:
        # A server may reorder within a batch.
        for update in random.Random(seed).sample(batch, len(batch)):
            server.write(update)
    assert server.state == {entity.key: entity for entity in desired}
    assert diff(desired, tuple(server.state.values())) == ()
    # Fewest writes: one for each key that differs, none for the others.
    have, want = {entity.key: entity for entity in actual}, {entity.key: entity for entity in desired}
    due = [key for key in have | want if have.get(key) != want.get(key)]
    assert sum(len(batch) for batch in batches) == len(due)


def test_a_changed_threshold_is_the_only_write() -> None:
    topology = generate("star", {"senders": 3})
    usual = same_thresholds(topology, Thresholds(33, 65))
    (old,) = planned(topology, EcnSettings(Profile.GST, usual))
    (new,) = planned(topology, EcnSettings(Profile.GST, usual | {("s1", "h2"): Thresholds(8, 65)}))
    ((update,),) = diff(new.entities, old.entities)
    assert str(update) == f"modify {program.THRESHOLDS} [egress_port=2] -> {program.SET_THRESHOLDS}(k=8, k_dc=65)"


def test_large_writes_come_in_bounded_batches() -> None:
    entries = [Entry(EntryKey("table", (Exact("key", value),)), ActionCall("mark")) for value in range(2500)]
    assert [len(batch) for batch in diff(entries, ())] == [MAX_BATCH, MAX_BATCH, 500]
    assert diff(entries, entries) == ()


def test_a_key_that_occurs_twice_is_refused() -> None:
    entry = Entry(EntryKey("table", (Exact("key", 1),)), ActionCall("mark"))
    with pytest.raises(ValueError, match=r"table \[key=1\] occurs twice"):
        diff([entry, entry], [])
    with pytest.raises(ValueError, match="occurs twice"):
        Inserts().batches([entry, Entry(entry.key, entry.action)])


@given(st.lists(states(), max_size=4))
def test_inserts_of_many_switches_are_the_differences_to_empty_ones(all_desired: list[tuple[Entity, ...]]) -> None:
    inserts = Inserts()
    default = Entry(EntryKey("table", (), is_default=True), ActionCall("mark", (("k", 1),)))
    for desired in all_desired:
        for entities in (desired, (default, *desired), desired):
            assert inserts.batches(entities) == diff(entities, ())
