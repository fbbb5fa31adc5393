"""INT ports: codes that hosts can look up, one multiplier for the network, values that fit their fields."""

from collections.abc import Callable

import pytest

from controller import PlannerError
from controller.telemetry import RATE_CODES, IntPort, int_port, rate_codes, unit_shift

G = 1_000_000_000


def test_common_rates_keep_their_codes_and_others_get_one() -> None:
    assert rate_codes([25 * G, 100 * G]) == dict(RATE_CODES)
    table = rate_codes([3 * G, 2 * G, 10 * G])
    assert (table[6], table[9], table[10]) == (10 * G, 2 * G, 3 * G)
    with pytest.raises(PlannerError, match="8 rates have no code"):
        rate_codes(n * 1_000 for n in range(1, 9))


@pytest.mark.parametrize(
    ("rates", "shift"),
    [([10 * G], 0), ([25 * G], 0), ([26 * G], 1), ([100 * G, 25 * G], 2), ([400 * G], 4), ([10_000 * G], 5), ([], 0)],
)
def test_the_multiplier_follows_the_fastest_link(rates: list[int], shift: int) -> None:
    assert unit_shift(rates) == shift


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
