"""TCP ports for the switches of a test's lab: a block that nobody listens at."""

from __future__ import annotations

import socket

# More switches than any lab of the tests has, and below the ports that the kernel hands out by itself.
BLOCK = 50
CANDIDATES = range(19_500, 32_000, BLOCK)


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_block(after: int) -> int:
    """First port of a free block behind the port `after`."""
    for base in CANDIDATES:
        if base > after and all(_free(base + number) for number in range(BLOCK)):
            return base
    raise AssertionError("every TCP port for labs is taken")


GRPC = _free_block(0)
THRIFT = _free_block(GRPC)
