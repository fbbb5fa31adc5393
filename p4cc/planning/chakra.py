"""Execution traces of Chakra, as ASTRA-sim reads them: one file for each rank (docs/algorithms/traffic.md#chakra).

A file is a sequence of protobuf messages, each after its length: metadata, then nodes. A node waits for its data
dependencies, as in ASTRA-sim; control dependencies are not looked at. Computing and memory nodes take the time that the
trace has. Nodes of collectives are matched over the ranks of their group in the order of the files.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from p4cc.errors import UserError
from p4cc.files import note_absent, read_bytes, read_text
from p4cc.json_data import items, mapping
from p4cc.planning.operation_graph import MAX_RANKS, CollectiveOperation, Group, OperationGraph
from p4cc.planning.whole_numbers import whole
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from p4cc import spec
    from p4cc.json_data import JsonValue

MAX_TAG = (1 << 64) - 1
_MAX_VARINT_BYTES = 5
_RANK = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_METADATA, _LOAD, _STORE, _COMPUTE, _SEND, _RECEIVE, _COLLECTIVE = range(1, 8)
_TIMED = (_LOAD, _STORE, _COMPUTE)
_ALL_GATHER, _BROADCAST = 2, 5
_OPERATIONS: dict[int, CollectiveOperation] = {
    0: "all_reduce",
    _ALL_GATHER: "all_gather",
    6: "all_to_all",
    7: "reduce_scatter",
}
_OTHER_COLLECTIVES = {1: "REDUCE", 3: "GATHER", 4: "SCATTER", 8: "REDUCE_SCATTER_BLOCK", 9: "BARRIER"}
_ADD_GROUP = "add it to the traces' metadata, or give ASTRA-sim's file: groups of the traffic, or p4cc import --groups"
_ALL = ""
"""The group of all ranks, which has no name."""

_Type = descriptor_pb2.FieldDescriptorProto
_VALUES = {
    "double_val": (3, _Type.TYPE_DOUBLE),
    "float_val": (5, _Type.TYPE_FLOAT),
    "int32_val": (7, _Type.TYPE_INT32),
    "int64_val": (9, _Type.TYPE_INT64),
    "uint32_val": (11, _Type.TYPE_UINT32),
    "uint64_val": (13, _Type.TYPE_UINT64),
    "sint32_val": (15, _Type.TYPE_SINT32),
    "sint64_val": (17, _Type.TYPE_SINT64),
    "fixed32_val": (19, _Type.TYPE_FIXED32),
    "fixed64_val": (21, _Type.TYPE_FIXED64),
    "sfixed32_val": (23, _Type.TYPE_SFIXED32),
    "sfixed64_val": (25, _Type.TYPE_SFIXED64),
    "bool_val": (27, _Type.TYPE_BOOL),
    "string_val": (29, _Type.TYPE_STRING),
}
"""Values of an attribute that a node may have here, by field number; of lists, only those of bools are looked at."""


def _node_class() -> Any:
    """The message of a node, with the fields that are read."""
    file = descriptor_pb2.FileDescriptorProto(name="p4cc_chakra.proto", package="p4cc.chakra", syntax="proto3")
    bools = file.message_type.add(name="Bools")
    bools.field.add(name="values", number=1, type=_Type.TYPE_BOOL, label=_Type.LABEL_REPEATED)
    attribute = file.message_type.add(name="Attribute")
    attribute.field.add(name="name", number=1, type=_Type.TYPE_STRING, label=_Type.LABEL_OPTIONAL)
    attribute.oneof_decl.add(name="value")
    for name, (number, kind) in _VALUES.items():
        attribute.field.add(name=name, number=number, type=kind, label=_Type.LABEL_OPTIONAL, oneof_index=0)
    attribute.field.add(
        name="bool_list",
        number=28,
        type=_Type.TYPE_MESSAGE,
        type_name=".p4cc.chakra.Bools",
        label=_Type.LABEL_OPTIONAL,
        oneof_index=0,
    )
    node = file.message_type.add(name="Node")
    node.field.add(name="id", number=1, type=_Type.TYPE_UINT64, label=_Type.LABEL_OPTIONAL)
    node.field.add(name="name", number=2, type=_Type.TYPE_STRING, label=_Type.LABEL_OPTIONAL)
    node.field.add(name="type", number=3, type=_Type.TYPE_INT32, label=_Type.LABEL_OPTIONAL)
    node.field.add(name="data_deps", number=5, type=_Type.TYPE_UINT64, label=_Type.LABEL_REPEATED)
    inputs = file.message_type.add(name="Inputs")
    inputs.field.add(name="values", number=1, type=_Type.TYPE_STRING, label=_Type.LABEL_OPTIONAL)
    node.field.add(
        name="inputs", number=8, type=_Type.TYPE_MESSAGE, type_name=".p4cc.chakra.Inputs", label=_Type.LABEL_OPTIONAL
    )
    node.field.add(name="duration_micros", number=7, type=_Type.TYPE_UINT64, label=_Type.LABEL_OPTIONAL)
    node.field.add(
        name="attr",
        number=10,
        type=_Type.TYPE_MESSAGE,
        type_name=".p4cc.chakra.Attribute",
        label=_Type.LABEL_REPEATED,
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # pyright: ignore[reportUnknownMemberType]
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p4cc.chakra.Node"))


_NODE = _node_class()


@dataclass(frozen=True)
class _Message:
    """A send or a receive by its operation."""

    operation: int


@dataclass(frozen=True)
class _Part:
    """A rank's node of a collective."""

    operation: int
    kind: CollectiveOperation
    size_bytes: int


class _Reader:
    """Makes operations of the nodes of all ranks."""

    def __init__(self, paths: Sequence[Path], groups: Mapping[str, tuple[int, ...]]) -> None:
        self._paths = paths
        self._groups = dict(groups)
        self._everybody = tuple(range(len(paths)))
        self._places: dict[str, dict[int, int]] = {}
        """Of the ranks in a group."""
        self._given = frozenset(groups)
        """Groups of the file of groups, which metadata do not change."""
        self._graph = OperationGraph(len(paths))
        self._sends: defaultdict[tuple[int, int, int], list[_Message]] = defaultdict(list)
        self._receives: defaultdict[tuple[int, int, int], list[_Message]] = defaultdict(list)
        self._parts: defaultdict[str, dict[int, list[_Part]]] = defaultdict(dict)

    def read(self) -> OperationGraph:
        for rank, path in enumerate(self._paths):
            self._read_rank(rank, path)
        self._match_messages()
        for group, parts in self._parts.items():
            self._match_parts(group, parts)
        return self._graph.check(str(self._paths[0]))

    def _read_rank(self, rank: int, path: Path) -> None:
        numbers: dict[int, int] = {}
        waiting: list[tuple[int, Sequence[int]]] = []
        for count, data in enumerate(_messages(path)):
            if count == 0:
                # Metadata of the whole trace.
                continue
            place = f"{path} node {count}"
            node = _NODE()
            try:
                node.ParseFromString(data)
            except DecodeError as error:
                cause = "the message is not a node of Chakra"
                raise UserError(cause, place=place, remedy="give an undamaged trace of Chakra's schema") from error
            if node.id in numbers:
                raise UserError(f"node id {node.id} is given twice", place=place, remedy="give each node its own id")
            numbers[node.id] = self._add(rank, node, place)
            waiting.append((numbers[node.id], list(node.data_deps)))
        for operation, of in waiting:
            for other in of:
                if other not in numbers:
                    cause = f"the node waits for node {other}, which the file does not have"
                    raise UserError(cause, place=self._graph.places[operation], remedy="give the whole file")
                self._graph.operations[operation].setdefault("after", []).append(numbers[other])

    def _add(self, rank: int, node: Any, place: str) -> int:
        """The operation of a node."""
        values = {one.name: getattr(one, which) for one in node.attr if (which := one.WhichOneof("value"))}
        name = f"{rank}.{node.id}.{node.name}"[:64]
        duration_ns = 1_000 * whole("duration_micros", node.duration_micros, 0, MAX_TIME_NS // 1_000, place)
        wait: spec.Work = {"kind": "compute", "host": rank, "duration_ns": 0}
        if node.type in _TIMED:
            operation: spec.OperationSpec = {"name": name, "work": {**wait, "duration_ns": duration_ns}}
            if node.type == _COMPUTE:
                # One processor and one accelerator for each rank, as in ASTRA-sim.
                operation["unit"] = 2 * rank + bool(values.get("is_cpu_op"))
            return self._graph.add(operation, place)
        if node.type in (0, _METADATA):
            self._learn(_groups_of(node.inputs.values, self._graph.ranks), place)
            return self._graph.add({"name": name, "work": wait}, place)
        # A receive takes what its send has.
        needs_size = node.type in (_SEND, _COLLECTIVE) and not _is_timed(values)
        size_bytes = whole("comm_size", values.get("comm_size", None if needs_size else 0), 0, MAX_FLOW_BYTES, place)
        if node.type in (_SEND, _RECEIVE):
            is_send = node.type == _SEND
            key = "comm_dst" if is_send else "comm_src"
            peer = whole(key, values.get(key), 0, self._graph.ranks - 1, place)
            tag = whole("comm_tag", values.get("comm_tag", 0), 0, MAX_TAG, place)
            if peer == rank:
                raise UserError(f"rank {rank} sends to itself", place=place, remedy="name another rank")
            send: spec.Work = {"kind": "send", "src": rank, "dst": peer, "size_bytes": max(size_bytes, 1)}
            number = self._graph.add({"name": name, "work": send if is_send else wait}, place)
            ends = (rank, peer, tag) if is_send else (peer, rank, tag)
            (self._sends if is_send else self._receives)[ends].append(_Message(number))
            return number
        if node.type != _COLLECTIVE:
            cause = f"the node is of type {node.type}, which ASTRA-sim does not run"
            raise UserError(cause, place=place, remedy="give a trace of computing, memory and communication")
        return self._collective(rank, name, values, size_bytes, duration_ns, place)

    def _collective(
        self, rank: int, name: str, values: dict[str, Any], size_bytes: int, duration_ns: int, place: str
    ) -> int:
        kind = whole("comm_type", values.get("comm_type"), 0, 9, place)
        group = str(values.get("pg_name", _ALL))
        group = _ALL if group == "0" and "0" not in self._groups else group
        if group == _ALL and (dimension := _left_out(values.get("involved_dim"))) is not None:
            cause = f"the collective leaves out dimension {dimension} of the network (involved_dim)"
            raise UserError(cause, place=place, remedy="name its group: pg_name, and ASTRA-sim's file of groups")
        members = self._members(group, place)
        if group not in self._places:
            self._places[group] = {one: at for at, one in enumerate(members)}
        at = self._places[group].get(rank)
        if at is None:
            cause = f"rank {rank} is not in its group {shown(group)}"
            raise UserError(cause, place=place, remedy="correct the file of groups")
        if kind == _BROADCAST or len(members) < 2:
            # ASTRA-sim lets a broadcast last as long as the trace says.
            work: spec.Work = {"kind": "compute", "host": rank, "duration_ns": duration_ns}
            return self._graph.add({"name": name, "work": work}, place)
        if kind not in _OPERATIONS:
            cause = f"p4cc has no collective {_OTHER_COLLECTIVES[kind]}"
            known = ", ".join(_OPERATIONS.values())
            raise UserError(cause, place=place, remedy=f"give a trace of {known}")
        # ASTRA-sim counts what a rank of an all-gather has, and the whole buffer of others.
        buffer_bytes = size_bytes * len(members) if kind == _ALL_GATHER else size_bytes
        buffer_bytes = max(1, whole("the size of the buffer", buffer_bytes, 0, MAX_FLOW_BYTES, place))
        part: spec.Work = {"kind": "collective", "collective": 0, "rank": at}
        number = self._graph.add({"name": name, "work": part}, place)
        self._parts[group].setdefault(rank, []).append(_Part(number, _OPERATIONS[kind], buffer_bytes))
        return number

    def _learn(self, groups: Mapping[str, tuple[int, ...]], place: str) -> None:
        """Takes groups of metadata; raises UserError for two of one name that differ."""
        for name, members in groups.items():
            if name in self._given:
                continue
            if self._groups.setdefault(name, members) != members:
                cause = f"the group {shown(name)} has other ranks than in metadata before"
                raise UserError(cause, place=place, remedy="give the files of one run, or a file of groups")

    def _members(self, group: str, place: str) -> tuple[int, ...]:
        if group == _ALL:
            return self._everybody
        if group not in self._groups:
            cause = f"there is no group {shown(group)}"
            raise UserError(cause, place=place, remedy=_ADD_GROUP)
        return self._groups[group]

    def _match_messages(self) -> None:
        """Each receive waits for the arrival of its send; those of the same ranks and tag are in order."""
        for key in dict.fromkeys([*self._sends, *self._receives]):
            sends, receives = self._sends.get(key, []), self._receives.get(key, [])
            if len(sends) != len(receives):
                cause = f"{len(sends)} sends from rank {key[0]} to {key[1]} with tag {key[2]}, {len(receives)} receives"
                place = self._graph.places[(sends or receives)[0].operation]
                raise UserError(cause, place=place, remedy="give the files of all ranks of one run")
            for send, receive in zip(sends, receives, strict=True):
                self._graph.operations[receive.operation].setdefault("after_arrival", []).append(send.operation)

    def _match_parts(self, group: str, parts: dict[int, list[_Part]]) -> None:
        """The k-th collectives of a group's ranks are one."""
        members = self._members(group, "")
        counts = [len(parts.get(rank, ())) for rank in members]
        if len(set(counts)) > 1:
            place = self._graph.places[next(iter(parts.values()))[0].operation]
            cause = f"the ranks of group {shown(group) if group else 'of all'} have {min(counts)} to {max(counts)}"
            raise UserError(f"{cause} collectives", place=place, remedy="give the files of all ranks of one run")
        for number in range(counts[0]):
            together = [parts[rank][number] for rank in members]
            first = together[0]
            for part in together:
                if (part.kind, part.size_bytes) != (first.kind, first.size_bytes):
                    cause = f"{part.kind} of {part.size_bytes} B meets {first.kind} of {first.size_bytes} B of rank"
                    place = self._graph.places[part.operation]
                    raise UserError(f"{cause} {members[0]}", place=place, remedy="give files of one run")
                work = self._graph.operations[part.operation]["work"]
                if work["kind"] == "collective":
                    work["collective"] = len(self._graph.groups)
            self._graph.groups.append(Group(first.kind, members, first.size_bytes))


def _is_timed(values: Mapping[str, Any]) -> bool:
    """Whether a node of a collective lasts as long as the trace says, whatever its size."""
    return values.get("comm_type") == _BROADCAST


def _left_out(involved: Any) -> int | None:
    """The first dimension of ASTRA-sim's network that a collective does not use."""
    used: list[bool] = list(getattr(involved, "values", ()))
    return used.index(False) if False in used else None


def _groups_of(values: str, ranks: int) -> dict[str, tuple[int, ...]]:
    """PyTorch's process groups in a node of metadata, which is text in a list; none where there is something else."""
    try:
        plain: JsonValue = json.loads(values[2:-2])
    except (ValueError, RecursionError):
        return {}
    found: dict[str, tuple[int, ...]] = {}
    for group in map(mapping, items(plain)):
        listed = items(group.get("ranks")) or range(ranks)
        members = tuple(dict.fromkeys(rank for rank in listed if isinstance(rank, int) and 0 <= rank < ranks))
        if "pg_name" in group and len(members) == len(listed):
            found[str(group["pg_name"])] = members
    return found


def _messages(path: Path) -> Iterator[bytes]:
    """The messages of a file, each after its length as a varint; raises UserError."""
    data = read_bytes(path, "trace")
    at, count = 0, 0
    while at < len(data):
        length, shift = 0, 0
        while True:
            if at == len(data) or shift == 7 * _MAX_VARINT_BYTES:
                raise _cut(path, count)
            byte = data[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if length > len(data) - at:
            raise _cut(path, count)
        yield data[at : at + length]
        at += length
        count += 1


def _cut(path: Path, count: int) -> UserError:
    cause = f"message {count} goes on beyond the end of the file"
    return UserError(cause, place=str(path), remedy="give a whole trace of Chakra (ASTRA-sim)")


def read_chakra(paths: Sequence[Path], groups: Mapping[str, tuple[int, ...]] | None = None) -> OperationGraph:
    """The operations of the ranks that the files are of, in their order; raises UserError with the node of a fault."""
    return _Reader(paths, groups or {}).read()


def read_groups(path: Path, ranks: int) -> dict[str, tuple[int, ...]]:
    """ASTRA-sim's communicator groups, `{"1": [0, 1]}`; raises UserError."""
    try:
        plain: JsonValue = json.loads(read_text(path, "file of groups"))
    except (ValueError, RecursionError) as error:
        raise UserError("the file of groups is not JSON", place=str(path), remedy='write {"1": [0, 1]}') from error
    if not isinstance(plain, dict):
        raise UserError("the file of groups has no groups", place=str(path), remedy='write {"1": [0, 1]}')
    groups: dict[str, tuple[int, ...]] = {}
    for name, members in plain.items():
        place = f"{path} group {shown(name)}"
        listed = items(members)
        if not 1 <= len(listed) <= MAX_RANKS:
            raise UserError("the group is not a list of ranks", place=place, remedy="write [0, 1]")
        found = tuple(whole("a rank", one, 0, ranks - 1, place) for one in listed)
        if len(set(found)) < len(found):
            raise UserError("the group has a rank twice", place=place, remedy="name each rank once")
        groups[name] = found
    return groups


def trace_of(name: str, rank: int) -> str:
    """The name of a rank's trace after that of rank 0's: `trace.7.et` after `trace.0.et`."""
    return f"{name.removesuffix('.0.et')}.{rank}.et"


def traces(first: Path) -> list[Path]:
    """The traces beside the one of rank 0, by rank; raises UserError for a name of another form."""
    if not first.name.endswith(".0.et"):
        cause = "the name of the file does not end in .0.et"
        raise UserError(cause, place=str(first), remedy="name the trace of rank 0: trace.0.et, beside trace.1.et")
    begin, end = first.name.removesuffix("0.et"), ".et"
    ranks = {0}
    try:
        beside = list(first.parent.iterdir())
    except OSError as error:
        cause = "cannot list the traces beside it"
        raise UserError(cause, place=str(first), remedy="let the folder be listed") from error
    for path in beside:
        word = path.name.removeprefix(begin).removesuffix(end)
        if path.name == f"{begin}{word}{end}" and _RANK.fullmatch(word) and path.is_file():
            ranks.add(int(word))
    found = [first.with_name(trace_of(first.name, rank)) for rank in range(min(len(ranks), MAX_RANKS))]
    for rank, path in enumerate(found):
        if rank not in ranks:
            cause = f"the trace is missing, and that of rank {max(ranks)} is there"
            raise UserError(cause, place=str(path), remedy="give the files of all ranks of one run, from 0 on")
    if len(ranks) > MAX_RANKS:
        raise UserError(f"there are {len(ranks)} traces", place=str(first), remedy=f"give at most {MAX_RANKS}")
    # A trace that is added later makes another job.
    note_absent(first.with_name(trace_of(first.name, len(found))))
    return found
