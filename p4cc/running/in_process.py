"""The P4Runtime server of a network in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.install import Server
from controller.within import Service
from p4cc import _engine
from p4cc.errors import UserError

if TYPE_CHECKING:
    from p4cc._engine import Network

PATIENCE_S = 120.0
"""It cannot be unreachable, only slow: by many seconds on an overloaded machine."""


def server_at(address: str, network: Network | None = None) -> Server:
    """Address of the network's switches; with the network that is served there, requests go to its service directly.

    Raises UserError if that service cannot be called.
    """
    if network is None:
        return Server(address, timeout_s=PATIENCE_S)
    try:
        within = Service(network.calls(), _engine.CallError)
    except _engine.ServerError as error:
        raise UserError(error.cause, place="P4Runtime server", remedy=error.remedy) from error
    return Server(address, timeout_s=PATIENCE_S, within=within)
