"""Prefixes of routes: each host has its way, no address has two, as few as can be; a search says so too."""

from ipaddress import IPv4Network
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from controller.prefixes import covering, runs

hosts = st.dictionaries(st.integers(0, 40) | st.integers(2**32 - 9, 2**32 - 1), st.integers(0, 2), min_size=1)


class Prefix(NamedTuple):
    """Addresses that share a beginning, and the way that all hosts among them have."""

    value: int
    length: int
    way: int


def found(ways: dict[int, int]) -> list[Prefix]:
    values = sorted(ways)
    addresses = np.array(values, dtype=np.uint32)
    of_hosts = runs(np.array([ways[value] for value in values], dtype=np.int32))
    return [Prefix(*prefix, way) for start, end, way in of_hosts for prefix in covering(addresses, start, end)]


def texts(ways: dict[int, int]) -> list[tuple[str, int]]:
    return [(str(IPv4Network((one.value, one.length))), one.way) for one in found(ways)]


def test_hosts_of_one_way_share_a_prefix_that_is_no_wider_than_they_are() -> None:
    base = 10 << 24
    racks = {base + host: (host - 1) // 4 for host in range(1, 9)}
    assert texts({base + 5: 0}) == [("10.0.0.5/32", 0)]
    assert texts(dict.fromkeys(racks, 7)) == [("10.0.0.0/28", 7)]
    assert texts(racks) == [
        ("10.0.0.0/30", 0),
        ("10.0.0.4/32", 0),
        ("10.0.0.5/32", 1),
        ("10.0.0.6/31", 1),
        ("10.0.0.8/32", 1),
    ]
    aligned = {base + (rack << 8) + host: rack for rack in range(3) for host in range(1, 5)}
    assert texts(aligned) == [("10.0.0.0/29", 0), ("10.0.1.0/29", 1), ("10.0.2.0/29", 2)]


@given(hosts)
def test_every_host_has_its_way_and_no_prefix_holds_another(ways: dict[int, int]) -> None:
    all_of_them = found(ways)
    nets = [IPv4Network((one.value, one.length)) for one in all_of_them]
    assert nets == sorted(nets)
    assert not any(a.overlaps(b) for at, a in enumerate(nets) for b in nets[at + 1 :])
    for host, way in ways.items():
        (mine,) = (one for one in all_of_them if one.value >> (32 - one.length) == host >> (32 - one.length))
        assert mine.way == way


@given(hosts)
def test_there_are_no_fewer(ways: dict[int, int]) -> None:
    assert len(found(ways)) == _fewest(ways, 0, 32)


def _fewest(ways: dict[int, int], value: int, length: int) -> int:
    """Prefixes that a block needs: one where its hosts agree, else those of its halves."""
    inside = {host: way for host, way in ways.items() if host >> length == value >> length}
    if len(set(inside.values())) <= 1:
        return len(set(inside.values()))
    half = 1 << (length - 1)
    return _fewest(inside, value, length - 1) + _fewest(inside, value | half, length - 1)
