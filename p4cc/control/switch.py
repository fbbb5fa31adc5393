"""A finsy Switch whose requests pass through the run: reads immediately, writes and stream messages when due.

The user's handlers run on a separate thread; connections belong to p4cc's event loop.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from finsy import P4Client, Switch, SwitchOptions
from finsy.proto import p4r

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from p4cc.control.line import SwitchLine

T = TypeVar("T")
Change = p4r.WriteRequest | p4r.StreamMessageRequest
"""A change or message by a controller."""


class Requests(Protocol):
    """Destination of a switch's changes."""

    async def change(self, line: SwitchLine, message: Change, place: str) -> None:
        """Applies a change now, or schedules it; raises P4ClientError for one that is refused now."""
        ...


class DeferringClient(P4Client):
    """A replacement for the client of a finsy Switch."""

    def __init__(self, line: SwitchLine, requests: Requests, loop: asyncio.AbstractEventLoop, file: str) -> None:
        """`loop` is that of the connections; messages name lines of the user's `file`."""
        super().__init__(line.address)
        self._line = line
        self._requests = requests
        self._loop = loop
        self._file = file

    async def send(self, msg: p4r.StreamMessageRequest) -> None:
        """Schedules or sends a stream message."""
        await self._on_loop(self._requests.change(self._line, msg, self._place()))

    # finsy declares an overload for each kind of request.
    async def request(self, msg: Any) -> Any:
        """Schedules or applies a write; sends all other requests immediately."""
        if isinstance(msg, p4r.SetForwardingPipelineConfigRequest):
            raise NotImplementedError("programs are set in the scenario: use switch.program and switch.programs")
        if isinstance(msg, p4r.WriteRequest):
            await self._on_loop(self._requests.change(self._line, msg, self._place()))
            return p4r.WriteResponse()
        return await self._on_loop(cast("Coroutine[Any, Any, Any]", self._line.client.request(msg)))

    async def request_iter(self, msg: p4r.ReadRequest) -> AsyncIterator[p4r.ReadResponse]:
        """Reads at this instant."""

        async def read() -> list[p4r.ReadResponse]:
            return [answer async for answer in self._line.client.request_iter(msg)]

        for answer in await self._on_loop(read()):
            yield answer

    async def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def _place(self) -> str:
        """The requesting line of the user's file."""
        frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return f"{self._file}:{frame.f_lineno}" if frame is not None else self._file


def switch_over(line: SwitchLine, client: P4Client) -> Switch:
    """A finsy Switch with the program's P4Info, over an open client."""
    options = SwitchOptions(device_id=line.plan.device_id)
    switch = Switch(line.plan.switch, line.address, options)
    switch.p4info.set_p4info(line.pipeline.config.p4info)
    # A Switch by itself would connect, arbitrate and read its stream in tasks, in no order of virtual time.
    switch._p4client = client  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return switch
