"""INT ports: codes that hosts can look up, one multiplier for the network, values that fit their fields."""

from collections.abc import Callable
from functools import reduce
from itertools import combinations, product

import pytest

from controller import PlannerError
from controller.telemetry import RATE_CODES, IntPort, int_port, rate_codes, scattered_id, unit_shift
from topos import generate

G = 1_000_000_000


def test_common_rates_keep_their_codes_and_others_get_one() -> None:
    assert rate_codes([25 * G, 100 * G]) == dict(RATE_CODES)
    table = rate_codes([3 * G, 2 * G, 10 * G])
    assert (table[6], table[9], table[10]) == (10 * G, 2 * G, 3 * G)
    with pytest.raises(PlannerError, match="8 link rates have no predefined code"):
        rate_codes(n * 1_000 for n in range(1, 9))


@pytest.mark.parametrize(
    ("rates", "shift"),
    [([10 * G], 0), ([25 * G], 0), ([26 * G], 1), ([100 * G, 25 * G], 2), ([400 * G], 4), ([10_000 * G], 5), ([], 0)],
)
def test_the_multiplier_follows_the_fastest_link(rates: list[int], shift: int) -> None:
    assert unit_shift(rates) == shift


def test_every_switch_has_an_id_of_its_own() -> None:
    ids = {scattered_id(number) for number in range(1, 4_096)}
    assert len(ids) == 4_095
    assert ids <= set(range(1, 4_096))
    for number in (0, 4_096):
        with pytest.raises(PlannerError, match=f"switch number {number} does not fit"):
            scattered_id(number)


@pytest.mark.parametrize(("k", "in_a_row"), [(6, 12), (8, 28)])
def test_ways_of_equal_length_differ_by_their_path_id(k: int, in_a_row: int) -> None:
    """Two pods of a fat-tree have `k^2 / 4` ways; edge switches are on all of them (docs/algorithms/int.md#path-id)."""
    topology = generate("fat_tree", {"k": k})
    places = {name: place for place, name in enumerate(topology.switch_names, start=1)}

    def collisions(id_of: Callable[[int], int]) -> int:
        def path_id(there: int, back: int, group: int, core: int) -> int:
            way = (f"p{there}a{group}", f"c{group}-{core}", f"p{back}a{group}")
            return reduce(int.__xor__, (id_of(places[name]) for name in way))

        half = range(1, k // 2 + 1)
        found = 0
        for there, back in combinations(range(1, k + 1), 2):
            ids = [path_id(there, back, group, core) for group, core in product(half, half)]
            found += sum(one == other for one, other in combinations(ids, 2))
        return found

    assert (collisions(scattered_id), collisions(lambda number: number)) == (0, in_a_row)


def test_a_port() -> None:
    port = int_port(switch_id=7, rate_bps=100 * G, network_rates_bps=[400 * G], max_hops=8)
    assert port == IntPort(7, 2, 4, 1, 0, 8)
    hosts = int_port(switch_id=7, rate_bps=400 * G, network_rates_bps=[400 * G], host_rates_bps=[100 * G])
    assert (hosts.rate_code, hosts.unit_shift) == (4, 2), (
        "m is 4 at 100 Gb/s, whatever the fabric's links (docs/algorithms/int.md#hpcc-int)"
    )
    assert int_port(switch_id=7, rate_bps=G, network_rates_bps=[], depth_bytes=1500).cells_per_depth == 19


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: int_port(switch_id=4096, rate_bps=G, network_rates_bps=[]), "switch_id"),
        (lambda: int_port(switch_id=0, rate_bps=G, network_rates_bps=[], max_hops=9), "max_hops"),
        (lambda: int_port(switch_id=0, rate_bps=G, network_rates_bps=[], framing_bytes=256), "framing_bytes"),
        (lambda: int_port(switch_id=0, rate_bps=G, network_rates_bps=[], depth_bytes=0), "depth_bytes"),
        (lambda: int_port(switch_id=0, rate_bps=G, network_rates_bps=[], depth_bytes=20_401), "depth_bytes"),
    ],
)
def test_what_does_not_fit_is_refused(make: Callable[[], IntPort], name: str) -> None:
    with pytest.raises(PlannerError, match=name):
        make()
