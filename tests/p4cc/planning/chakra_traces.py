"""Writes small execution traces in Chakra's wire format, byte by byte, so that no reader's schema is used."""

from __future__ import annotations

METADATA, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 4, 5, 6, 7
ALL_REDUCE, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER = 0, 2, 6, 7


def varint(value: int) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    out = b""
    # A negative number has ten bytes.
    value &= (1 << 64) - 1
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field: int, value: int) -> bytes:
    """A field with a number."""
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes) -> bytes:
    """A field with a length: text, or a message."""
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name: str, value: int | bool | str | list[bool]) -> bytes:
    """An attribute of a node: a bool, an int64, a string or a list of bools."""
    if isinstance(value, list):
        held = data(28, data(1, bytes(value)))
    elif isinstance(value, str):
        held = data(29, value.encode())
    else:
        held = number(27 if isinstance(value, bool) else 9, int(value))
    return data(10, data(1, name.encode()) + held)


def groups(text: str) -> bytes:
    """A node of metadata that has process groups."""
    body = number(1, 99) + number(3, METADATA) + data(8, data(1, text.encode()))
    return varint(len(body)) + body


def node(
    identifier: int,
    kind: int,
    *,
    after: tuple[int, ...] = (),
    micros: int = 0,
    **attributes: int | bool | str | list[bool],
) -> bytes:
    """A node with its length."""
    body = number(1, identifier) + data(2, f"node{identifier}".encode()) + number(3, kind)
    body += data(5, b"".join(map(varint, after))) if after else b""
    body += number(7, micros) if micros else b""
    body += b"".join(attribute(name, value) for name, value in attributes.items())
    return varint(len(body)) + body


def head() -> bytes:
    """The metadata of a trace."""
    body = data(1, b"0.0.4")
    return varint(len(body)) + body


def trace(rank: int, ranks: int) -> list[bytes]:
    """Metadata and nodes of a rank: it computes, reduces with the others, sends to the next one and receives."""
    nodes = [head(), node(1, METADATA), node(2, COMPUTE, micros=50, is_cpu_op=False)]
    nodes.append(node(3, COLLECTIVE, after=(2,), comm_type=ALL_REDUCE, comm_size=400_000))
    if ranks > 1:
        nodes.append(node(4, SEND, after=(3,), comm_dst=(rank + 1) % ranks, comm_size=30_000, comm_tag=5))
        nodes.append(node(5, RECEIVE, after=(3,), comm_src=(rank - 1) % ranks, comm_size=30_000, comm_tag=5))
        nodes.append(node(6, COMPUTE, after=(5,), micros=20 + rank))
    return nodes
