"""Values as Lua source: texts of any content stay texts."""

from __future__ import annotations

from typing import Any, cast

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.-[]()/,:")


def literal(value: Any) -> str:
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
        items = cast("dict[str, Any]", value).items()
        return "{" + ", ".join(f"[{text(key)}]={literal(one)}" for key, one in items) + "}"
    return "{" + ", ".join(map(literal, cast("list[Any]", value))) + "}"


def text(value: str) -> str:
    """A text; each byte that Lua could take for something else stands as a decimal escape."""
    letters = ((byte, chr(byte)) for byte in value.encode("utf-8", "surrogatepass"))
    return '"' + "".join(letter if letter in _PLAIN else f"\\{byte:03}" for byte, letter in letters) + '"'
