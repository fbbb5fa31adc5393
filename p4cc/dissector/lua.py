"""Values as Lua source: texts of any content stay texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from p4cc.json_data import JsonValue

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.-[]()/,:")


def literal(value: JsonValue) -> str:
    """A number, text, truth value, list or mapping as Lua; None is `false`, so that lists keep their length."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{text(key)}]={literal(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ", ".join(map(literal, value)) + "}"
    raise TypeError(f"{value!r} is not a value of Lua tables")


def text(value: str) -> str:
    """A text; bytes with a special meaning in Lua become decimal escapes."""
    letters = ((byte, chr(byte)) for byte in value.encode("utf-8", "surrogatepass"))
    return '"' + "".join(letter if letter in _PLAIN else f"\\{byte:03}" for byte, letter in letters) + '"'
