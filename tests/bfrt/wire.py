"""Messages of BF Runtime, made of the engine's own .proto file: there is no protoc among our tools.

Only what that file has is read: messages within messages, enumerations, oneofs and repeated fields.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from finsy.proto import rpc_status
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PROTO = Path(__file__).resolve().parents[2] / "engine/bfrt/proto/bfruntime.proto"
PACKAGE = "bfrt_proto"

Field = descriptor_pb2.FieldDescriptorProto
SCALARS = {
    name: getattr(Field, f"TYPE_{name.upper()}")
    for name in ("bool", "bytes", "double", "float", "int32", "int64", "string", "uint32", "uint64")
}
TOKEN = re.compile(r'"[^"]*"|[\w.]+|[{}=;]')


class Reader:
    """Reads the words of a file one by one."""

    def __init__(self, text: str) -> None:
        self.words = TOKEN.findall(re.sub(r"//[^\n]*", "", text))
        self.at = 0

    def take(self, expected: str | None = None) -> str:
        word = self.words[self.at]
        assert expected in (None, word), f"word {self.at} of {PROTO.name} is {word}, not {expected}"
        self.at += 1
        return word

    def file(self) -> descriptor_pb2.FileDescriptorProto:
        file = descriptor_pb2.FileDescriptorProto(name=PROTO.name, package=PACKAGE, syntax="proto3")
        file.dependency.append("google/rpc/status.proto")
        while self.at < len(self.words):
            match self.take():
                case "message":
                    self.message(file.message_type.add())
                case "enum":
                    self.enumeration(file.enum_type.add())
                case "service":
                    self.skip_block()
                case _:
                    self.skip_statement()
        return file

    def skip_statement(self) -> None:
        while self.take() != ";":
            pass

    def skip_block(self) -> None:
        while self.take() != "}":
            pass

    def enumeration(self, of: descriptor_pb2.EnumDescriptorProto) -> None:
        of.name = self.take()
        self.take("{")
        while (name := self.take()) != "}":
            self.take("=")
            of.value.add(name=name, number=int(self.take()))
            self.take(";")

    def message(self, of: descriptor_pb2.DescriptorProto) -> None:
        of.name = self.take()
        self.take("{")
        while (word := self.take()) != "}":
            match word:
                case "message":
                    self.message(of.nested_type.add())
                case "enum":
                    self.enumeration(of.enum_type.add())
                case "oneof":
                    of.oneof_decl.add(name=self.take())
                    self.take("{")
                    while (kind := self.take()) != "}":
                        self.field(of, kind).oneof_index = len(of.oneof_decl) - 1
                case "repeated":
                    self.field(of, self.take()).label = Field.LABEL_REPEATED
                case kind:
                    self.field(of, kind)

    def field(self, of: descriptor_pb2.DescriptorProto, kind: str) -> descriptor_pb2.FieldDescriptorProto:
        field = of.field.add(name=self.take(), label=Field.LABEL_OPTIONAL)
        self.take("=")
        field.number = int(self.take())
        self.take(";")
        if kind in SCALARS:
            field.type = SCALARS[kind]
        else:
            # The pool finds out whether it is a message or an enumeration.
            field.type_name = kind
        return field


def _messages() -> dict[str, Any]:
    pool = descriptor_pool.Default()
    # What the file imports stands there since finsy was loaded.
    pool.FindFileByName(rpc_status.Status.DESCRIPTOR.file.name)
    pool.Add(Reader(PROTO.read_text()).file())
    file = pool.FindFileByName(PROTO.name)
    return {
        name: message_factory.GetMessageClass(descriptor) for name, descriptor in file.message_types_by_name.items()
    }


MESSAGES = _messages()
"""Each message of the file by its name."""
