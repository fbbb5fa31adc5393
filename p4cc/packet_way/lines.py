"""The way of a packet as lines: blocks, states, tables with their entry, actions, and what each changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.running.trace_text import step_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_BITS = 8
"""Most bits of a key that are named one by one."""


@dataclass(frozen=True)
class Line:
    """A line of the way."""

    depth: int
    """0 for blocks and queues, 1 for what happens there, 2 for what follows from it."""
    kind: str
    """`block`, `step`, `hit`, `miss`, `change`, `lost` or `sent`."""
    text: str
    place: str = ""
    """File and line of what it names."""

    def __str__(self) -> str:
        """Text and place."""
        return f"{self.text}  ({self.place})" if self.place else self.text


def packet_text(packet: Mapping[str, Any]) -> str:
    """The way of one packet of `CompiledProgram.trace_stf` as text."""
    heads = (f"line {packet['line']}: {len(packet['bytes']) // 2} bytes into port {packet['port']}",)
    rest = (in_words(packet["bytes"]), *(f"{'  ' * line.depth}{line}" for line in lines(packet)))
    return "\n".join((*heads, *(f"  {text}" for text in rest)))


def lines(packet: Mapping[str, Any]) -> Iterator[Line]:
    """The lines of one packet of `CompiledProgram.trace_stf`."""
    for step in in_order(packet["steps"]):
        if step["step"] not in ("received", "sent"):
            yield from step_lines(step)
    if left_out := packet.get("steps_left_out"):
        yield Line(0, "lost", f"... and {left_out} more steps")
    for sent in packet["sent"]:
        size = len(sent["bytes"]) // 2
        yield Line(0, "sent", f"sent out of port {sent['port']}, {size} bytes")
        yield Line(1, "sent", in_words(sent["bytes"]))


def step_lines(step: Mapping[str, Any]) -> Iterator[Line]:
    """The lines of one step."""
    place = step.get("place", "")
    match step["step"]:
        case "entered":
            yield Line(0, "block", step["block"], place)
        case "changed":
            yield from _changes(step)
        case "table":
            yield Line(1, "hit" if step["hit"] else "miss", step_text(step), place)
            yield from _entry(step)
        case "dropped" | "parser_error":
            yield Line(1, "lost", step_text(step))
        case "received" | "enqueued" | "deflected" | "dequeued" | "to_controller" | "sent":
            yield Line(0, "block", step_text(step))
        case _:
            yield Line(1, "step", step_text(step), place)


def in_order(steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The steps with the parser's error, which the switch counts after ingress, where the parser ended."""
    errors = [step for step in steps if step["step"] == "parser_error"]
    others = [step for step in steps if step["step"] != "parser_error"]
    parser_end = next((at for at, step in enumerate(others) if step["step"] == "entered"), len(others))
    return [*others[:parser_end], *errors, *others[parser_end:]]


def in_words(digits: str) -> str:
    """Hexadecimal digits in groups of four bytes."""
    return " ".join(digits[at : at + 8] for at in range(0, len(digits), 8))


def _changes(step: Mapping[str, Any]) -> Iterator[Line]:
    """A header that became valid is one line with its fields; other values have a line each."""
    values: list[Mapping[str, Any]] = step["values"]
    for header in step["headers"]:
        name = header["header"]
        if not header["valid"]:
            yield Line(2, "change", f"{name} becomes invalid")
            continue
        fields = [one for one in values if one["before"] is None and _belongs(one["name"], name)]
        values = [one for one in values if one not in fields]
        texts = (f"{one['name'].removeprefix(name + '.')} {one['after']}" for one in fields)
        yield Line(2, "change", f"{name} becomes valid: {', '.join(texts)}".removesuffix(": "))
    for one in values:
        before = "" if one["before"] is None else f"{one['before']} -> "
        yield Line(2, "change", f"{one['name']} {before}{one['after']}")


def _belongs(field: str, header: str) -> bool:
    return field.rpartition(".")[0] == header


def _entry(step: Mapping[str, Any]) -> Iterator[Line]:
    """The entry that matched; on a miss the nearest one and what differs."""
    entry = step.get("entry")
    count = step.get("entries") or 0
    if entry is None:
        yield Line(2, "miss", "the table has no entries" if not count else f"{counted(count)}, none compared")
        return
    text = f"{', '.join(entry['keys']) or 'no key'} -> {entry['action']}"
    if step["hit"]:
        yield Line(2, "hit", f"entry {text}")
        return
    yield Line(2, "miss", f"closest of {counted(count)}: {text}")
    for one in entry["differs"]:
        yield Line(2, "miss", f"  {one['key']} {_difference(one['bits'])}")


def counted(entries: int) -> str:
    """`1 entry`, `3 entries`."""
    return "1 entry" if entries == 1 else f"{entries} entries"


def _difference(bits: Sequence[int]) -> str:
    if not bits:
        return "is not within the range"
    if len(bits) > MAX_BITS:
        return f"differs in {len(bits)} bits"
    named = ", ".join(map(str, bits))
    return f"differs in bit {named}" if len(bits) == 1 else f"differs in bits {named}"
