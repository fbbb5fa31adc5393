"""Ports that change while the connection to their switch is broken."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from p4cc.control.faults import Faults, PortChange
from p4cc.control.world import SwitchChange
from p4cc.lab.live import LiveWorld, PortWatch, live_line
from p4cc.lab.run import Lab, LabOptions, open_lab
from p4cc.lab.switches import kind_named
from tests.lab.test_live import PATIENCE_S, small
from tests.switchd.namespaces import run

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.lab.live import News


class Way:
    """A connection to a switch that can be broken while the switch runs on."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self.way_port = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.way_port)
        self.way_port = self._server.sockets[0].getsockname()[1]

    def end(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, outer]
        await asyncio.gather(_pass(reader, outer), _pass(inner, writer))


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _news(world: LiveWorld, number: int) -> list[News]:
    told: list[News] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(told) < number:
            told += await world.news()
            await asyncio.sleep(0.02)
    return told


async def _broken(lab: Lab, folder: Path) -> list[News]:
    """What is told of a port that went down while nobody reached its switch."""
    assert lab.planned is not None
    (plan,) = lab.planned.switches
    way, world = Way(lab.plan.switch("s1").grpc_port), LiveWorld(1, folder, Faults())
    await way.open()
    line = live_line(world, plan, lab.pipelines["s1"], f"127.0.0.1:{way.way_port}", folder)
    interfaces = {("s1", 1): "p4cc-s1-1", ("s1", 2): "p4cc-s1-2"}
    stop = PortWatch(world, interfaces, {"s1": line}).start(asyncio.get_running_loop())
    serving = asyncio.create_task(line.serve())
    try:
        async with asyncio.timeout(PATIENCE_S):
            await line.installed.wait()
        way.end()
        told = await _news(world, 1)
        run("ip", "link", "set", "p4cc-s1-1", "down")
        await asyncio.sleep(0.2)
        told += await world.news()
        await way.open()
        return told + await _news(world, 2)
    finally:
        serving.cancel()
        stop()
        way.end()
        await asyncio.gather(serving, return_exceptions=True)


def test_a_port_that_changed_while_the_connection_was_broken_is_told(own: str, tmp_path: Path) -> None:
    del own
    request, options = small(tmp_path, controller=False), LabOptions(tmp_path / "lab", cli=False, agents=False)
    with open_lab(request, options, kind_named("p4cc")) as lab:
        # Its place is taken; it stays away.
        lab.programs["controller"].keeps_running = False
        lab.programs["controller"].stop()
        told = asyncio.run(_broken(lab, tmp_path))
    assert told == [SwitchChange("s1", up=False), SwitchChange("s1", up=True), PortChange(0, "s1", 1, up=False)]
