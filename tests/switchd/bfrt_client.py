"""A client of BF Runtime: messages made from the service's .proto at run time, as any other client makes its own."""

from __future__ import annotations

import json
import queue
import re
from typing import TYPE_CHECKING, Any, Self

import grpc
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

from tests.switchd.namespaces import PATIENCE_S, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTO = ROOT / "engine/bfrt/proto/bfruntime.proto"
PACKAGE = "bfrt_proto"
Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    "uint32": Field.TYPE_UINT32,
    "uint64": Field.TYPE_UINT64,
    "int32": Field.TYPE_INT32,
    "bool": Field.TYPE_BOOL,
    "bytes": Field.TYPE_BYTES,
    "string": Field.TYPE_STRING,
    "float": Field.TYPE_FLOAT,
}


class Reader:
    """Reads the messages and enums of a .proto file; the service's calls are known."""

    def __init__(self, text: str) -> None:
        self.tokens = re.findall(r'"[^"]*"|[\w.]+|[{}=;()]', re.sub(r"//[^\n]*", "", text))
        self.enums: set[str] = set()

    def file(self) -> descriptor_pb2.FileDescriptorProto:
        """The whole file."""
        made = descriptor_pb2.FileDescriptorProto(name="bfruntime.proto", package=PACKAGE, syntax="proto3")
        made.dependency.append("google/rpc/status.proto")
        self.enums = {name for word, name in zip(self.tokens, self.tokens[1:], strict=False) if word == "enum"}
        while self.tokens:
            word = self.tokens.pop(0)
            if word == "message":
                self.message(made.message_type.add())
            elif word == "enum":
                self.enum(made.enum_type.add())
            elif word == "service":
                self.skip_block()
            else:
                self.skip_to(";")
        return made

    def skip_to(self, end: str) -> None:
        while self.tokens.pop(0) != end:
            pass

    def skip_block(self) -> None:
        self.skip_to("{")
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.tokens.pop(0), 0)

    def enum(self, made: descriptor_pb2.EnumDescriptorProto) -> None:
        made.name, _ = self.tokens.pop(0), self.tokens.pop(0)
        while (name := self.tokens.pop(0)) != "}":
            _, number, _ = (self.tokens.pop(0) for _ in range(3))
            made.value.add(name=name, number=int(number))

    def message(self, made: descriptor_pb2.DescriptorProto) -> None:
        made.name, _ = self.tokens.pop(0), self.tokens.pop(0)
        while (word := self.tokens.pop(0)) != "}":
            if word == "message":
                self.message(made.nested_type.add())
            elif word == "enum":
                self.enum(made.enum_type.add())
            elif word == "oneof":
                made.oneof_decl.add(name=self.tokens.pop(0))
                self.tokens.pop(0)
                while (word := self.tokens.pop(0)) != "}":
                    self.field(made.field.add(oneof_index=len(made.oneof_decl) - 1), word)
            else:
                self.field(made.field.add(), word)

    def field(self, made: descriptor_pb2.FieldDescriptorProto, word: str) -> None:
        made.label = Field.LABEL_OPTIONAL
        if word == "repeated":
            made.label, word = Field.LABEL_REPEATED, self.tokens.pop(0)
        name, _, number, _ = (self.tokens.pop(0) for _ in range(4))
        made.name, made.number = name, int(number)
        if word in SCALARS:
            made.type = SCALARS[word]
        else:
            made.type = Field.TYPE_ENUM if word in self.enums else Field.TYPE_MESSAGE
            made.type_name = word


def messages() -> dict[str, Any]:
    """The classes of the service's messages by their names."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    status = descriptor_pb2.FileDescriptorProto(name="google/rpc/status.proto", package="google.rpc", syntax="proto3")
    status.dependency.append("google/protobuf/any.proto")
    of = status.message_type.add(name="Status")
    of.field.add(name="code", number=1, type=Field.TYPE_INT32, label=Field.LABEL_OPTIONAL)
    of.field.add(name="message", number=2, type=Field.TYPE_STRING, label=Field.LABEL_OPTIONAL)
    of.field.add(
        name="details",
        number=3,
        type=Field.TYPE_MESSAGE,
        label=Field.LABEL_REPEATED,
        type_name=".google.protobuf.Any",
    )
    pool.Add(status)
    file = Reader(PROTO.read_text(encoding="utf-8")).file()
    pool.Add(file)
    names = [*(f"{PACKAGE}.{one.name}" for one in file.message_type), "google.rpc.Status"]
    classes = {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}
    return {name.rsplit(".", 1)[1]: made for name, made in classes.items()}


def to_bytes(message: Any) -> bytes:
    return message.SerializeToString()


class Client:
    """A client that is subscribed and bound to a program."""

    def __init__(self, address: str, program: str) -> None:
        self.of = messages()
        self.channel = grpc.insecure_channel(address)
        self.out: queue.Queue[Any] = queue.Queue()
        request, response = self.of["StreamMessageRequest"], self.of["StreamMessageResponse"]
        stream = self.channel.stream_stream(
            f"/{PACKAGE}.BfRuntime/StreamChannel", request.SerializeToString, response.FromString
        )
        self.stream = stream(iter(self.out.get, None))
        subscribe = request(client_id=1)
        subscribe.subscribe.device_id = 0
        self.out.put(subscribe)
        assert next(self.stream).subscribe.status.code == 0
        bind = self.of["SetForwardingPipelineConfigRequest"](client_id=1)
        bind.config.add(p4_name=program)
        self.call("SetForwardingPipelineConfig", bind)
        got = self.call("GetForwardingPipelineConfig", self.of["GetForwardingPipelineConfigRequest"](client_id=1))
        self.tables: dict[str, Any] = {
            table["name"]: table for table in json.loads(got.config[0].bfruntime_info)["tables"]
        }
        self.chip: dict[str, Any] = {
            table["name"]: table for table in json.loads(got.non_p4_config.bfruntime_info)["tables"]
        }

    def call(self, name: str, request: Any) -> Any:
        """A call with one answer."""
        answer = self.of[name + "Response"].FromString
        call: Any = self.channel.unary_unary(f"/{PACKAGE}.BfRuntime/{name}", to_bytes, answer)
        return call(request, timeout=PATIENCE_S)

    def write(
        self,
        kind: str,
        table: dict[str, Any],
        key: dict[str, bytes],
        action: str,
        data: dict[str, bytes],
    ) -> None:
        """One update of an entry with exact keys."""
        request = self.of["WriteRequest"](client_id=1)
        request.target.pipe_id = 0xFFFF
        update = request.updates.add()
        update.type = update.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_name[kind].number
        entry = update.entity.table_entry
        entry.table_id = table["id"]
        for field in table["key"]:
            entry.key.fields.add(field_id=field["id"]).exact.value = key[field["name"]]
        if action:
            spec = next(one for one in table["action_specs"] if one["name"].endswith(action))
            entry.data.action_id = spec["id"]
            for field in spec["data"]:
                entry.data.fields.add(field_id=field["id"]).stream = data[field["name"]]
        self.call("Write", request)

    def entries(self, table: dict[str, Any]) -> Iterator[Any]:
        """All entries of a table but the default one."""
        request = self.of["ReadRequest"](client_id=1)
        request.target.pipe_id = 0xFFFF
        entry = request.entities.add().table_entry
        entry.table_id = table["id"]
        entry.table_flags.from_hw = True
        read: Any = self.channel.unary_stream(
            f"/{PACKAGE}.BfRuntime/Read", to_bytes, self.of["ReadResponse"].FromString
        )
        for answer in read(request, timeout=PATIENCE_S):
            yield from (one.table_entry for one in answer.entities if not one.table_entry.is_default_entry)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.out.put(None)
        self.channel.close()
