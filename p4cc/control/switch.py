"""A finsy Switch whose requests go through the run: reads at once, writes and stream messages when they are due.

The user's handlers run on a thread of their own; connections are p4cc's, on its own event loop.
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
"""What a controller changes or sends."""


class Requests(Protocol):
    """Where a switch's changes go."""

    async def change(self, line: SwitchLine, message: Change, place: str) -> None:
        """Applies a change now, or notes it for when it is due; raises P4ClientError for one refused now."""
        ...


class DeferringClient(P4Client):
    """What a finsy Switch takes for its client."""

    def __init__(self, line: SwitchLine, requests: Requests, loop: asyncio.AbstractEventLoop, file: str) -> None:
        """`loop` is the connections' own; `file` is the user's, whose lines messages name."""
        super().__init__(line.address)
        self._line = line
        self._requests = requests
        self._loop = loop
        self._file = file

    async def send(self, msg: p4r.StreamMessageRequest) -> None:
        """Notes a stream message, or sends it."""
        await self._on_loop(self._requests.change(self._line, msg, self._place()))

    # finsy declares an overload for each kind of request.
    async def request(self, msg: Any) -> Any:
        """Notes a write, or applies it; asks all else at once."""
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
        """The line of the user's file that asks."""
        frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        while frame is not None and frame.f_code.co_filename != self._file:
            frame = frame.f_back
        return f"{self._file}:{frame.f_lineno}" if frame is not None else self._file


def switch_over(line: SwitchLine, client: P4Client) -> Switch:
    """A finsy Switch with the program's P4Info, over a client that is open."""
    options = SwitchOptions(device_id=line.plan.device_id)
    switch = Switch(line.plan.switch, line.address, options)
    switch.p4info.set_p4info(line.pipeline.config.p4info)
    # A Switch by itself would connect, arbitrate and read its stream in tasks, in no order of virtual time.
    switch._p4client = client  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return switch
