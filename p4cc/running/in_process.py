"""The P4Runtime server of a network in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.install import Server
from controller.within import Service
from p4cc import _engine

if TYPE_CHECKING:
    from p4cc._engine import Network

PATIENCE_S = 120.0
"""It cannot be unreachable, only slow: by many seconds on an overloaded machine."""


def server_at(address: str, network: Network | None = None) -> Server:
    """Address of the network's switches; with the network that is served there, requests go to its service directly."""
    within = None if network is None else Service(network.calls(), _engine.CallError)
    return Server(address, timeout_s=PATIENCE_S, within=within)
