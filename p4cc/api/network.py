"""One network step by step: run, inspect, change, continue."""

from __future__ import annotations

import html
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, Self, SupportsBytes

import polars as pl
from finsy.proto import p4r

from p4cc import _engine
from p4cc.api.entries import (
    Given,
    Value,
    Writer,
    asked_entries,
    counter_frame,
    entry_frame,
    named_array,
    register_frame,
    table_named,
)
from p4cc.api.given import request_of
from p4cc.api.now import Snapshot, frame_of
from p4cc.api.tables import shown
from p4cc.errors import UserError
from p4cc.planning.names import Names
from p4cc.running.networks import users_errors
from p4cc.running.prepared import prepare
from p4cc.running.step_driver import StepDriver, begin, to_ps
from p4cc.scenario.base import MAX_TIME_NS
from p4cc.scenario.built import Scenario
from topos import plan_addresses

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from os import PathLike
    from types import TracebackType

    from finsy import P4Schema
    from finsy.p4schema import P4Table

    from controller.written import WrittenEntry
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.running.prepared import Prepared
    from p4cc.scenario.expand import Case
    from topos import Topology

Packet = bytes | bytearray | memoryview | SupportsBytes
"""Bytes starting with the Ethernet header, or an object that gives them, such as a packet of scapy."""
_MAX_SEED = (1 << 63) - 1
_DEEPEST = 8


class Network:
    """One run of a scenario, advanced step by step in virtual time.

    ```
    with p4cc.Network("gst/incast", variant="DCTCP", topology__senders=4) as net:
        net.run_until(300_000)
        net.modify("s1", "thresholds", {"egress_port": "port(s1, aggregator)"}, params={"k": 5})
        net.run()
        print(net.result().flows)
    ```

    Between two steps, switches can be read and modified over P4Runtime, as by any controller; the scenario's
    controller, faults and `changes` run within the steps. Results do not depend on the number of steps. No call is
    async; all calls work in notebooks, and Ctrl-C ends a step early. `close`, or `with`, closes the connections to the
    switches.
    """

    def __init__(
        self,
        scenario: str | PathLike[str] | JsonObject | Scenario,
        changes: JsonObject | None = None,
        *,
        variant: str | None = None,
        seed: int | None = None,
        **overrides: JsonValue,
    ) -> None:
        """Builds the network of a scenario and installs its switches; virtual time is 0.

        `scenario`, `changes` and `overrides` are those of `p4cc.run`. `variant` is required if the scenario has
        several; `seed` defaults to the scenario's first. Raises UserError.
        """
        asked = None if seed is None else _seed(seed, "Network")
        prepared = prepare(request_of(scenario, changes, overrides, () if variant is None else (variant,)))
        planned = prepared.programs().plan(_one_case(prepared))
        self._stand_on(begin(planned, prepared.scenario.seeds[0] if asked is None else asked))

    def _stand_on(self, run: StepDriver) -> None:
        self._run = run
        self._finalizer = weakref.finalize(self, run.close)
        plan = run.planned.plan
        self._topology: Topology = plan.topology
        self._addresses = plan_addresses(plan.topology)
        self._devices = {one.switch: one.device_id for one in plan.switches}

    def _over(self, run: StepDriver) -> Self:
        """Another network of the same class."""
        made = type(self).__new__(type(self))
        made._stand_on(run)  # noqa: SLF001
        return made

    @property
    def scenario(self) -> Scenario:
        """The scenario, at its point of a sweep."""
        return Scenario.over(self._run.planned.case.scenario)

    @property
    def variant(self) -> str:
        """The name of the variant."""
        return self._run.planned.case.variant.name

    @property
    def seed(self) -> int:
        """The seed of the run's traffic."""
        return self._run.seed

    @property
    def switches(self) -> list[str]:
        """Names of the switches."""
        return list(self._topology.switch_names)

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        return list(self._topology.host_names)

    @property
    def warnings(self) -> list[str]:
        """Warnings about this scenario."""
        return list(self._run.planned.plan.warnings)

    @property
    def now_ns(self) -> int:
        """Current virtual time, in whole ns."""
        return self._run.network.now_ns

    @property
    def has_ended(self) -> bool:
        """Whether all flows are complete, or the scenario's `stop_ns` is reached."""
        return self._run.has_ended

    def run_until(self, time_ns: int) -> Self:
        """Runs to a virtual time in ns, including all events at that time, or to the end if earlier. Returns itself.

        Ctrl-C ends the step early and leaves a network that can continue (KeyboardInterrupt). Raises UserError for a
        time in the past, and if the run fails.
        """
        until_ps = to_ps(time_ns, "Network.run_until")
        self._check("run_until")
        if until_ps < self._run.position_ps and not self.has_ended:
            cause = f"{time_ns} ns is over: virtual time is {self.now_ns} ns"
            raise UserError(cause, place="Network.run_until", remedy="give a later time, or fork() in time")
        if not self.has_ended:
            self._run.run_until(until_ps)
        return self

    def run_for(self, span_ns: int) -> Self:
        """Like `run_until`, but `span_ns` further."""
        to_ps(span_ns, "Network.run_for")
        return self.run_until(self.now_ns + span_ns)

    def run(self) -> Self:
        """Like `run_until`, but to the end: all flows are complete, or the scenario's `stop_ns` is reached."""
        return self.run_until(MAX_TIME_NS)

    def inject(self, node: str, packet: Packet, *, port: int | str | None = None, priority: int = 0) -> None:
        """Sends a packet now.

        At a host, the packet queues at the interface, and PFC pauses it as class `priority`, 0 to 7. At a switch, it
        arrives at `port`, a number or the name of the neighbour, as if the link had delivered it. Packets that arrive
        at a host and belong to no flow are in `packets_received`, if the scenario records that. Raises UserError.
        """
        self._check("inject")
        data = _bytes(packet)
        with _injecting():
            if node in self._devices:
                self._run.enter(node, self._port(node, port), data)
            elif port is not None:
                raise UserError(
                    f"{node} is not a switch", place="Network.inject: port", remedy="hosts have one interface"
                )
            else:
                self._run.send(node, data, priority)

    def queues(self) -> pl.DataFrame:
        """The current state of switch ports: `switch`, `port`, `peer`, `depth_pkts`, `dropped_pkts`, `is_paused`."""
        look = self._run.network.look()
        ports = [
            (switch, port.number, self._topology.far_end(switch, port))
            for switch in self._topology.switch_names
            for port in self._topology.ports[switch]
        ]
        columns = {"switch": pl.String, "port": pl.Int64, "peer": pl.String}
        paused = set(look.paused_ports)
        return pl.DataFrame(ports, schema=columns, orient="row").with_columns(
            pl.Series("depth_pkts", look.depth_pkts, pl.UInt64),
            pl.Series("dropped_pkts", look.dropped_pkts, pl.UInt64),
            pl.Series("is_paused", [place in paused for place in range(len(ports))], pl.Boolean),
        )

    def flows(self) -> pl.DataFrame:
        """The current state of every flow: `flow_id`, `src`, `dst`, `class`, `size_bytes`, `state`, `acked_bytes`, ...

        `state` is `waiting`, `active` or `complete` (also for a flow that its sender aborted). `cwnd_segments` is null
        for senders without a window, `rate_bps` (bit/s) for those without a rate.
        """
        table = frame_of(self._run.flows())
        rows = self._run.network.look(table["flow_id"].to_list()).flows
        states = [("complete" if ended else "active" if begun else "waiting") for _, begun, ended, *_ in rows]
        return table.select("flow_id", "src", "dst", "class", "size_bytes").with_columns(
            pl.Series("state", states, pl.String),
            pl.Series("acked_bytes", [row[5] for row in rows], pl.UInt64),
            pl.Series("cwnd_segments", [row[3] for row in rows], pl.Float64),
            pl.Series("rate_bps", [row[4] for row in rows], pl.Float64),
        )

    def table(self, switch: str, table: str) -> pl.DataFrame:
        """The current entries of a switch's table, followed by the default action.

        There is a column for each key and parameter, with its name in the program; addresses, prefixes and masks are
        text, which `modify` accepts. Tables with direct counters also have `packets` and `bytes`. Raises UserError.
        """
        schema = self._schema(switch, "table")
        with users_errors():
            found = table_named(schema, table, f"Network.table of {switch}")
            return entry_frame(found, self._run.read(switch, asked_entries(found)), schema)

    def counters(self, switch: str, counter: str | None = None) -> pl.DataFrame:
        """Cells of one counter of a switch's program, or of all: `counter`, `index`, `packets`, `bytes`.

        Null means that the counter does not count that quantity. Raises UserError.
        """
        schema = self._schema(switch, "counters")
        wanted = named_array(list(schema.counters), "counter", counter, f"Network.counters of {switch}")
        asked = [p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=one.id)) for one in wanted]
        return counter_frame(self._run.read(switch, asked) if asked else [], schema)

    def registers(self, switch: str, register: str | None = None) -> pl.DataFrame:
        """Cells of one register of a switch's program, or of all: `register`, `index`, `value`, `text`.

        `value` is null for more than 64 bits, `text` is always complete. Raises UserError.
        """
        schema = self._schema(switch, "registers")
        wanted = named_array(list(schema.registers), "register", register, f"Network.registers of {switch}")
        asked = [p4r.Entity(register_entry=p4r.RegisterEntry(register_id=one.id)) for one in wanted]
        return register_frame(self._run.read(switch, asked) if asked else [], schema)

    def insert(
        self,
        switch: str,
        table: str,
        match: Mapping[str, Given],
        action: str,
        params: Mapping[str, Value] | None = None,
        *,
        priority: int | None = None,
    ) -> None:
        """Inserts an entry into a table of a switch, now.

        Names are those of the program, or their ends. A key takes a number, an address, or a name from the network such
        as `h2.ipv4` or `port(s1, h2)`; two values, or their text, for a prefix (`10.0.0.0/8`), a mask (`5 &&& 0xff`) or
        a range (`1..9`). Raises UserError if the entry exists or does not match the program.
        """
        writer, of = self._entry("insert", (switch, table, match), priority, default=False)
        with users_errors():
            entity = writer.with_action(of, action, params or {})
        self._write(switch, p4r.Update.INSERT, entity)

    def modify(
        self,
        switch: str,
        table: str,
        match: Mapping[str, Given] | None = None,
        action: str | None = None,
        params: Mapping[str, Value] | None = None,
        *,
        priority: int | None = None,
        default: bool = False,
    ) -> None:
        """Modifies an existing entry or, with `default`, the table's default action, now.

        If no action is given, the entry keeps its action and all parameters that are not given. Keys and values are
        those of `insert`. Raises UserError if the entry does not exist or does not match the program.
        """
        writer, of = self._entry("modify", (switch, table, match or {}), priority, default=default)
        with users_errors():
            if action is not None:
                entity = writer.with_action(of, action, params or {})
            else:
                held = self._run.read(switch, [writer.identity(of)])
                if len(held) != 1:
                    cause = f"table {of[0].name} of {switch} has no such entry"
                    raise UserError(cause, place="Network.modify", remedy=f"see net.table({switch!r}, {table!r})")
                entity = writer.changed(of, held[0], params or {})
        self._write(switch, p4r.Update.MODIFY, entity)

    def delete(self, switch: str, table: str, match: Mapping[str, Given], *, priority: int | None = None) -> None:
        """Deletes an entry of a table, now; keys are those of `insert`. Raises UserError if it does not exist."""
        writer, of = self._entry("delete", (switch, table, match), priority, default=False)
        with users_errors():
            entity = writer.identity(of)
        self._write(switch, p4r.Update.DELETE, entity)

    def result(self) -> Snapshot:
        """The results so far, with the tables and columns of a `Result`."""
        self._check("result")
        return Snapshot(self._run)

    def fork(self, seed: int | None = None) -> Self:
        """A second network that continues independently from here.

        Without a seed it has the state of this one: the run is repeated with everything that was done to it, which
        takes as long. With a seed it is a new run from time zero whose switches start with the current entries,
        counters and registers of this one. Raises UserError.
        """
        self._check("fork")
        return self._over(self._run.fork() if seed is None else self._run.anew(_seed(seed, "Network.fork")))

    def close(self) -> None:
        """Closes the connections to the switches; queues and flows can still be read."""
        self._finalizer()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def __repr__(self) -> str:
        """The run, and its progress."""
        state = "closed" if self._run.is_closed else "ended" if self.has_ended else "under way"
        size = f"{len(self.switches)} switches, {len(self.hosts)} hosts"
        return f"Network({self._run.planned.case.scenario.name}, {self._run.label}: {size}, {self.now_ns} ns, {state})"

    def _repr_html_(self) -> str:
        """For notebooks: its progress and deepest queues."""
        deepest = self.queues().sort("depth_pkts", descending=True, maintain_order=True).head(_DEEPEST)
        return f"<p>{html.escape(repr(self))}</p>{shown(deepest)}"

    def _check(self, call: str) -> None:
        if self._run.is_closed:
            raise UserError("the network is closed", place=f"Network.{call}", remedy="ask before close()")

    def _schema(self, switch: str, call: str) -> P4Schema:
        self._check(call)
        if switch not in self._devices:
            remedy = f"switches: {', '.join(self.switches[:10])}"
            raise UserError(f"no switch is named {switch!r}", place=f"Network.{call}", remedy=remedy)
        return self._run.planned.pipelines[switch].schema

    def _entry(
        self,
        call: Literal["insert", "modify", "delete"],
        what: tuple[str, str, Mapping[str, Given]],
        priority: int | None,
        *,
        default: bool,
    ) -> tuple[Writer, tuple[P4Table, WrittenEntry]]:
        switch, table, match = what
        schema = self._schema(switch, call)
        writer = Writer(schema, Names(self._topology, self._addresses, switch), f"Network.{call} at {switch}")
        with users_errors():
            return writer, writer.entry(table, match, priority, default=default)

    def _write(self, switch: str, kind: p4r.Update.Type.ValueType, entity: p4r.Entity) -> None:
        self._run.write(switch, [p4r.Update(type=kind, entity=entity)])

    def _port(self, switch: str, port: int | str | None) -> int:
        ports = self._topology.ports[switch]
        found = [one.number for one in ports if port in (one.number, one.peer, self._topology.far_end(switch, one))]
        if len(found) == 1 and not isinstance(port, bool):
            return found[0]
        cause = f"{switch} has no port {port!r}" if not found else f"{len(found)} ports of {switch} lead to {port}"
        known = ", ".join(f"{one.number} to {one.peer}" for one in ports[:12])
        raise UserError(cause, place="Network.inject: port", remedy=f"give port=; ports: {known}")


def _one_case(prepared: Prepared) -> Case:
    if len(prepared.cases) == 1:
        return prepared.cases[0]
    names = ", ".join(dict.fromkeys(case.variant.name for case in prepared.cases))
    swept = ", ".join(prepared.scenario.sweep)
    remedy = f"choose one: variant=NAME of {names}" + (f"; one value for each of {swept}" if swept else "")
    raise UserError(f"a network is one run, and these are {len(prepared.cases)}", place="Network", remedy=remedy)


def _seed(seed: int, place: str) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _MAX_SEED:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(f"{seed!r} is not a seed", place=place, remedy=f"give a whole number from 0 to {_MAX_SEED}")
    return seed


def _bytes(packet: Packet) -> bytes:
    # bytes(5) would be five zeros.
    if isinstance(packet, bytes | bytearray | memoryview) or hasattr(packet, "__bytes__"):
        return bytes(packet)
    remedy = "give bytes starting with the Ethernet header, or a scapy packet"
    raise UserError(f"{type(packet).__name__} is not a packet", place="Network.inject: packet", remedy=remedy)


@contextmanager
def _injecting() -> Generator[None]:
    try:
        yield
    except _engine.SpecError as error:
        raise UserError(error.cause, place=f"Network.inject: {error.place}", remedy=error.remedy) from error
    except OverflowError as error:
        raise UserError(str(error), place="Network.inject: priority", remedy="give a number from 0 to 7") from error
