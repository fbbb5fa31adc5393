"""Connection matrices of htsim, its `.cm` files (docs/algorithms/traffic.md#connection-matrix).

    Nodes 16
    Connections 2
    7->5 id 1 start 0 size 2000000
    5->7 start 1000000 size 0

`start` is in picoseconds, as that simulator's `ConnectionMatrix::load` reads it, and `size` in bytes; a flow of size 0
never ends. A flow with `trigger` starts when that trigger fires, and one with `send_done_trigger` or
`recv_done_trigger` activates one when all is acknowledged, or has arrived:

    7->5 id 1 start 0 size 2000000 send_done_trigger 1
    7->6 id 2 trigger 1 size 2000000
    trigger id 1 oneshot

Messages of one connection and failed links are refused with their line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.planning.operation_graph import OperationGraph
from p4cc.planning.whole_numbers import whole_word
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc import spec

MAX_FLOWS = 1_000_000
MAX_NODES = 1_000_000
MAX_WAITS = 4_000_000
_PS_PER_NS = 1_000
_ENDS = re.compile(r"([0-9]{1,9})->([0-9]{1,9})", re.ASCII)
_FRACTION = re.compile(r"[0-9]{1,18}\.0*[1-9][0-9]*", re.ASCII)
_HEADER = {"Nodes": MAX_NODES, "Connections": MAX_FLOWS, "Triggers": MAX_FLOWS, "Failures": MAX_FLOWS}
_MAX_ID = 10**9
_SEND_DONE, _RECV_DONE = "send_done_trigger", "recv_done_trigger"
_NUMBERS = {
    "id": (1, _MAX_ID),
    "start": (0, MAX_TIME_NS * _PS_PER_NS),
    "size": (0, MAX_FLOW_BYTES),
    "prio": (0, 10**9),
    "trigger": (1, _MAX_ID),
    _SEND_DONE: (1, _MAX_ID),
    _RECV_DONE: (1, _MAX_ID),
}
"""Words of a connection that a number follows, with the least and the largest."""
_TYPES = ("oneshot", "multishot", "barrier")
_WITHOUT = {
    "addon": ("adds data to a flow when its trigger fires, which p4cc does not model", "give a flow for that data"),
    "msg": ("makes the flow one of several messages on a connection, which p4cc does not model", "remove msg"),
    "failure": ("removes a link from the first moment on", "remove it, and write the scenario's faults"),
}


@dataclass(frozen=True)
class HtsimFlow:
    """A connection of the file; ends are numbers of hosts."""

    source: int
    destination: int
    size_bytes: int | None
    """None for a flow without an end."""
    start_ns: int
    line: int
    id: int | None = None
    trigger: int | None = None
    """What starts it, in place of a time."""
    send_done: int | None = None
    recv_done: int | None = None
    """What it activates when all is acknowledged, and when all has arrived."""

    def activates(self) -> list[tuple[str, int]]:
        """The events that activate a trigger, as waiting operations name them, each with the trigger."""
        events = (("after", self.send_done), ("after_arrival", self.recv_done))
        return [(event, trigger) for event, trigger in events if trigger is not None]


@dataclass(frozen=True)
class Trigger:
    """What starts flows once others are done: all at once, one after the other, or all after so many."""

    kind: str
    count: int
    line: int


@dataclass(frozen=True)
class ConnectionMatrix:
    """The number of hosts that a file is for, its flows in order, and its triggers by id."""

    path: Path
    nodes: int
    flows: tuple[HtsimFlow, ...]
    triggers: dict[int, Trigger]

    @property
    def plain_flows(self) -> list[HtsimFlow]:
        """Flows that no operation carries: all in a file without triggers, else those without an end."""
        return [flow for flow in self.flows if not self.triggers or flow.size_bytes is None]

    def graph(self) -> OperationGraph:
        """The other flows as operations; raises UserError for a trigger that cannot fire as it should."""
        return _Graph(self).graph


class _Graph:
    """Makes operations of flows, and checks what htsim asserts of triggers."""

    def __init__(self, matrix: ConnectionMatrix) -> None:
        self._matrix = matrix
        self.graph = OperationGraph(matrix.nodes)
        self._waits = 0
        self._activators: dict[int, list[tuple[str, int]]] = {trigger: [] for trigger in matrix.triggers}
        targets: dict[int, list[int]] = {trigger: [] for trigger in matrix.triggers}
        for flow in matrix.flows if matrix.triggers else ():
            for trigger in [number for _, number in flow.activates()] + [flow.trigger or 0]:
                if trigger and trigger not in matrix.triggers:
                    self._fail(flow.line, f"there is no trigger {trigger}", f"add: trigger id {trigger} oneshot")
            if flow.size_bytes is None:
                if flow.trigger is not None or flow.activates():
                    self._fail(flow.line, "a flow of size 0 never ends, and starts by a time only", "give a size")
                continue
            work: spec.SendWork = {
                "kind": "send", "src": flow.source, "dst": flow.destination, "size_bytes": flow.size_bytes
            }  # fmt: skip
            operation: spec.OperationSpec = {"work": work, "start_ns": flow.start_ns}
            if flow.id is not None:
                operation["name"] = f"{flow.id}"
            number = self.graph.add(operation, f"{matrix.path}:{flow.line}")
            for event, trigger in flow.activates():
                self._activators[trigger].append((event, number))
            if flow.trigger is not None:
                targets[flow.trigger].append(number)
        for number, trigger in matrix.triggers.items():
            self._connect(trigger, self._activators[number], targets[number])
        self.graph.check()

    def _connect(self, trigger: Trigger, by: list[tuple[str, int]], targets: list[int]) -> None:
        """Targets wait for what activates their trigger, which htsim's types let fire differently often."""
        if trigger.kind == "oneshot" and len(by) != 1 and (targets or by):
            cause = f"{len(by)} flows activate a oneshot trigger, which fires once"
            self._fail(trigger.line, cause, "let one flow activate it, or write barrier count NUMBER")
        if trigger.kind == "barrier" and trigger.count != len(by):
            cause = f"the barrier is for {trigger.count} activations, and there are {len(by)}"
            self._fail(trigger.line, cause, "correct the count, or the flows")
        if trigger.kind == "multishot" and len(by) < len(targets):
            cause = f"{len(by)} flows activate the trigger, which starts {len(targets)} one by one"
            self._fail(trigger.line, cause, "let each target have a flow that activates the trigger")
        if trigger.kind == "barrier" and len(by) > 1 and len(targets) > 1:
            # One operation without a time stands between them, or each target would hold all activators.
            work: spec.Work = {"kind": "compute", "host": 0, "duration_ns": 0}
            middle = self.graph.add({"work": work}, f"{self._matrix.path}:{trigger.line}")
            self._wait(trigger, middle, by)
            by = [("after", middle)]
        for place, target in enumerate(targets):
            self._wait(trigger, target, by)
            if trigger.kind == "multishot":
                self.graph.operations[target]["needs"] = place + 1

    def _wait(self, trigger: Trigger, target: int, by: list[tuple[str, int]]) -> None:
        """Lets an operation wait for others, as many as may be."""
        self._waits += len(by)
        if self._waits > MAX_WAITS:
            cause = f"flows that wait for each of their trigger's {len(by)} activations: more than {MAX_WAITS} waits"
            self._fail(trigger.line, cause, "write barrier in place of multishot, or give a smaller file")
        operation = self.graph.operations[target]
        for event, number in by:
            if event == "after":
                operation.setdefault("after", []).append(number)
            else:
                operation.setdefault("after_arrival", []).append(number)

    def _fail(self, line: int, cause: str, remedy: str) -> NoReturn:
        raise UserError(cause, place=f"{self._matrix.path}:{line}", remedy=remedy)


class _Reader:
    """Lines of a file; each fault is raised at its line."""

    def __init__(self, path: Path, *, leave_out_prio: bool) -> None:
        self._path = path
        self._leave_out_prio = leave_out_prio
        self._header: dict[str, int] = {}
        self._flows: list[HtsimFlow] = []
        self._triggers: dict[int, Trigger] = {}
        self._ids: set[int] = set()

    def read(self) -> ConnectionMatrix:
        text = read_text(self._path, "connection matrix")
        for line, content in enumerate(text.splitlines(), start=1):
            words = content.split("#", 1)[0].split()
            if not words:
                continue
            if words[0] in _HEADER:
                self._add_header(line, words)
            elif words[0] == "trigger":
                self._add_trigger(line, words[1:])
            elif words[0] in _WITHOUT:
                self._refuse(line, words[0])
            else:
                self._flows.append(self._flow(line, words))
        nodes = self._header.get("Nodes")
        count = self._header.get("Connections")
        if nodes is None or count is None:
            missing = "Connections" if count is None and nodes is not None else "Nodes"
            self._fail(1, f"the file has no line {missing}", "give a connection matrix of htsim")
        if count != len(self._flows):
            cause = f"the file has {len(self._flows)} of the {count} connections that it promises"
            self._fail(None, cause, "correct Connections, or give the whole file")
        promised = self._header.get("Triggers", 0)
        if promised != len(self._triggers):
            cause = f"the file has {len(self._triggers)} triggers, and Triggers promises {promised}"
            self._fail(None, cause, f"add Triggers {len(self._triggers)} before the flows, or give the whole file")
        if not self._triggers:
            self._check_untriggered()
        return ConnectionMatrix(self._path, nodes, tuple(self._flows), self._triggers)

    def _check_untriggered(self) -> None:
        """Refuses a flow that names a trigger where the file has none."""
        for flow in self._flows:
            named = [trigger for _, trigger in flow.activates()] + [flow.trigger or 0]
            if number := max(named):
                self._fail(flow.line, f"there is no trigger {number}", "add Triggers NUMBER, and a line for each")

    def _add_trigger(self, line: int, words: list[str]) -> None:
        """A line `trigger id 1 oneshot`, `... multishot` or `... barrier count 8`."""
        numbers: dict[str, int] = {}
        types: list[str] = []
        rest = iter(words)
        for word in rest:
            if word in _TYPES:
                types.append(word)
            elif word in ("id", "count") and word not in numbers:
                numbers[word] = self._number(line, word, next(rest, ""), 1, _MAX_ID)
            else:
                self._fail(line, f"{shown(word)} is not a word of a trigger", "write trigger id NUMBER oneshot")
        if len(types) != 1 or "id" not in numbers or (types == ["barrier"]) != ("count" in numbers):
            remedy = "write trigger id NUMBER and oneshot, multishot or barrier count NUMBER"
            self._fail(line, "the trigger lacks its id, its type or a barrier's count, or has more of them", remedy)
        if numbers["id"] in self._triggers:
            self._fail(line, f"trigger {numbers['id']} is given twice", "give each trigger its own id")
        self._triggers[numbers["id"]] = Trigger(types[0], numbers.get("count", 0), line)

    def _add_header(self, line: int, words: list[str]) -> None:
        key = words[0]
        if len(words) != 2:
            self._fail(line, f"{shown(' '.join(words))} is not a key and its value", f"write {key} NUMBER")
        if key in self._header or self._flows:
            self._fail(line, f"{key} is given twice, or after a connection", "give each key once, first")
        self._header[key] = self._number(line, key, words[1], 1 if key in ("Nodes", "Connections") else 0, _HEADER[key])
        if key == "Failures" and self._header[key]:
            self._refuse(line, "failure")

    def _flow(self, line: int, words: list[str]) -> HtsimFlow:
        ends = _ENDS.fullmatch(words[0])
        if ends is None:
            self._fail(line, f"{shown(words[0])} is not a connection", "write SOURCE->DESTINATION start PS size BYTES")
        if "Nodes" not in self._header:
            self._fail(line, "a connection comes before Nodes", "give the number of hosts first")
        source, destination = int(ends[1]), int(ends[2])
        if (most := max(source, destination)) >= self._header["Nodes"]:
            self._fail(line, f"there is no host {most}", f"hosts are numbered 0 to {self._header['Nodes'] - 1}")
        if source == destination:
            self._fail(line, f"a connection leads from host {source} to itself", "correct the connection")
        values = self._values(line, words[1:])
        trigger = values.get("trigger")
        if trigger is not None and ("start" in values or "id" not in values):
            cause = "a flow with a trigger has no start, but an id"
            self._fail(line, cause, "remove start, or the trigger, and add id NUMBER")
        for key in ("size",) if trigger is not None else ("start", "size"):
            if key not in values:
                self._fail(line, f"the connection has no {key}", f"add {key} NUMBER")
        number = values.get("id")
        if number is not None and self._header.get("Triggers"):
            if number in self._ids:
                self._fail(line, f"id {number} is given twice", "give each flow its own id")
            self._ids.add(number)
        start_ns = (values.get("start", 0) + _PS_PER_NS // 2) // _PS_PER_NS
        done = (values.get(_SEND_DONE), values.get(_RECV_DONE))
        return HtsimFlow(source, destination, values["size"] or None, start_ns, line, number, trigger, *done)

    def _values(self, line: int, words: list[str]) -> dict[str, int]:
        values: dict[str, int] = {}
        rest = iter(words)
        for key in rest:
            if key in _WITHOUT:
                self._refuse(line, key)
            if key not in _NUMBERS or key in values:
                cause = f"{key} is given twice" if key in values else f"{shown(key)} is not a word of a connection"
                self._fail(line, cause, f"words: {', '.join(_NUMBERS)}, each once with a number")
            if key == "prio" and not self._leave_out_prio:
                cause = "prio orders an NDP receiver's pulls, which take turns in p4cc; other senders ignore it"
                self._fail(line, cause, "set prio: leave_out on the traffic")
            values[key] = self._number(line, key, next(rest, ""), *_NUMBERS[key])
        return values

    def _number(self, line: int, key: str, word: str, least: int, most: int) -> int:
        if key == "start" and _FRACTION.fullmatch(word):
            cause = f"start is {shown(word)}: picoseconds have no fraction, and older files are in microseconds"
            self._fail(line, cause, "multiply microseconds by 1,000,000")
        whole, point, zeros = word.partition(".")
        digits = whole if point and not zeros.strip("0") else word
        return whole_word(key, digits, least, most, f"{self._path}:{line}")

    def _refuse(self, line: int, word: str) -> NoReturn:
        what, remedy = _WITHOUT[word]
        self._fail(line, f"{word} {what}", remedy)

    def _fail(self, line: int | None, cause: str, remedy: str) -> NoReturn:
        place = str(self._path) if line is None else f"{self._path}:{line}"
        raise UserError(cause, place=place, remedy=remedy)


def read_connection_matrix(path: Path, *, leave_out_prio: bool = False) -> ConnectionMatrix:
    """The flows of a file in its order; raises UserError with the line of the first fault."""
    return _Reader(path, leave_out_prio=leave_out_prio).read()
