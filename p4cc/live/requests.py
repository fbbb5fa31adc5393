"""A page's requests as sent; `parse` checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from p4cc.errors import UserError

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject

PLACE = "live page"
LEAST_SPEED, MOST_SPEED = 1e-9, 1e3
"""Virtual seconds per real second."""
MAX_STEP_NS = 3_600_000_000_000
MAX_WATCHED = 8
"""Ports, and flows, whose values over time are sent."""
MAX_TRACED = 16
"""Packets that one request traces."""

JumpTarget: TypeAlias = Literal["drop", "mark", "pause"]
"""News that ends a jump in virtual time."""
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=256)]
Numbers: TypeAlias = Annotated[list[int], Field(max_length=MAX_WATCHED)]


class Request(BaseModel):
    """Fields are read strictly: true is not a number, nor is "1"."""

    model_config = ConfigDict(strict=True, frozen=True)


class WatchRequest(Request):
    """Ports and flows to watch; none for the deepest queues and the first active flows."""

    ports: Numbers = []
    flows: Numbers = []


class PaceRequest(Request):
    """Stops time, lets it pass, or runs the rest at full speed."""

    do: Literal["pause", "run", "finish"]


class StepRequest(Request):
    """Lets a span of virtual time pass."""

    do: Literal["step"]
    span_ns: Annotated[int, Field(ge=1, le=MAX_STEP_NS)]


class SpeedRequest(Request):
    """Sets the speed; None for full speed."""

    do: Literal["speed"]
    speed: Annotated[float, Field(ge=LEAST_SPEED, le=MOST_SPEED)] | None = None


class JumpRequest(Request):
    """Runs to the next event of a kind."""

    do: Literal["jump"]
    to: JumpTarget


ControlRequest: TypeAlias = PaceRequest | StepRequest | SpeedRequest | JumpRequest
CONTROL: TypeAdapter[ControlRequest] = TypeAdapter(Annotated[ControlRequest, Field(discriminator="do")])


class ChangeRequest(Request):
    """Another action for an entry that the page shows."""

    switch: Name
    entry: Name
    action: Name
    params: dict[str, JsonValue] = {}


class ThresholdRequest(Request):
    """Thresholds of a port; None keeps the present one."""

    switch: Name
    port: int
    k_pkts: int | None = None
    k_dc_pkts: int | None = None


class TraceRequest(Request):
    """The next packets through a switch, step by step."""

    switch: Name
    packets: Annotated[int, Field(ge=1, le=MAX_TRACED)] = 3


T = TypeVar("T")


def parse(request: TypeAdapter[T] | type[T], body: JsonObject) -> T:
    """The request in this body; raises UserError."""
    adapter = request if isinstance(request, TypeAdapter) else TypeAdapter(request)
    try:
        return adapter.validate_python(body)
    except ValidationError as error:
        raise invalid(error, "correct the request") from error


def invalid(error: ValidationError, remedy: str) -> UserError:
    """The first problem, for people."""
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"])
    return UserError(first["msg"], place=f"{PLACE}: {where}" if where else PLACE, remedy=remedy)
