"""The P4Runtime server of a network in this process."""

from __future__ import annotations

from controller.install import Server

PATIENCE_S = 120.0
"""It cannot be away, only late: on a machine with more work than processors, by many seconds."""


def server_at(address: str) -> Server:
    """Where the network's switches are."""
    return Server(address, timeout_s=PATIENCE_S)
