"""Thrift classes from a description in words, made when they are imported.

A description has a line for each thing:

    enum Name VALUE VALUE=100 ...          numbered from 1, or from the number given
    struct Name field:type field:type ...  fields numbered from 1
    exception Name field:type ...
    call name:type field:type ... !Name    its result, its arguments, the exception that it declares

An indented line continues the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from thrift.protocol.TBase import TBase
from thrift.Thrift import TApplicationException, TException, TMessageType, TType

_PLAIN: dict[str, tuple[int, Any]] = {
    "bool": (TType.BOOL, None),
    "i16": (TType.I16, None),
    "i32": (TType.I32, None),
    "i64": (TType.I64, None),
    "double": (TType.DOUBLE, None),
    "string": (TType.STRING, "UTF8"),
    "binary": (TType.STRING, "BINARY"),
    "names": (TType.MAP, (TType.STRING, "UTF8", TType.STRING, "UTF8", False)),
}


class Struct(TBase):
    """A struct, made by fields in order or by their names."""

    thrift_spec: tuple[Any, ...] = (None,)

    def __init__(self, *values: Any, **named: Any) -> None:
        names = [spec[2] for spec in self.thrift_spec[1:]]
        given = dict(zip(names, values, strict=False)) | named
        for name in names:
            setattr(self, name, given.get(name))

    def __repr__(self) -> str:
        fields = ", ".join(f"{spec[2]}={getattr(self, spec[2])!r}" for spec in self.thrift_spec[1:])
        return f"{type(self).__name__}({fields})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and vars(self) == vars(other)

    __hash__ = None


class Raised(Struct, TException):
    """An exception that a call declares."""

    def __init__(self, *values: Any, **named: Any) -> None:
        Struct.__init__(self, *values, **named)


def types(text: str) -> dict[str, Any]:
    """The enums, structs and exceptions of a description, by name."""
    made: dict[str, Any] = {}
    for line in _lines(text):
        kind, name, *words = line.split()
        if kind == "enum":
            made[name] = _enum(name, words)
        else:
            base = Raised if kind == "exception" else Struct
            made[name] = type(name, (base,), {"thrift_spec": _specs(words, made)})
    return made


def client(text: str, known: dict[str, Any]) -> type:
    """The client of a service whose calls a description has."""
    calls: dict[str, Any] = {}
    for line in _lines(text):
        _, head, *words = line.split()
        name, result = head.split(":")
        declared = [f"ouch:{word[1:]}" for word in words if word.startswith("!")]
        fields = [word for word in words if not word.startswith("!")]
        arguments = type(f"{name}_args", (Struct,), {"thrift_spec": _specs(fields, known)})
        success = None if result == "void" else _spec(0, "success", result, known)
        answer = type(f"{name}_result", (Struct,), {"thrift_spec": (success, *_specs(declared, known)[1:])})
        calls[name] = _call(name, arguments, answer)
    return type("Client", (_Client,), calls)


def _lines(text: str) -> list[str]:
    return text.strip().replace("\n    ", " ").splitlines()


class _Client:
    def __init__(self, iprot: Any, oprot: Any = None) -> None:
        self._iprot = iprot
        self._oprot = oprot or iprot


def _call(name: str, arguments: type, answer: type) -> Callable[..., Any]:
    def call(self: Any, *values: Any, **named: Any) -> Any:
        to, source = self._oprot, self._iprot
        to.writeMessageBegin(name, TMessageType.CALL, 0)
        arguments(*values, **named).write(to)
        to.writeMessageEnd()
        to.trans.flush()
        _, kind, _ = source.readMessageBegin()
        if kind == TMessageType.EXCEPTION:
            failed = TApplicationException()
            failed.read(source)
            source.readMessageEnd()
            raise failed
        result: Any = _Result()
        source.readStruct(result, answer.thrift_spec)
        source.readMessageEnd()
        if getattr(result, "ouch", None) is not None:
            raise result.ouch
        return getattr(result, "success", None)

    call.__name__ = name
    return call


class _Result:
    """What an answer is read into: a result, an exception, or nothing."""


def _enum(name: str, words: Iterable[str]) -> type:
    values: dict[str, int] = {}
    number = 0
    for word in words:
        value, _, given = word.partition("=")
        number = int(given) if given else number + 1
        values[value] = number
    names = {number: value for value, number in values.items()}
    return type(name, (), {**values, "_VALUES_TO_NAMES": names, "_NAMES_TO_VALUES": values})


def _type(word: str, known: dict[str, Any]) -> tuple[int, Any]:
    if word in _PLAIN:
        return _PLAIN[word]
    if word.startswith("list<"):
        kind, spec = _type(word[len("list<") : -1], known)
        return TType.LIST, (kind, spec, False)
    of = known[word]
    return (TType.I32, None) if hasattr(of, "_VALUES_TO_NAMES") else (TType.STRUCT, [of, of.thrift_spec])


def _spec(number: int, name: str, word: str, known: dict[str, Any]) -> tuple[Any, ...]:
    kind, spec = _type(word, known)
    return (number, kind, name, spec, None)


def _specs(words: Iterable[str], known: dict[str, Any]) -> tuple[Any, ...]:
    pairs = (word.split(":") for word in words)
    return (None, *(_spec(number, name, word, known) for number, (name, word) in enumerate(pairs, 1)))
