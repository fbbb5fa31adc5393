"""Bolt's ports in the units of `bolt.p4`, and the sessions by which notifications go back."""

from __future__ import annotations

from typing import Any

import pytest

from controller.bolt import BoltPort, BoltSettings, bolt_port
from controller.entities import ActionCall, CloneKey, CloneSession, Entry
from controller.errors import PlannerError
from tests.controller import own_program as program
from tests.controller.planned import planned
from topos import generate

PLAIN: dict[str, Any] = {"rate_bps": 100_000_000_000, "packet_bytes": 1_512, "depth_bytes": 80}


def test_values_by_hand() -> None:
    # 12.5 B in a nanosecond, and 1.25 B in a microsecond; two packets; SRC, PRU and SM.
    assert bolt_port(**PLAIN) == BoltPort(100_000_000, 13_107_200, 3_024, 1_512, 80, 0, 256, True, True)
    port = bolt_port(
        **{**PLAIN, "rate_bps": 10_000_000, "threshold_bytes": 9_000},
        time_unit_ns=1_000,
        most_places=0,
        offers_room=False,
        tells=False,
    )
    assert port == BoltPort(10_000, 1_310_720, 9_000, 1_512, 80, 0, 0, False, False)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"rate_bps": 10_000_000_000_000}, "rate in kbit/s"),
        ({"rate_bps": 8_000}, "bytes for one unit of time"),
        ({"threshold_bytes": 0}, "threshold_bytes"),
        ({"packet_bytes": 1 << 16}, "packet_bytes"),
        ({"depth_bytes": 5_000}, "depth_bytes"),
        ({"most_places": 1 << 16}, "most_places"),
        ({"framing_bytes": 300}, "framing_bytes"),
    ],
)
def test_what_no_parameter_holds_is_refused(changes: dict[str, Any], place: str) -> None:
    with pytest.raises(PlannerError) as refused:
        bolt_port(**{**PLAIN, **changes})
    assert refused.value.place == place


@pytest.mark.parametrize(
    ("most", "beyond", "place"),
    [
        ({"rate_bps": ((1 << 32) - 1) * 1_000}, {"rate_bps": (1 << 32) * 1_000}, "rate in kbit/s"),
        # In 8 ns: 4,095.99... and 4,096 B, with 20 bits behind the point.
        (
            {"rate_bps": 4_095_999_999_046, "time_unit_ns": 8},
            {"rate_bps": 4_096_000_000_000, "time_unit_ns": 8},
            "bytes for one unit of time",
        ),
        ({"threshold_bytes": (1 << 32) - 1}, {"threshold_bytes": 1 << 32}, "threshold_bytes"),
        ({"packet_bytes": (1 << 16) - 1}, {"packet_bytes": 1 << 16}, "packet_bytes"),
        ({"most_places": (1 << 16) - 1}, {"most_places": 1 << 16}, "most_places"),
    ],
)
def test_the_largest_values_fit_and_the_next_do_not(most: dict[str, Any], beyond: dict[str, Any], place: str) -> None:
    assert bolt_port(**{**PLAIN, **most})
    with pytest.raises(PlannerError) as refused:
        bolt_port(**{**PLAIN, **beyond})
    assert refused.value.place == place


def test_every_port_of_a_switch_has_a_session_back() -> None:
    topology = generate("star", {"senders": 2})
    ports = {("s1", port.peer): bolt_port(**PLAIN) for port in topology.ports["s1"]}
    (plan,) = planned(topology, None, (BoltSettings(ports),), names=("bolt",))
    entries = [one for one in plan.entities if isinstance(one, Entry) and one.key.table == program.BOLT_PORTS]
    calls = [one.action for one in entries if isinstance(one.action, ActionCall)]
    assert [dict(call.args)["threshold"] for call in calls] == [3_024] * 3
    sessions = [CloneSession(CloneKey(1_024 + port), ((port, 1),), class_of_service=7) for port in (1, 2, 3)]
    assert list(plan.fixed) == sessions
    (plan,) = planned(topology, None, (BoltSettings(ports),), names=("ecn_dual",))
    assert not plan.fixed
