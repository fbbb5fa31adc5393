"""The controller against the engine's own P4Runtime server: what it writes, what it leaves, what it reads back."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from controller import EcnSettings, Profile, SwitchError, Thresholds, same_thresholds
from controller.client import Target, connect, line_to
from controller.files import read_entries
from controller.install import Server, diff_network, install_fixed, install_network, read_ports
from controller.pipeline import Pipeline, load_pipeline
from controller.resolve import resolve
from p4cc import _engine
from p4cc.planning.programs import compile_program
from tests.controller.planned import planned
from topos import Topology, format_ipv4, format_mac, generate, plan_addresses

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGY = generate("star", {"senders": 3})


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    program = compile_program(ROOT / "p4src" / "v1model" / "ecn_dual.p4")
    return load_pipeline(program.p4info_bytes(), program.device_config())


def ecn(profile: Profile, k_pkts: int) -> EcnSettings:
    return EcnSettings(profile, same_thresholds(TOPOLOGY, Thresholds(k_pkts, 65)))


def network(topology: Topology) -> _engine.Network:
    """The star with one flow from its first sender."""
    addresses = plan_addresses(topology)
    hosts = [
        {"name": name, "mac": format_mac(a.mac), "ipv4": format_ipv4(a.ipv4), "gateway_mac": format_mac(a.gateway_mac)}
        for name, a in addresses.hosts.items()
    ]
    ports = topology.ports["s1"]
    links = [
        {"a": {"node": port.peer}, "b": {"node": "s1", "port": port.number}, "rate_bps": 10**10, "delay_ns": 25_000}
        for port in ports
    ]
    spec: dict[str, object] = {
        "switches": [
            {
                "name": "s1",
                "device_id": 1,
                "ports": [{"port": port.number, "queue_capacity_pkts": 150} for port in ports],
            }
        ],
        "hosts": hosts,
        "links": links,
        "algorithms": {"reno": {}},
        "flows": [{"id": 1, "src": "h1", "dst": "aggregator", "size_bytes": 14_360, "algorithm": "reno"}],
        "stop_ns": 10**9,
        "limits": {"max_events": 10**6},
    }
    return _engine.Network(json.dumps(spec))


@asynccontextmanager
async def served(net: _engine.Network) -> AsyncGenerator[Server]:
    try:
        yield Server(net.serve())
    finally:
        net.stop_server()


async def test_only_what_differs_is_written(pipeline: Pipeline) -> None:
    plans = planned(TOPOLOGY, ecn(Profile.GST, 33))
    async with served(network(TOPOLOGY)) as server:
        (before,) = await diff_network(server, pipeline, plans)
        assert before.pipeline_differs
        (first,) = await install_network(server, pipeline, plans)
        assert first.pipeline_pushed
        assert first.updates_written == len(before.updates) > 0
        (again,) = await install_network(server, pipeline, plans)
        assert not again.pipeline_pushed
        assert again.updates_written == 0
        other = planned(TOPOLOGY, ecn(Profile.GST, 25))
        (changed,) = await install_network(server, pipeline, other)
        assert not changed.pipeline_pushed
        assert changed.updates_written == len(TOPOLOGY.ports["s1"])
        (left,) = await diff_network(server, pipeline, other)
        assert left.updates == ()


async def test_what_a_program_fills_itself_is_read_before_it_is_written(tmp_path: Path, pipeline: Pipeline) -> None:
    for part in ("adaptors", "include", "controls", "v1model"):
        shutil.copytree(ROOT / "p4src" / part, tmp_path / part)
    control = tmp_path / "controls" / "ecn_dual.p4"
    place = "const default_action = NoAction();\n        size = PORT_COUNT;\n"
    text = control.read_text(encoding="utf-8")
    assert text.count(place) == 1
    # One is in the way of the plan, one is no port's.
    control.write_text(
        text.replace(place, f"{place}entries = {{ 1: NoAction(); 99: NoAction(); }}\n"), encoding="utf-8"
    )
    program = compile_program(tmp_path / "v1model" / "ecn_dual.p4")
    filled = load_pipeline(program.p4info_bytes(), program.device_config())
    plans = planned(TOPOLOGY, ecn(Profile.GST, 33))
    assert [one.fills(plans[0].scope) for one in (pipeline, filled)] == [False, True]
    async with served(network(TOPOLOGY)) as server:
        (first,) = await install_network(server, filled, plans)
        assert first.pipeline_pushed
        (left,) = await diff_network(server, filled, plans)
        assert left.updates == ()
        assert {port.k_pkts for port in await read_ports(server, filled, plans)} == {33}


async def test_counters_are_read_back_after_a_run(pipeline: Pipeline) -> None:
    plans = planned(TOPOLOGY, ecn(Profile.SCE, 33))
    net = network(TOPOLOGY)
    async with served(net) as server:
        await install_network(server, pipeline, plans)
        assert all(port.level0_pkts == 0 for port in await read_ports(server, pipeline, plans))
        net.run()
        ports = {port.peer: port for port in await read_ports(server, pipeline, plans)}
    assert (ports["aggregator"].k_pkts, ports["aggregator"].k_dc_pkts) == (33, 65)
    # Ten data packets to the aggregator, an ACK for each back to the sender, nothing elsewhere.
    assert ports["aggregator"].level0_pkts == 10
    assert ports["h1"].level0_pkts == 10
    assert ports["h2"].level0_pkts == 0


async def test_a_switch_that_is_not_there_is_one_error(pipeline: Pipeline) -> None:
    plans = planned(TOPOLOGY, ecn(Profile.GST, 33))
    net = network(TOPOLOGY)
    address = net.serve()
    net.stop_server()
    with pytest.raises(SwitchError, match="UNAVAILABLE"):
        await install_network(Server(address, timeout_s=2.0), pipeline, plans)


async def test_of_several_switches_the_first_that_fails_is_the_error(pipeline: Pipeline) -> None:
    (plan,) = planned(TOPOLOGY, ecn(Profile.GST, 33))
    absent = [replace(plan, switch=f"absent{number}", device_id=number) for number in range(2, 60)]
    async with served(network(TOPOLOGY)) as server:
        with pytest.raises(SwitchError, match=r"switch absent2 \(device 2"):
            await install_network(server, pipeline, [plan, *absent])
        # The others have ended: nobody else is primary.
        (report,) = await install_network(server, pipeline, [plan])
        assert report.updates_written == 0


async def test_a_closed_session_leaves_no_task_behind() -> None:
    # gRPC complains on the error output of a task that its loop never finished.
    before = asyncio.all_tasks()
    async with served(network(TOPOLOGY)) as server:
        target = Target(server.address, 1, "s1")
        async with connect(target) as session:
            await session.become_primary()
        assert asyncio.all_tasks() == before
        async with line_to(server.address) as line:
            async with line.session(target) as session:
                await session.become_primary()
            assert asyncio.all_tasks() == before


async def test_what_a_file_fixes_is_added_and_what_else_is_there_stays() -> None:
    files = ROOT / "tests" / "lab" / "files"
    program = compile_program(files / "route.p4")
    route = load_pipeline(program.p4info_bytes(), program.device_config())
    (of_runtime, of_commands) = (
        resolve(read_entries((files / name).read_text(encoding="utf-8"), name), route.schema)
        for name in ("s1.json", "s2.txt")
    )
    async with served(network(TOPOLOGY)) as server, connect(Target(server.address, 1, "s1")) as session:
        await session.become_primary()
        first = await install_fixed(session, route, of_runtime)
        # Four entries, a multicast group and a clone session; the program has the default action already.
        assert (first.pipeline_pushed, first.updates_written) == (True, 6)
        again = await install_fixed(session, route, of_runtime)
        assert (again.pipeline_pushed, again.updates_written) == (False, 0)
        # Two routes and a class come, group and session change, and the default action is the same.
        assert (await install_fixed(session, route, of_commands)).updates_written == 5
        # The first file's entries are all there still; group and session are not as it says.
        assert (await install_fixed(session, route, of_runtime)).updates_written == 2
