"""Coflow traces and request trees as jobs of operations (docs/algorithms/traffic.md#coflows, #trees).

A group of operations is a coflow, or a request. Its name is the part of an operation's name before the colon.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.planning.operation_graph import MAX_RANKS, OperationGraph
from p4cc.planning.whole_numbers import whole_word
from p4cc.scenario.base import MAX_FLOW_BYTES, MAX_TIME_NS
from topos.loaders.words import shown

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc import spec
    from p4cc.planning.hosts import Hosts
    from p4cc.scenario.coflows import TreeTraffic

MEGABYTE = 1 << 20
"""CoflowSim counts 1,048,576 bytes a megabyte."""
_MOST_COFLOWS = 1_000_000
_LATEST_MS = 10**9
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}", re.ASCII)
_REDUCER = re.compile(r"([0-9]{1,9}):([0-9]{1,12}(?:\.[0-9]{1,9})?)", re.ASCII)


@dataclass(frozen=True)
class Factors:
    """What is taken of a trace."""

    coflows: int | None = None
    size: float = 1.0
    time: float = 1.0


class _Trace:
    """Lines of a trace; each fault is raised at its line."""

    def __init__(self, path: Path, factors: Factors) -> None:
        self._path = path
        self._factors = factors
        self._line = 1
        self._graph = OperationGraph(0)
        self._names: set[str] = set()

    def read(self) -> OperationGraph:
        lines = read_text(self._path, "coflow trace").splitlines()
        head = lines[0].split() if lines else []
        if len(head) != 2:
            self._fail("the first line is not the number of ports and of coflows", "give a trace of coflow-benchmark")
        self._graph.ranks = self._whole("ports", head[0], 2, MAX_RANKS)
        count = self._whole("coflows", head[1], 1, _MOST_COFLOWS)
        rows = [(line, words) for line, text in enumerate(lines[1:], start=2) if (words := text.split())]
        if len(rows) != count:
            self._fail(f"it announces {count} coflows and has {len(rows)}", "give the whole file")
        wanted = self._factors.coflows
        if wanted is not None and wanted > count:
            self._fail(f"it has {count:,} coflows, fewer than coflows: {wanted}", "give a smaller number, or none")
        for line, words in rows[:wanted]:
            self._line = line
            self._coflow(words)
        return self._graph.check(f"{self._path}:1")

    def _coflow(self, words: list[str]) -> None:
        name, arrival, *rest = [*words, "", ""] if len(words) < 2 else words
        if _NAME.fullmatch(name) is None or name in self._names:
            self._fail(f"{shown(name)} is not the name of a coflow, or comes twice", "give each a number of its own")
        self._names.add(name)
        start_ns = round(self._whole("arrival", arrival, 0, _LATEST_MS) * 10**6 * self._factors.time)
        if start_ns > MAX_TIME_NS:
            self._fail(f"the coflow arrives after {start_ns / 1e9:,.0f} s", "give a smaller time_factor")
        mappers, rest = self._counted("mappers", rest)
        reducers, rest = self._counted("reducers", rest)
        if rest:
            self._fail(f"{shown(rest[0])} follows the last reducer", "correct the number of reducers")
        sources = [self._port(word) for word in mappers]
        sends = 0
        for number, word in enumerate(reducers):
            match = _REDUCER.fullmatch(word)
            if match is None:
                self._fail(f"{shown(word)} is not a reducer", "write PORT:MEGABYTES")
            reducer = self._port(match[1])
            # A reducer gets as much from each mapper.
            size = max(1, round(float(match[2]) * MEGABYTE * self._factors.size / len(sources)))
            if size > MAX_FLOW_BYTES:
                self._fail(f"a flow has {size:,} B", "give a smaller size_factor")
            for place, source in enumerate(sources):
                # What stays at its port crosses no network.
                if source != reducer:
                    work: spec.Work = {"kind": "send", "src": source, "dst": reducer, "size_bytes": size}
                    self._add({"name": f"{name}:{place}-{number}", "work": work, "start_ns": start_ns})
                    sends += 1
        if not sends:
            self._add({"name": f"{name}:local", "work": _computes(sources[0], 0), "start_ns": start_ns})

    def _add(self, operation: spec.OperationSpec) -> None:
        self._graph.add(operation, f"{self._path}:{self._line}")

    def _counted(self, what: str, words: list[str]) -> tuple[list[str], list[str]]:
        count = self._whole(what, words[0] if words else "", 1, MAX_RANKS)
        if len(words) <= count:
            self._fail(f"it announces {count} {what} and has {len(words) - 1}", "correct the number")
        return words[1 : 1 + count], words[1 + count :]

    def _port(self, word: str) -> int:
        return self._whole("port", word, 0, self._graph.ranks - 1)

    def _whole(self, key: str, word: str, least: int, most: int) -> int:
        return whole_word(key, word, least, most, f"{self._path}:{self._line}")

    def _fail(self, cause: str, remedy: str) -> NoReturn:
        raise UserError(cause, place=f"{self._path}:{self._line}", remedy=remedy)


def read_coflows(path: Path, factors: Factors | None = None) -> OperationGraph:
    """The flows of a trace as sends, a group for each coflow; raises UserError with the line of the first fault."""
    return _Trace(path, factors or Factors()).read()


def _computes(host: int, duration_ns: int) -> spec.Work:
    return {"kind": "compute", "host": host, "duration_ns": duration_ns}


@dataclass(frozen=True)
class _Tree:
    """Hosts of a tree by number, the root first, and whom each asks."""

    children: dict[int, list[int]]


def _tree(counts: list[int]) -> _Tree:
    children: dict[int, list[int]] = {}
    above, first = [0], 1
    for count in counts:
        level = list(range(first, first + count))
        each = count // len(above)
        for place, host in enumerate(above):
            children[host] = level[place * each : (place + 1) * each]
        above, first = level, first + count
    return _Tree(children)


def tree_graph(
    item: TreeTraffic, hosts: Hosts, roots: list[str], senders: list[str]
) -> tuple[OperationGraph, list[str]]:
    """The operations of all requests, and the hosts that its ranks are; raises UserError."""
    root = hosts.one("root", item.root, roots)
    workers = hosts.several("workers", item.workers, senders, apart=root)
    try:
        counts = item.levels(len(workers))
    except ValueError as error:
        raise hosts.error("fanout", str(error), "give a smaller fanout, or more workers") from error
    names = [root, *workers[: sum(counts)]]
    graph, tree = OperationGraph(len(names)), _tree(counts)
    before: int | None = None
    starts = _starts(item)
    if starts[-1] + item.start_ns > MAX_TIME_NS:
        cause = f"the last of {item.requests:,} requests begins after {starts[-1] / 1e9:,.0f} s"
        remedy = f"give a smaller mean_gap_ns, or fewer requests: time ends at {MAX_TIME_NS / 1e9:,.0f} s"
        raise hosts.error("mean_gap_ns", cause, remedy)
    for number, start_ns in enumerate(starts):
        begin: spec.OperationSpec = {"name": f"{number}:begin", "work": _computes(0, 0), "start_ns": start_ns}
        if item.mean_gap_ns is None and before is not None:
            # The time to think belongs to no request.
            begin["after"] = [graph.add({"name": f"think-{number}", **_after(before, item.think_ns)}, hosts.place)]
        asked = graph.add(begin, hosts.place)
        answers = _ask(graph, item, tree, (0, number), _after(asked, 0), hosts.place)
        done: spec.OperationSpec = {"name": f"{number}:done", "work": _computes(0, 0), "after_arrival": answers}
        before = graph.add(done, hosts.place)
    return graph.check(), names


def _after(before: int, duration_ns: int) -> spec.OperationSpec:
    return {"work": _computes(0, duration_ns), "after": [before]}


def _starts(item: TreeTraffic) -> list[int]:
    """When requests begin in an open loop; zeros in a closed one."""
    gap_ns = item.mean_gap_ns
    if gap_ns is None:
        return [0] * item.requests
    if item.gap == "constant":
        return [round(number * gap_ns) for number in range(item.requests)]
    seed = int.from_bytes(hashlib.sha256(f"tree {item.label}".encode()).digest()[:8])
    gaps = np.random.default_rng(seed).exponential(gap_ns, item.requests)
    return [round(at) for at in np.cumsum(gaps).tolist()]


def _ask(
    graph: OperationGraph,
    item: TreeTraffic,
    tree: _Tree,
    of: tuple[int, int],
    ready: spec.OperationSpec,
    place: str,
) -> list[int]:
    """Adds what a host asks for in a request once it is `ready`; the sends of the answers to it."""
    host, number = of
    answers: list[int] = []
    for child in tree.children.get(host, ()):
        request: spec.Work = {"kind": "send", "src": host, "dst": child, "size_bytes": item.request_bytes}
        asked = graph.add({**ready, "name": f"{number}:ask-{child}", "work": request}, place)
        arrived: spec.OperationSpec = {"after_arrival": [asked], "work": _computes(child, 0)}
        size = item.response_bytes
        if tree.children.get(child):
            size = item.aggregate_bytes or item.response_bytes
            arrived = {**arrived, "after_arrival": _ask(graph, item, tree, (child, number), arrived, place)}
        elif item.service_ns:
            service: spec.OperationSpec = {**arrived, "work": _computes(child, item.service_ns)}
            arrived = _after(graph.add({**service, "name": f"{number}:serve-{child}"}, place), 0)
        answer: spec.Work = {"kind": "send", "src": child, "dst": host, "size_bytes": size}
        answers.append(graph.add({**arrived, "name": f"{number}:answer-{child}", "work": answer}, place))
    return answers
