"""Routes of many hosts as few prefixes, for LPM tables. Pure, no I/O.

A prefix covers hosts with consecutive addresses and the same way. It may cover addresses that no
host has; what is sent there goes the way of its hosts, which ends at the last switch before them: that one has a route
for each. It cannot go around in circles: of all prefixes that hold such an address the longest is within the others,
so each leads towards the hosts of that one.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Addresses: TypeAlias = npt.NDArray[np.uint32]
Ids: TypeAlias = npt.NDArray[np.int32]

_BITS = 32


def runs(ways: Ids) -> Iterator[tuple[int, int, int]]:
    """Stretches of hosts with the same way: first, end and the way."""
    if len(ways) == 0:
        return
    starts = np.flatnonzero(ways[1:] != ways[:-1]) + 1
    bounds = [0, *starts.tolist(), len(ways)]
    for (start, end), way in zip(pairwise(bounds), ways[bounds[:-1]].tolist(), strict=True):
        yield start, end, way


def covering(addresses: Addresses, start: int, end: int) -> list[tuple[int, int]]:
    """Value and length of the fewest prefixes over a stretch of hosts, without the hosts before and after it.

    `addresses` are those of all hosts, ascending and each once. Prefixes ascend and are as short as hosts ask for.
    """
    above = int(addresses[start - 1]) if start else -1
    below = int(addresses[end]) if end < len(addresses) else 1 << _BITS
    here, found = start, list[tuple[int, int]]()
    while here < end:
        first = int(addresses[here])
        size = 1
        while (first & -(2 * size)) > above and (first & -(2 * size)) + 2 * size <= below and 2 * size <= 1 << _BITS:
            size *= 2
        behind = here + int(np.searchsorted(addresses[here:end], (first & -size) + size))
        last = int(addresses[behind - 1])
        # No wider than its hosts: one host is one address.
        length = _BITS - (first ^ last).bit_length()
        found.append((first >> (_BITS - length) << (_BITS - length), length))
        here = behind
    return found
