"""The base class of users' controllers: handlers that p4cc calls at instants of virtual time.

Virtual time pauses while a handler runs. A handler reads the state of that instant; its writes and packets
take effect `control.latency_ns` later. docs/how-to/write-a-controller.md begins with an example. In a lab the
same class runs in real time (docs/how-to/lab.md#controllers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable, Mapping

    from finsy import P4ClientError, P4DigestList, P4PacketIn, Switch
    from finsy.p4entity import P4IdleTimeoutNotification

    from p4cc.control.situation import Situation, Timer
    from topos import AddressPlan, Topology


class Controller:
    """A controller for all switches of a run; each run creates a separate object.

    The values of `control.parameters` are passed to `__init__` as keyword arguments; the network does not exist yet at
    that point. Handlers are `async def`; those that a class does not override do nothing. An exception ends the run,
    with its traceback.
    """

    _situation: Situation | None = None

    async def start(self) -> None:
        """Called once before the run, at time 0, after the scenario's routes and entries are installed.

        Requests take effect immediately. Subscribe to digests here (`switch.insert` of a `P4DigestEntry`). A controller
        that returns from one of `control.absences` is started again, and its requests then have the usual latency.
        """

    async def on_packet_in(self, switch: Switch, packet: P4PacketIn) -> None:
        """Called for a packet that the program sent to the CPU port (`switch.cpu_port`)."""

    async def on_digest(self, switch: Switch, digest: P4DigestList) -> None:
        """Called for a list of digests; `timestamp` is the virtual time in ns at which the switch sent it."""

    async def on_idle(self, switch: Switch, notification: P4IdleTimeoutNotification) -> None:
        """Called for entries that no packet has hit for `idle_timeout_ns`."""

    async def on_port_change(self, switch: Switch, port: int, up: bool) -> None:
        """Called when the link of a port goes down or comes up (`faults` of the scenario)."""

    async def on_switch_change(self, switch: Switch, up: bool) -> None:
        """Called when a switch goes down, or is up with p4cc's installation but without the controller's entries."""

    async def on_refused(self, switch: Switch, error: P4ClientError) -> None:
        """Called when a switch refuses a request after the handler has returned; by default, this ends the run.

        Override it to continue, for example where two handlers may insert the same entry.
        """
        del switch
        raise error

    @property
    def now_ns(self) -> int:
        """Virtual time in nanoseconds; in a lab, the time since the start of its flows, and 0 before."""
        return self._given.now_ps // 1000

    @property
    def switches(self) -> Mapping[str, Switch]:
        """All switches by name, in the order of the topology.

        Each is a finsy Switch: `read`, `write`, `insert`, `modify`, `delete` and `p4info` are finsy's. What finsy
        provides as streams (`read_packets`, `read_digests`, `read_idle_timeouts`) is delivered to the handlers here.
        """
        return self._given.switches

    @property
    def topology(self) -> Topology:
        """Hosts, switches, links; `topology.port_to("s1", "h2").number` is a port's number."""
        return self._given.topology

    @property
    def addresses(self) -> AddressPlan:
        """Addresses of hosts and switches: `addresses.hosts["h1"].ipv4` and `.mac`, as integers."""
        return self._given.addresses

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self._given.seed

    @property
    def random(self) -> random.Random:
        """Random numbers derived from the run's seed; use no other source, so that runs are reproducible."""
        return self._given.random

    def every(self, interval_ns: int, handler: Callable[[], Awaitable[None]], first_ns: int | None = None) -> Timer:
        """Calls `handler` every `interval_ns` of virtual time, first after `first_ns` (by default, one interval).

        Raises ValueError for an interval below 1.
        """
        return self._given.every(interval_ns, handler, first_ns)

    def after(self, delay_ns: int, handler: Callable[[], Awaitable[None]]) -> Timer:
        """Calls `handler` once, `delay_ns` of virtual time from now. Raises ValueError for a negative delay."""
        return self._given.after(delay_ns, handler)

    def record(self, name: str, value: float, switch: Switch | None = None) -> None:
        """Writes a row of the table `control`: `value` under `name` at the current time, optionally for a switch.

        Raises ValueError if the table has too many rows.
        """
        self._given.record(name, value, switch.name if switch is not None else None)

    def attach(self, situation: Situation) -> None:
        """Called by p4cc before `start`."""
        self._situation = situation

    @property
    def _given(self) -> Situation:
        if self._situation is None:
            raise RuntimeError("the network does not exist before start(): move this from __init__ to start()")
        return self._situation
