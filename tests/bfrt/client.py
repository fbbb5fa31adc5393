"""A small client of BF Runtime: names by bf-rt.json, values as numbers."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from finsy.proto import rpc_status

from tests.bfrt.wire import MESSAGES, PACKAGE

ALL_PIPES = 0xFFFF
ANY = 0xFF
#: Longest wait for what takes milliseconds on an idle machine.
PATIENCE_S = 20.0

Value = int | str | bool | list[int] | list[bool]
Key = Mapping[str, int | tuple[int, int]]
"""A number for exact keys; value and mask, value and length of the prefix, or both ends of a range."""


@dataclass
class Row:
    """An entry as it was read."""

    key: dict[str, Any]
    action: str
    data: dict[str, Any]


class RefusedError(Exception):
    """A batch that failed: the codes of its updates or entities in order."""

    def __init__(self, codes: list[int], messages: list[str]) -> None:
        super().__init__(f"{codes} {messages}")
        self.codes = codes


class Table:
    """A table of bf-rt.json."""

    def __init__(self, info: dict[str, Any]) -> None:
        self.info = info
        self.id: int = info["id"]
        self.keys = {key["name"]: key for key in info["key"]}
        self.actions = {action["name"]: action for action in info.get("action_specs", [])}

    def action(self, end: str) -> dict[str, Any]:
        return next(action for name, action in self.actions.items() if name.endswith(end))

    def fields(self, action: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
        data = (action["data"] if action else []) + self.info["data"]
        found: dict[str, dict[str, Any]] = {}
        for one in data:
            for field in one.get("oneof", [one.get("singleton", one)]):
                found.setdefault(field["name"], field)
        return found

    def field(self, action: dict[str, Any] | None, end: str) -> dict[str, Any]:
        fields = self.fields(action)
        return fields.get(end) or next(field for name, field in fields.items() if name.endswith(f".{end}"))


def width(kind: dict[str, Any]) -> int:
    """Bytes of a number on the wire."""
    if kind["type"] == "bytes":
        return (int(kind["width"]) + 7) // 8
    return int(kind["type"].removeprefix("u").removeprefix("int")) // 8


def serialized(message: Any) -> bytes:
    return message.SerializeToString()


class Client:
    """A client with a stream of its own, bound to the device's program."""

    def __init__(self, address: str, client_id: int = 1) -> None:
        self.id = client_id
        self.channel = grpc.insecure_channel(address)
        self.sent: queue.Queue[Any] = queue.Queue()
        self.heard: queue.Queue[Any] = queue.Queue()
        stream = self.channel.stream_stream(
            f"/{PACKAGE}.BfRuntime/StreamChannel",
            request_serializer=serialized,
            response_deserializer=MESSAGES["StreamMessageResponse"].FromString,
        )(iter(self.sent.get, None))
        threading.Thread(target=self._listen, args=(stream,), daemon=True).start()
        subscribe = MESSAGES["StreamMessageRequest"](client_id=client_id)
        notifications = subscribe.subscribe.notifications
        notifications.enable_learn_notifications = True
        notifications.enable_idletimeout_notifications = True
        self.sent.put(subscribe)
        assert self.hear("subscribe").status.code == 0
        config = self.call("GetForwardingPipelineConfig", client_id=client_id)
        self.name: str = config.config[0].p4_name
        self.program = json.loads(config.config[0].bfruntime_info)
        self.chip = json.loads(config.non_p4_config.bfruntime_info)
        tables = self.program["tables"] + self.chip["tables"]
        self.tables = {table["name"]: Table(table) for table in tables}
        bind = MESSAGES["SetForwardingPipelineConfigRequest"](client_id=client_id)
        bind.config.add().p4_name = self.name
        self.call("SetForwardingPipelineConfig", bind)

    def _listen(self, stream: Any) -> None:
        try:
            for message in stream:
                self.heard.put(message)
        except grpc.RpcError:
            pass  # The test is over.

    def close(self) -> None:
        self.sent.put(None)
        self.channel.close()

    def hear(self, what: str) -> Any:
        """The next message of a kind."""
        message = self.heard.get(timeout=PATIENCE_S)
        assert message.WhichOneof("update") == what, message
        return getattr(message, what)

    def call(self, name: str, request: Any = None, /, **fields: Any) -> Any:
        request = request or MESSAGES[f"{name}Request"](**fields)
        response = MESSAGES[f"{name}Response"].FromString
        make = self.channel.unary_stream if name == "Read" else self.channel.unary_unary
        method: Any = make(
            f"/{PACKAGE}.BfRuntime/{name}",
            request_serializer=serialized,
            response_deserializer=response,
        )
        try:
            answer = method(request, timeout=PATIENCE_S)
            return list(answer) if name == "Read" else answer
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNKNOWN:
                raise
            raise self._refused(error) from error

    @staticmethod
    def _refused(error: Any) -> RefusedError:
        trailers = dict(error.trailing_metadata())
        status = rpc_status.Status.FromString(trailers["grpc-status-details-bin"])
        errors: list[Any] = []
        for detail in status.details:
            one = MESSAGES["Error"]()
            assert detail.Unpack(one)
            errors.append(one)
        return RefusedError([one.canonical_code for one in errors], [one.message for one in errors])

    def table(self, end: str) -> Table:
        return self.tables.get(end) or next(t for name, t in self.tables.items() if name.endswith(f".{end}"))

    def _request(self, name: str, pipe: int) -> Any:
        request = MESSAGES[f"{name}Request"](client_id=self.id)
        request.target.pipe_id, request.target.direction, request.target.prsr_id = pipe, ANY, ANY
        return request

    @staticmethod
    def _put_key(table: Table, entry: Any, key: Key) -> None:
        for name, value in key.items():
            info = table.keys[name]
            size = width(info["type"])
            field = entry.key.fields.add(field_id=info["id"])
            first, second = value if isinstance(value, tuple) else (value, 0)
            match info["match_type"]:
                case "Ternary":
                    field.ternary.value = first.to_bytes(size)
                    field.ternary.mask = second.to_bytes(size)
                case "LPM":
                    field.lpm.value = first.to_bytes(size)
                    field.lpm.prefix_len = second
                case "Range":
                    field.range.low = first.to_bytes(size)
                    field.range.high = second.to_bytes(size)
                case _:
                    field.exact.value = first.to_bytes(size)

    @staticmethod
    def _put_data(table: Table, entry: Any, action: str, data: Mapping[str, Value]) -> None:
        spec = table.action(action) if action else None
        if spec:
            entry.data.action_id = spec["id"]
        for name, value in data.items():
            info = table.field(spec, name)
            field = entry.data.fields.add(field_id=info["id"])
            match value:
                case bool():
                    field.bool_val = value
                case str():
                    field.str_val = value
                case int():
                    field.stream = value.to_bytes(width(info["type"]))
                case [bool(), *_]:
                    field.bool_arr_val.val.extend(value)
                case _:
                    field.int_arr_val.val.extend(value)

    def write(
        self,
        verb: str,
        name: str,
        keys: Sequence[Key | None] = (None,),
        action: str = "",
        data: Mapping[str, Value] | None = None,
        pipe: int = ALL_PIPES,
        whole: bool = False,
    ) -> None:
        """One update for each key; a key of None stands for the whole table."""
        table, request = self.table(name), self._request("Write", pipe)
        request.atomicity = request.ROLLBACK_ON_ERROR if whole else request.CONTINUE_ON_ERROR
        for key in keys:
            update = request.updates.add()
            update.type = getattr(update, verb)
            entry = update.entity.table_entry
            entry.table_id = table.id
            if key is not None:
                self._put_key(table, entry, key)
            if data is not None or action:
                self._put_data(table, entry, action, data or {})
        self.call("Write", request)

    def set_scope(self, name: str, mode: str) -> None:
        table, request = self.table(name), self._request("Write", ALL_PIPES)
        update = request.updates.add()
        update.type = update.INSERT
        attribute = update.entity.table_attribute
        attribute.table_id = table.id
        scope = attribute.entry_scope.pipe_scope
        scope.predef = getattr(scope, mode)
        self.call("Write", request)

    def run(self, name: str, operation: str) -> None:
        """Runs an operation of a table."""
        request = self._request("Write", ALL_PIPES)
        update = request.updates.add()
        update.type = update.INSERT
        update.entity.table_operation.table_id = self.table(name).id
        update.entity.table_operation.table_operations_type = operation
        self.call("Write", request)

    def usage(self, name: str, pipe: int = ALL_PIPES) -> int:
        request = self._request("Read", pipe)
        request.entities.add().table_usage.table_id = self.table(name).id
        (answer,) = self.call("Read", request)
        return answer.entities[0].table_usage.usage

    def read(self, name: str, key: Key | None = None, pipe: int = ALL_PIPES, from_hw: bool = True) -> list[Row]:
        """All entries but the default one, or that of a key."""
        table, request = self.table(name), self._request("Read", pipe)
        entry = request.entities.add().table_entry
        entry.table_id = table.id
        entry.table_flags.from_hw = from_hw
        if key is not None:
            self._put_key(table, entry, key)
        entities = (entity for answer in self.call("Read", request) for entity in answer.entities)
        rows = (entity.table_entry for entity in entities)
        return [self._row(table, entry) for entry in rows if not entry.is_default_entry]

    @staticmethod
    def _row(table: Table, entry: Any) -> Row:
        key_names = {key["id"]: name for name, key in table.keys.items()}
        key: dict[str, Any] = {}
        for field in entry.key.fields:
            kind = field.WhichOneof("match_type")
            one = getattr(field, kind)
            number = {"ternary": ("value", "mask"), "range": ("low", "high")}.get(kind, ("value",))
            values: list[int] = [int.from_bytes(getattr(one, part)) for part in number]
            values += [one.prefix_len] if kind == "lpm" else []
            key[key_names[field.field_id]] = values[0] if len(values) == 1 else tuple(values)
        spec = next((a for a in table.actions.values() if a["id"] == entry.data.action_id), None)
        names = {field["id"]: name for name, field in table.fields(spec).items()}
        data: dict[str, list[Any]] = {}
        for field in entry.data.fields:
            Client._add(data, names[field.field_id], field)
        single = {name: values[0] if len(values) == 1 else values for name, values in data.items()}
        return Row(key, spec["name"] if spec else "", single)

    @staticmethod
    def _add(data: dict[str, list[Any]], name: str, field: Any) -> None:
        """A register's field comes once for each pipe."""
        kind = field.WhichOneof("value")
        value = getattr(field, kind)
        if kind == "stream":
            value = int.from_bytes(value)
        elif kind.endswith("_arr_val"):
            value = list(value.val)
        data.setdefault(name, []).append(value)
