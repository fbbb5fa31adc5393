"""Runtime files of the P4 tutorials: `table_entries`, `multicast_group_entries`, `clone_session_entries`."""

from collections.abc import Iterable
from typing import cast

from controller.entities import CloneKey, CloneSession, MulticastGroup, MulticastKey
from controller.written import Value, Written, WrittenCopies, WrittenEntry
from topos.errors import fail
from topos.loaders.reading import as_bool, as_int, as_list, as_object, as_text

MAX_ENTRIES = 1_000_000
MAX_REPLICAS = 512


def read_runtime(data: object, place: str) -> Written:
    """The entries of a file's JSON; raises TopologyError that names the entry."""
    top = as_object(data, place)
    target = top.get("target", "bmv2")
    if target != "bmv2":
        raise fail(f"{place}: target", f"unknown target {target!r}", "write bmv2, which means any v1model switch")
    groups = [_group(item, where) for item, where in _items(top, "multicast_group_entries", place)]
    sessions = [_session(item, where) for item, where in _items(top, "clone_session_entries", place)]
    for kind in (groups, sessions):
        _once(kind)
    return Written(
        entries=tuple(_entry(item, where) for item, where in _items(top, "table_entries", place)),
        copies=(*groups, *sessions),
        p4info=as_text(top["p4info"], f"{place}: p4info") if "p4info" in top else None,
        device_config=as_text(top["bmv2_json"], f"{place}: bmv2_json") if "bmv2_json" in top else None,
    )


def _once(found: Iterable[WrittenCopies]) -> None:
    """Raises TopologyError for two with the same id, as the switch would refuse the second."""
    places: dict[object, str] = {}
    for one in found:
        if (first := places.setdefault(one.entity.key, one.place)) is not one.place:
            raise fail(one.place, f"{one.entity.key} already exists, from {first}", "remove one of the two")


def _items(top: dict[str, object], key: str, place: str) -> list[tuple[dict[str, object], str]]:
    items = as_list(top.get(key, []), f"{place}: {key}")
    if len(items) > MAX_ENTRIES:
        raise fail(f"{place}: {key}", f"the list has {len(items)} entries", f"give at most {MAX_ENTRIES}")
    places = (f"{place}: {key}[{index}]" for index in range(len(items)))
    return [(as_object(item, where), where) for item, where in zip(items, places, strict=True)]


def _entry(item: dict[str, object], place: str) -> WrittenEntry:
    match = item.get("match")
    fields = as_object(match, f"{place}.match") if match is not None else {}
    default = as_bool(item.get("default_action") or False, f"{place}.default_action")
    if default and fields:
        raise fail(place, "is a default action, which cannot have a match", "remove the match or default_action")
    params = as_object(item.get("action_params") or {}, f"{place}.action_params")
    priority = item.get("priority")
    return WrittenEntry(
        table=as_text(item.get("table"), f"{place}.table"),
        match=tuple((name, _values(value, f"{place}.match.{name}")) for name, value in fields.items()),
        action=as_text(item.get("action_name"), f"{place}.action_name"),
        params=tuple((name, _value(_single(value), f"{place}.action_params.{name}")) for name, value in params.items()),
        place=place,
        default=default,
        priority=None if priority is None else as_int(priority, f"{place}.priority"),
    )


def _values(value: object, place: str) -> tuple[Value, ...]:
    parts = cast("list[object]", value) if isinstance(value, list) else [value]
    if not 1 <= len(parts) <= 2:
        raise fail(place, f"has {len(parts)} values", "write a value, [value, length], [value, mask] or [low, high]")
    return tuple(_value(part, place) for part in parts)


def _single(value: object) -> object:
    """A list of one is its value: these files write either."""
    parts = cast("list[object]", value) if isinstance(value, list) else [value]
    return parts[0] if len(parts) == 1 else parts


def _value(value: object, place: str) -> Value:
    return value if isinstance(value, str) else as_int(value, place)


def _group(item: dict[str, object], place: str) -> WrittenCopies:
    group_id = as_int(item.get("multicast_group_id"), f"{place}.multicast_group_id")
    return WrittenCopies(MulticastGroup(MulticastKey(group_id), _replicas(item, place)), place)


def _session(item: dict[str, object], place: str) -> WrittenCopies:
    session_id = as_int(item.get("clone_session_id"), f"{place}.clone_session_id")
    length = as_int(item.get("packet_length_bytes", 0), f"{place}.packet_length_bytes")
    return WrittenCopies(CloneSession(CloneKey(session_id), _replicas(item, place), length), place)


def _replicas(item: dict[str, object], place: str) -> tuple[tuple[int, int], ...]:
    result = as_list(item.get("replicas"), f"{place}.replicas")
    if len(result) > MAX_REPLICAS:
        raise fail(f"{place}.replicas", f"the list has {len(result)} replicas", f"give at most {MAX_REPLICAS}")
    replicas: list[tuple[int, int]] = []
    for index, replica in enumerate(result):
        where = f"{place}.replicas[{index}]"
        one = as_object(replica, where)
        port = as_int(one.get("egress_port"), f"{where}.egress_port")
        replicas.append((port, as_int(one.get("instance", 0), f"{where}.instance")))
    return tuple(replicas)
