"""A Thrift client small enough to read: strict binary protocol, values given with their types."""

from __future__ import annotations

import socket
import struct
from typing import Any, Self

#: Type codes, and the formats of those that are numbers.
FORMATS = {2: ">?", 3: ">b", 4: ">d", 6: ">h", 8: ">i", 10: ">q"}
BOOL, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, LIST = 2, 4, 6, 8, 10, 11, 12, 13, 15


class RefusedError(Exception):
    """The exception that a call declares, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"code {code}")
        self.code = code


class FailedError(Exception):
    """An application exception."""


def i32(value: int) -> tuple[int, Any]:
    return I32, value


def i64(value: int) -> tuple[int, Any]:
    return I64, value


def text(value: str | bytes) -> tuple[int, Any]:
    return STRING, value.encode() if isinstance(value, str) else value


def structure(fields: dict[int, tuple[int, Any]]) -> tuple[int, Any]:
    return STRUCT, fields


def items(kind: int, values: list[Any]) -> tuple[int, Any]:
    return LIST, (kind, values)


def encode(kind: int, value: Any) -> bytes:
    if kind in FORMATS:
        return struct.pack(FORMATS[kind], value)
    if kind == STRING:
        return struct.pack(">i", len(value)) + value
    if kind == STRUCT:
        fields = b"".join(struct.pack(">bh", of, number) + encode(of, field) for number, (of, field) in value.items())
        return fields + b"\0"
    assert kind == LIST
    of, values = value
    return struct.pack(">bi", of, len(values)) + b"".join(encode(of, one) for one in values)


class Client:
    """A connection to the calls of one service."""

    def __init__(self, port: int, service: str = "standard") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.stream = self.socket.makefile("rb")
        self.service = service

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self.socket.close()

    def call(self, name: str, *args: tuple[int, Any]) -> Any:
        """Calls a method with arguments 1, 2, ...; its result."""
        full = f"{self.service}:{name}".encode()
        body = encode(STRUCT, dict(enumerate(args, start=1)))
        self.socket.sendall(struct.pack(">Ii", 0x80010001, len(full)) + full + struct.pack(">i", 1) + body)
        kind = self.read(">I") & 0xFF
        assert self.decode(STRING).decode() == name
        assert self.read(">i") == 1
        fields = self.decode(STRUCT)
        if kind == 3:
            raise FailedError(fields[1].decode())
        if 1 in fields:
            raise RefusedError(fields[1][1])
        return fields.get(0)

    def read(self, form: str) -> Any:
        return struct.unpack(form, self.stream.read(struct.calcsize(form)))[0]

    def decode(self, kind: int) -> Any:
        if kind in FORMATS:
            return self.read(FORMATS[kind])
        if kind == STRING:
            return self.stream.read(self.read(">i"))
        if kind == LIST:
            of = self.read(">b")
            return [self.decode(of) for _ in range(self.read(">i"))]
        if kind == MAP:
            key, of = self.read(">b"), self.read(">b")
            return {self.decode(key): self.decode(of) for _ in range(self.read(">i"))}
        fields: dict[int, Any] = {}
        while of := self.read(">b"):
            number = self.read(">h")
            fields[number] = self.decode(of)
        return fields
