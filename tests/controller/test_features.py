"""What programs beside the dual-threshold one are told of ports, against their committed P4Info."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.bolt import BoltSettings, bolt_port
from controller.d3 import D3_STAMPED, D3PortPlan, D3Settings, D3Share, capacity_estimate, d3_port
from controller.entities import ActionCall, Entry, EntryKey, Exact, Range
from controller.features import Feature, PortTable, QueueSettings, SpraySettings
from controller.rcp import RCP_PORTS, RCP_STAMPED, RCP_UNITS, RcpStamp, rcp_port
from controller.red import CURVE_UNITS, CURVES, MAX_DEPTH, RedStepsSettings, hpcc_script_curve
from controller.telemetry import INT_PORTS, int_port
from tests.controller import own_program as program
from tests.controller.planned import planned, roles
from topos import generate

GOLDEN = Path(__file__).resolve().parents[2] / "p4src/golden"
RATE_BPS = 100_000_000_000
PORTS = {1: "h1", 2: "r1"}


def features() -> dict[str, Feature]:
    """One feature by the program that has its tables."""
    port = int_port(switch_id=1, rate_bps=RATE_BPS, network_rates_bps=[RATE_BPS])
    allocator = d3_port(capacity_bps=10**9, rtt_ns=300_000)
    estimate = capacity_estimate(rate_bps=10**9, interval_ns=300_000, depth_bytes=80)
    share = D3Share(allocator.capacity_kbps, allocator.capacity_kbps, allocator.base_kbps)
    fair = rcp_port(rate_bps=10**9, interval_ns=300_000, rtt_ns=300_000, depth_bytes=80)
    return {
        "ecn_red": PortTable(CURVES, {("s1", "r1"): hpcc_script_curve(RATE_BPS)}, "set_curve", CURVE_UNITS),
        "int_hpcc": PortTable(INT_PORTS, {("s1", "h1"): port}),
        "ack_priority": QueueSettings(3),
        "ecn_red_spray": SpraySettings(50_000),
        "d3": D3Settings({("s1", "r1"): D3PortPlan(allocator, estimate)}),
        "rcp": PortTable(RCP_PORTS, {("s1", "r1"): fair}, units=RCP_UNITS),
        "bolt": BoltSettings({("s1", "r1"): bolt_port(rate_bps=RATE_BPS, packet_bytes=1_512, depth_bytes=80)}),
        "tna/ecn_red": RedStepsSettings({("s1", "r1"): hpcc_script_curve(RATE_BPS)}),
        "tna/d3": PortTable(D3_STAMPED, {("s1", "r1"): share}, "set_share"),
        "tna/rcp": PortTable(RCP_STAMPED, {("s1", "r1"): RcpStamp(fair.initial_kbps, 0)}, "set_rate"),
    }


def entries_of(name: str) -> list[Entry]:
    tables = roles(name)
    return [tables.table(row.role).entry(row) for row in features()[name].rows("s1", PORTS)]


OF_V1MODEL = ["ecn_red", "ecn_red_spray", "int_hpcc", "ack_priority", "d3", "rcp", "bolt"]


@pytest.mark.parametrize("name", [*OF_V1MODEL, "tna/ecn_red", "tna/d3", "tna/rcp"])
def test_entries_name_what_the_program_has(name: str) -> None:
    feature = features()[name]
    known = set(re.findall(r'name: "([^"]+)"', (GOLDEN / f"{name}.p4info.txtpb").read_text(encoding="utf-8")))
    entries = entries_of(name)
    assert entries
    assert set(feature.roles) <= roles(name).tables.keys()
    for entry in entries:
        assert isinstance(entry.action, ActionCall)
        assert {entry.key.table, entry.action.name, *(name for name, _ in entry.action.args)} <= known
        assert {field.field for field in entry.key.match} <= known
        assert list(entry.action.args) == sorted(entry.action.args)


def test_values_by_hand() -> None:
    # 400 kB and 1600 kB at 100 Gb/s in cells of 80 B; 0.2 of 2^32 over 15,000 cells.
    (curve,) = entries_of("ecn_red")
    args = (("high", 20_000), ("low", 5_000), ("rise", 57_266))
    assert curve == Entry(EntryKey(program.CURVES, (Exact("egress_port", 2),)), ActionCall(program.SET_CURVE, args))
    (port,) = entries_of("int_hpcc")
    told = (("cells", 1), ("framing", 0), ("hops", 5), ("id", 1), ("rate", 2), ("shift", 2))
    assert port.action == ActionCall(program.SET_INT_PORT, told)
    classes = [entry.key.match for entry in entries_of("ack_priority")]
    assert classes == [(Exact("is_control", 1), Exact("traffic_class", number)) for number in range(8)]
    assert list(QueueSettings().rows("s1", PORTS)) == []
    (share,) = entries_of("tna/d3")
    assert share.action == ActionCall(
        program.SET_D3_SHARE, (("fair", 1_707), ("most", 1_000_000), ("number", 0), ("rate", 1_000_000))
    )
    steps = entries_of("tna/ecn_red")
    assert len(steps) == 33
    first, last = steps[0], steps[-1]
    # 15,000 cells from K_min in 32 steps, the first up to cell 468 of them: half of what the curve has there.
    match = (Exact("egress_port", 2), Range("queue_depth", 5_001, 5_468))
    assert first == Entry(EntryKey(program.RED_STEPS, match, 1), ActionCall(program.SET_PROBABILITY, (("p", 204),)))
    above = (Exact("egress_port", 2), Range("queue_depth", 20_001, MAX_DEPTH))
    assert last == Entry(EntryKey(program.RED_STEPS, above, 1), ActionCall(program.SET_ALWAYS))


def test_a_plan_owns_routes_and_the_tables_of_its_features() -> None:
    (plan,) = planned(generate("star", {"senders": 2}), None, tuple(features().values()), names=tuple(features()))
    tables = roles(*features())
    of_features = tuple(tables.table(role).name for feature in features().values() for role in feature.roles)
    assert plan.scope.tables == (program.ROUTES, program.ECMP_SEEDS, *of_features)
    assert set(of_features) >= {
        program.CURVES,
        program.INT_PORTS,
        program.PRIORITIES,
        program.D3_PORTS,
        program.RCP_PORTS,
    }
    assert not {program.THRESHOLDS, program.CODEPOINTS} & set(plan.scope.tables)
    tables = {entity.key.table for entity in plan.entities if isinstance(entity, Entry)}
    # This star has a port to h1 and none to r1.
    assert tables == {program.ROUTES, program.INT_PORTS, program.PRIORITIES, program.FLOWLET_GAPS}
