"""Errors of a BF Runtime server as one message with place, cause and remedy.

A write of several updates ends with UNKNOWN; its details then hold one `bfrt_proto.Error` for each update.
"""

from collections.abc import Mapping, Sequence

import grpc.aio
from finsy import GRPCStatusCode
from finsy.proto import rpc_status
from google.protobuf.message import DecodeError

from controller.bfrt import wire
from controller.entities import Update
from controller.errors import SwitchError

DETAILS = "grpc-status-details-bin"
MAX_CAUSE = 500
"""Characters of a server's words that a message repeats."""

REMEDIES: Mapping[str, str] = {
    "UNAVAILABLE": "start the switch with BF Runtime (run_switchd.sh, p4cc-switch --bfrt-addr), or correct the address",
    "DEADLINE_EXCEEDED": "check that the switch is still running, or increase the timeout",
    "NOT_FOUND": "check that the program, table and entry exist",
    "PERMISSION_DENIED": "do not change what the program fixes",
    "RESOURCE_EXHAUSTED": "increase the size in the P4 program, or write less",
    "ALREADY_EXISTS": "another controller wrote at the same time; install again",
    "INVALID_ARGUMENT": "check that the controller and the P4 program match",
    "UNIMPLEMENTED": "check that a BF Runtime server listens there, and that it supports this feature",
}


def refusal(place: str, error: grpc.aio.AioRpcError, batch: Sequence[Update] = ()) -> SwitchError:
    """One message for a refused call; for a write, of the first update refused, with the number of the others."""
    code, cause = str(error.code().name), str(error.details() or "")
    refused = [(at, one) for at, one in enumerate(_errors(error)) if one.canonical_code != 0]
    if refused:
        at, first = refused[0]
        code, cause = code_name(first.canonical_code), str(first.message)
        if at < len(batch):
            place = f"{place}: {batch[at]}"
        if len(refused) > 1:
            cause = f"{cause[:MAX_CAUSE]}; {len(refused) - 1} more updates were refused"
    remedy = REMEDIES.get(code, "check the log of the switch")
    return SwitchError(place, f"{code}: {cause[: 2 * MAX_CAUSE] or 'no message'}", remedy, code)


def code_name(code: int) -> str:
    """The name of one of gRPC's status codes."""
    try:
        return GRPCStatusCode(code).name
    except ValueError:
        return "UNKNOWN"


def _errors(error: grpc.aio.AioRpcError) -> list[wire.Message]:
    """The errors of a write's updates that the server reports."""
    errors: list[wire.Message] = []
    for name, value in error.trailing_metadata() or ():
        if name != DETAILS or not isinstance(value, bytes):
            continue
        try:
            status = rpc_status.Status.FromString(value)
            errors.extend(wire.Error.FromString(detail.value) for detail in status.details)
        except (DecodeError, TypeError):
            return []
    return errors
