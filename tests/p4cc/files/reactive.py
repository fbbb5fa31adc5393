"""Controllers of tests/p4cc/control/test_controller.py for reactive.p4, and classes with what can go wrong in one."""

# Handlers here take what they do not use, and block where a user might.
# ruff: noqa: ARG002, ASYNC251
# finsy declares `read` in a way that pyright takes for a coroutine.
# pyright: reportGeneralTypeIssues=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import sys
import time

import finsy as fy
from finsy.p4entity import P4IdleTimeoutNotification
from finsy.proto import p4r

import p4cc


class Reactive(p4cc.Controller):
    """Sets a route when a packet comes that has none, and sends the packet back."""

    def __init__(self, sleep_s: float = 0.0, idle_timeout_ns: int = 0, max_timeout_ns: int = 1_000) -> None:
        self.sleep_s = sleep_s
        self.idle_timeout_ns = idle_timeout_ns
        self.max_timeout_ns = max_timeout_ns
        self.known: set[int] = set()

    async def start(self) -> None:
        hosts = self.addresses.hosts.items()
        self.ways = {host.ipv4: (host.mac, self.topology.port_to("s1", name).number) for name, host in hosts}
        await self.ask_for_digests()

    async def ask_for_digests(self) -> None:
        digests = fy.P4DigestEntry("seen_t", max_list_size=64, max_timeout_ns=self.max_timeout_ns)
        await self.switches["s1"].insert([digests])

    def route(self, dst: int) -> fy.P4TableEntry:
        mac, port = self.ways[dst]
        return fy.P4TableEntry(
            "routes",
            match=fy.P4TableMatch({"hdr.ipv4.dst": dst}),
            action=fy.P4TableAction("forward", mac=mac, port=port),
            idle_timeout_ns=self.idle_timeout_ns,
        )

    async def on_packet_in(self, switch: fy.Switch, packet: fy.P4PacketIn) -> None:
        time.sleep(self.sleep_s * self.random.random())
        dst = int.from_bytes(packet.payload[30:34], "big")
        self.record("packet_in", dst & 0xFF, switch)
        if dst not in self.known:
            self.known.add(dst)
            await switch.insert([self.route(dst)])
        await switch.write([fy.P4PacketOut(packet.payload, attempts=1)])

    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        await asyncio.sleep(self.sleep_s * self.random.random())
        self.record("digest_age_ns", self.now_ns - digest.timestamp, switch)
        self.record("digests", len(digest), switch)


class Silent(p4cc.Controller):
    """Is called, and does nothing."""

    async def start(self) -> None:
        self.every(7_777, self.nothing)
        self.after(1, self.nothing)

    async def nothing(self) -> None:
        pass

    async def on_packet_in(self, switch: fy.Switch, packet: fy.P4PacketIn) -> None:
        pass


class Looks(Reactive):
    """Reads before, at and after the instant at which what it wrote takes effect."""

    async def start(self) -> None:
        await super().start()
        self.after(10_000, self.ask)

    async def ask(self) -> None:
        switch = self.switches["s1"]
        await switch.insert([self.route(dst) for dst in self.ways])
        self.known = set(self.ways)
        await self.look()
        for delay_ns in (4_999, 5_000):
            self.after(delay_ns, self.look)
        self.every(50_000, self.count)

    async def look(self) -> None:
        switch = self.switches["s1"]
        entries = [entry async for entry in switch.read(fy.P4TableEntry("routes"))]
        self.record("routes", len(entries), switch)

    async def count(self) -> None:
        """Packets by port as the program counted them, and as its counter has them."""
        switch = self.switches["s1"]
        cells = [entry.data async for entry in switch.read(fy.P4RegisterEntry("received"))]
        self.record("received", sum(cell for cell in cells if isinstance(cell, int)), switch)
        sent = [entry.packet_count async for entry in switch.read(fy.P4CounterEntry("routed"))]
        self.record("routed", sum(sent), switch)


class Ages(Reactive):
    """Hears of routes that nobody uses."""

    async def on_idle(self, switch: fy.Switch, notification: P4IdleTimeoutNotification) -> None:
        for entry in notification:
            dst = entry.match["dst"] if entry.match is not None else 0
            self.record("idle", int(dst) & 0xFF, switch)


class Ports(Silent):
    """Hears of ports."""

    async def on_port_change(self, switch: fy.Switch, port: int, up: bool) -> None:
        self.record("up" if up else "down", port, switch)


class Restarts(Reactive):
    """Begins anew with a switch that has lost everything."""

    async def on_switch_change(self, switch: fy.Switch, up: bool) -> None:
        self.record("switch_up" if up else "switch_down", len(self.known), switch)
        if up:
            self.known.clear()
            await self.ask_for_digests()

    async def on_refused(self, switch: fy.Switch, error: fy.P4ClientError) -> None:
        self.record("refused", error.code.value, switch)


class Hears(Restarts):
    """Routes, and hears of ports and of switches that restart."""

    async def on_port_change(self, switch: fy.Switch, port: int, up: bool) -> None:
        self.record("up" if up else "down", port, switch)


class Returns(Silent):
    """Ticks, and says what is left of its routes when it begins."""

    def __init__(self) -> None:
        self.ticks = 0

    async def start(self) -> None:
        switch = self.switches["s1"]
        entries = [entry async for entry in switch.read(fy.P4TableEntry("routes"))]
        self.record("start", len(entries), switch)
        self.every(10_000, self.tick)

    async def tick(self) -> None:
        self.ticks += 1
        self.record("tick", self.ticks)
        if self.ticks == 2 and self.now_ns == 20_000:
            route = fy.P4TableEntry(
                "routes", match=fy.P4TableMatch({"hdr.ipv4.dst": 1}), action=fy.P4TableAction("to_controller")
            )
            await self.switches["s1"].insert([route])

    async def on_packet_in(self, switch: fy.Switch, packet: fy.P4PacketIn) -> None:
        self.record("packet_in", len(packet.payload), switch)


class Stops(Silent):
    """A timer that is cancelled by what it calls."""

    async def start(self) -> None:
        self.timer = self.every(1_000, self.nothing, first_ns=0)

    async def nothing(self) -> None:
        self.record("now_ns", self.now_ns)
        if self.now_ns == 2_000:
            self.timer.cancel()


class Raises(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        self.fail({})

    def fail(self, what: dict[str, int]) -> int:
        return what["nothing"]


class Blocks(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        while True:
            time.sleep(0.01)


class Waits(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        await asyncio.sleep(1_000)


class Exits(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        sys.exit(3)


class Refused(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        await switch.delete([fy.P4TableEntry("routes", match=fy.P4TableMatch({"hdr.ipv4.dst": 77}))])


class GoesOn(Refused):
    async def on_refused(self, switch: fy.Switch, error: fy.P4ClientError) -> None:
        self.record("refused", 1, switch)


class NoSuchTable(Reactive):
    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        await switch.insert([fy.P4TableEntry("routse", match=fy.P4TableMatch({"hdr.ipv4.dst": 77}))])


class TooEarly(Reactive):
    def __init__(self) -> None:
        self.first = next(iter(self.switches))


class Endless(Silent):
    async def nothing(self) -> None:
        self.after(0, self.nothing)


class NoSuchHandler(Silent):
    async def on_diggest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        pass


class NotAsync(Silent):
    def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        pass


class NoInterval(Silent):
    async def start(self) -> None:
        self.every(0, self.nothing)


class Pushes(Silent):
    async def start(self) -> None:
        config = p4r.ForwardingPipelineConfig()
        await self.switches["s1"]._set_pipeline_config_request(config=config)  # pyright: ignore[reportPrivateUsage]


class NoController:
    pass
