"""The P4Runtime server of a network in this process."""

from __future__ import annotations

from controller.install import Server

PATIENCE_S = 120.0
"""It cannot be unreachable, only slow: by many seconds on an overloaded machine."""


def server_at(address: str) -> Server:
    """Address of the network's switches."""
    return Server(address, timeout_s=PATIENCE_S)
