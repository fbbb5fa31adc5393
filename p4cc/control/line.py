"""The P4Runtime connection of a run's controller to one switch.

A call returns after the switch has processed the request: after a stream message the connection sends another
arbitration, which the switch answers in the order of the stream.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from finsy import P4Client
from finsy.proto import U128, p4r

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from controller import SwitchPlan
    from controller.pipeline import Pipeline

ELECTION_ID = 1


@dataclass
class SwitchLine:
    """An open connection, primary at its switch; created by `connect`."""

    plan: SwitchPlan
    pipeline: Pipeline
    address: str
    client: P4Client
    errors: list[p4r.StreamError] = field(default_factory=list[p4r.StreamError])
    """The switch's errors for stream messages since the last check."""

    async def send(self, message: p4r.StreamMessageRequest) -> p4r.StreamError | None:
        """Sends a stream message; returns the switch's error, if any."""
        await self.client.send(message)
        await self.arbitrate()
        return self.errors.pop() if self.errors else None

    async def receive(self, count: int) -> list[p4r.StreamMessageResponse]:
        """The next messages from the switch to its controller."""
        return [await self.client.receive() for _ in range(count)]

    async def read(self, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """All entities of the switch that match these; raises P4ClientError."""
        request = p4r.ReadRequest(device_id=self.plan.device_id, entities=entities)
        return [entity async for answer in self.client.request_iter(request) for entity in answer.entities]

    async def write(self, updates: Sequence[p4r.Update]) -> None:
        """Writes these updates; raises P4ClientError."""
        await self.client.request(p4r.WriteRequest(device_id=self.plan.device_id, updates=updates))

    async def arbitrate(self) -> None:
        """Requests to be primary, initially or again, and waits for the answer; raises P4ClientError, UserError."""
        bid = p4r.MasterArbitrationUpdate(device_id=self.plan.device_id, election_id=U128.encode(ELECTION_ID))
        await self.client.send(p4r.StreamMessageRequest(arbitration=bid))
        while True:
            answer = await self.client.receive()
            if answer.HasField("error"):
                self.errors.append(answer.error)
            elif answer.HasField("arbitration"):
                break
        self.check_primary(answer.arbitration)

    def check_primary(self, answer: p4r.MasterArbitrationUpdate) -> None:
        """Raises UserError unless an answer makes this connection primary."""
        if answer.status.code:
            cause = f"is not the primary controller of {self.plan.switch}: {answer.status.message}"
            raise UserError(cause, place="controller", remedy="make sure that no other controller connects to the run")


@asynccontextmanager
async def connect(address: str, plan: SwitchPlan, pipeline: Pipeline) -> AsyncGenerator[SwitchLine]:
    """Opens a connection that is primary, and closes it at the end."""

    def complete(message: object) -> None:
        if isinstance(message, p4r.WriteRequest):
            message.election_id.CopyFrom(U128.encode(ELECTION_ID))

    client = P4Client(address, wait_for_ready=False)
    await client.open(complete_request=complete)
    try:
        line = SwitchLine(plan, pipeline, address, client)
        await line.arbitrate()
        yield line
    finally:
        await client.close()
