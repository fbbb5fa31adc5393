"""A trace as text: a line for each step of a packet, under its time and place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from p4cc.running.packet_trace import PacketTrace

_CAUSES = {
    "queue_full": "tail drop, the queue is full",
    "ingress": "dropped by the program in ingress",
    "egress": "dropped by the program in egress",
    "no_pipeline": "dropped, the switch has no program",
    "no_such_port": "dropped, there is no such port",
    "no_replicas": "dropped, its multicast group or clone session has no replicas",
    "pass_limit": "dropped at the limit of copies and passes (switch.pass_limit)",
    "too_long": "dropped, it is too long",
    "controller_queue": "dropped, too many packets wait for the controller",
    "shared_buffer": "dropped, the shared buffer has no room",
    "headroom": "dropped, the headroom is full",
}
"""Descriptions of causes of drops, by column of `port_queues`."""


def trace_lines(traced: PacketTrace) -> Iterator[str]:
    """The lines: packets as headings, places of a packet by time, and what was left out."""
    packet, at = None, None
    for step in traced.steps:
        if step["packet"] != packet:
            if packet is not None:
                yield ""
            packet, at = step["packet"], None
        if (step["time_ns"], step["node"]) != at:
            at = step["time_ns"], step["node"]
            yield f"packet {packet}  {step['time_ns']:>14,} ns  {step['node']}"
        yield f"    {step_text(step)}"
    if traced.packets_left_out:
        yield f"... and {traced.packets_left_out} more packets that were asked for"
    if traced.steps_left_out:
        yield f"... and {traced.steps_left_out} more steps; --trace-limit prints more"


def step_text(step: Mapping[str, Any]) -> str:
    """Text of one step."""
    text = _TEXTS.get(step["step"])
    return _other(step) if text is None else text(step)


def _named(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _leaves(step: Mapping[str, Any]) -> str:
    of = f"{step['kind']} packet {step['number']} of flow {step['flow_id']}" if step["kind"] == "data" else ""
    of = of or (f"ACK {step['number']} of flow {step['flow_id']}" if step["kind"] else f"packet {step['number']}")
    return f"sends {of}, {step['bytes']} bytes"


def _table(step: Mapping[str, Any]) -> str:
    key = f" ({_named(step['key'])})" if step["key"] else ""
    return f"table {step['table']}{key}: {'hit' if step['hit'] else 'miss'}"


def _action(step: Mapping[str, Any]) -> str:
    return f"action {step['action']}({_named(step['args'])})"


def _dropped(step: Mapping[str, Any]) -> str:
    cause = _CAUSES.get(step["cause"], f"dropped, {step['cause']}")
    return f"{cause} (port {step['port']}, priority {step['priority']})"


def _dequeued(step: Mapping[str, Any]) -> str:
    depths = f"enq_qdepth {step['enq_qdepth']}, deq_qdepth {step['deq_qdepth']}"
    return f"leaves the queue of port {step['port']}, priority {step['priority']}: {depths}"


def _meter(step: Mapping[str, Any]) -> str:
    cell = "" if step.get("index") is None else f"[{step['index']}]"
    return f"meter {step['meter']}{cell}: {step['color'] or 'no such cell'}"


def _register(step: Mapping[str, Any]) -> str:
    cell = f"register {step['register']}[{step['index']}]"
    if step["value"] is None:
        return f"{cell}: no such cell, {'nothing is written' if step['writes'] else 'reads as 0'}"
    return f"{cell} becomes {step['value']}" if step["writes"] else f"{cell} is {step['value']}"


def _other(step: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in step.items() if name not in ("packet", "time_ns", "node", "step")}
    return f"{step['step']} {_named(rest)}".rstrip()


_TEXTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "leaves_host": _leaves,
    "lost": lambda step: f"lost on the link {step['link']}",
    "delivered": lambda _: "delivered",
    "received": lambda step: f"received on port {step['port']}, {step['bytes']} bytes",
    "entered": lambda step: f"enters {step['block']}",
    "state": lambda step: f"parser state {step['state']}",
    "parser_error": lambda step: f"parser error {step['error']}",
    "table": _table,
    "action": _action,
    "meter": _meter,
    "register": _register,
    "enqueued": lambda step: f"waits in the queue of port {step['port']}, priority {step['priority']}",
    "deflected": lambda step: (
        f"finds the queue of port {step['port']}, priority {step['priority']}, full and runs through ingress once more"
    ),
    "dequeued": _dequeued,
    "dropped": _dropped,
    "to_controller": lambda step: f"goes to the controller (port {step['port']})",
    "sent": lambda step: f"sent out of port {step['port']}, {step['bytes']} bytes",
}
