"""The page of a lab: what it shows of real switches, and that writing through it leaves their controller primary."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from finsy import P4Client
from finsy.proto import p4r
from typer.testing import CliRunner

from p4cc.cli import app
from p4cc.errors import UserError
from p4cc.lab.agents import run_agents
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.run import Lab, LabOptions, open_lab, run_lab
from p4cc.lab.switches import kind_named
from p4cc.live.lab import LabPage
from tests.lab.ports import GRPC, THRIFT
from tests.live.client import Client
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

PATIENCE_S = 30.0
ALREADY_EXISTS = 6
"""Of gRPC: what a controller hears where another one is primary."""
NAME = "<script>alert(1)</script>"
DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
CONTROLLER = """
import finsy as fy
import p4cc


class Writes(p4cc.Controller):
    async def start(self):
        self.every(100_000_000, self.write)

    async def write(self):
        entry = fy.P4TableEntry(
            "egress.ecn.thresholds",
            match=fy.P4TableMatch(egress_port=1),
            action=fy.P4TableAction("egress.ecn.set_thresholds", k=21, k_dc=66),
        )
        await self.switches["s1"].modify([entry])
        self.record("wrote", 1)
"""


def small(folder: Path, *, controller: bool) -> LabRequest:
    switch: dict[str, Any] = {
        "program": "p4src/v1model/ecn_dual.p4",
        "thresholds": {"k_rule": "fixed", "k_pkts": 20, "k_dc_pkts": 30},
    }
    if controller:
        (folder / "writes.py").write_text(CONTROLLER, encoding="utf-8")
        switch["controller"] = "writes.py:Writes"
    data = scenario(
        title=NAME,
        topology={"kind": "star", "senders": 2, "rate_bps": 20_000_000, "rtt_ns": 4_000_000,
                  "queue_capacity_pkts": 35},
        switch=switch,
        traffic={"kind": "incast", "sru_bytes": 4_000_000},
        transport={"rto_min_ns": 200_000_000, "rto_init_ns": 200_000_000, "iw": 10, "rwnd": 200},
        variants=[DCTCP],
        stop_ns=20_000_000_000,
    )  # fmt: skip
    return LabRequest(str(write(folder, data)), grpc_base=GRPC, thrift_base=THRIFT)


@contextmanager
def lab_with_page(folder: Path, request: LabRequest) -> Generator[tuple[Lab, LabPage, Client]]:
    """A lab that stands, its page, and somebody who looks at it."""
    page, said = LabPage(request), list[str]()
    options = LabOptions(folder, cli=False, pcaps=False, say=said.append, beside=page.beside)
    with open_lab(request, options, kind_named("p4cc")) as lab:
        assert page.server is not None
        assert f"live page: {page.server.address}" in said
        client = Client(page)
        client.come()
        yield lab, page, client


@contextmanager
def flows_of(lab: Lab) -> Generator[None]:
    """The lab's flows run meanwhile."""
    planned = lab.planned
    assert planned is not None
    thread = threading.Thread(target=lambda: run_agents(lab, planned.spec_json))
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE_S)
    assert not thread.is_alive()


def look_until(client: Client, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first look of which it holds."""
    deadline = time.monotonic() + PATIENCE_S
    for look in client.looks():
        if holds(look):
            return look
        assert time.monotonic() < deadline, look
    raise AssertionError("the stream ended")


async def _standing(address: str, device_id: int) -> tuple[int, int]:
    client = P4Client(address, wait_for_ready=False)
    await client.open()
    try:
        # Without an election id nobody becomes primary.
        bid = p4r.MasterArbitrationUpdate(device_id=device_id)
        await client.send(p4r.StreamMessageRequest(arbitration=bid))
        answer = (await client.receive()).arbitration
    finally:
        await client.close()
    return answer.status.code, int(answer.election_id.low)


def standing(lab: Lab) -> tuple[int, int]:
    """What another controller of s1 hears: a status, and the highest election id that was ever seen."""
    switch = lab.plan.switch("s1")
    return asyncio.run(_standing(f"127.0.0.1:{switch.grpc_port}", switch.device_id))


def refused(client: Client, path: str, body: dict[str, Any]) -> None:
    status, told = client.ask(path, body)
    assert (status, all(told[key] for key in ("cause", "remedy"))) == (400, True), (path, told)


@pytest.mark.parametrize("controller", [False, True])
def test_the_page_shows_and_changes_real_switches(own: str, tmp_path: Path, controller: bool) -> None:
    assert own == "p4cc"
    request, folder = small(tmp_path, controller=controller), tmp_path / "lab"
    with lab_with_page(folder, request) as (lab, page, client):
        network = client.get("/api/network")
        assert (network["kind"], network["title"], network["stop_ns"]) == ("lab", NAME, 20_000_000_000)
        assert network["can"] == {"pause": False, "step": False, "speed": False, "finish": False, "jump": [],
                                  "change": True, "trace": True}  # fmt: skip
        place = next(number for number, one in enumerate(network["ports"]) if one["peer"] == "aggregator")
        port = network["ports"][place]
        way = 2 * port["link"] + port["way"]
        before = next(client.looks())
        assert (before["time_ns"], set(before["load"]), set(before["depth_pkts"])) == (0, {0}, {0})
        assert (before["totals"]["marks_level1"], before["totals"]["digests"]) == (0, 0)
        with flows_of(lab):
            busy = look_until(client, lambda one: one["load"][way] > 60 and one["totals"]["marks_level1"] > 0)
            assert busy["time_ns"] > 0
            assert (busy["flows"], busy["watched"]["flows"], busy["totals"]["pauses"]) == (None, [], None)
            deep = look_until(client, lambda one: one["depth_pkts"][place] >= 10)
            assert any(one["port"] == place for one in deep["watched"]["ports"]), "the deepest is watched"
            assert standing(lab) == (ALREADY_EXISTS, 1)
            _tells_packets_step_by_step(client)
            changed = client.post("/api/thresholds", {"switch": "s1", "port": port["port"], "k_pkts": 1})
            assert changed["at_ns"] > busy["time_ns"]
            (state,) = [one for one in lab.read_ports() if one.peer == "aggregator"]
            assert (state.k_pkts, state.k_dc_pkts) == (1, 30)
            assert client.get("/api/ports")["ports"][place] == {"k_pkts": 1, "k_dc_pkts": 30}
            assert standing(lab) == (ALREADY_EXISTS, 1), "the lab's controller is primary still"
            more = busy["totals"]["marks_level1"] + 100
            look_until(client, lambda one: one["totals"]["marks_level1"] > more)
            tables = {one["name"]: one for one in client.get("/api/switch/s1")["tables"]}
            entries = tables["egress.ecn.thresholds"]["entries"]
            assert {"k": "1", "k_dc": "30"} in [one["params"] for one in entries]
        for path, body in (
            ("/api/control", {"do": "pause"}),
            ("/api/trace", {"switch": "s1", "packets": 1 << 40}),
            ("/api/trace", {"switch": "s9", "packets": 3}),
            ("/api/watch", {"flows": [1]}),
            ("/api/thresholds", {"switch": "s1", "port": 99, "k_pkts": 1}),
        ):
            refused(client, path, body)
        last = next(client.looks())
        assert last["drops"] == [[place, last["totals"]["drops"]]]
        assert last["totals"]["drops"] > 0
        time.sleep(0.5 if controller else 0)
    assert lab.report.ok, lab.report
    if controller:
        assert lab.report.control is not None
        assert lab.report.control.rows["time_ns"].to_list()[-1] > changed["at_ns"], "it wrote after the page"
    _repeats(folder, lab, request, changed["at_ns"])
    _nothing_is_left(folder, page)


def _tells_packets_step_by_step(client: Client) -> None:
    told = client.post("/api/trace", {"switch": "s1", "packets": 3})
    assert (told["why"], [one["number"] for one in told["packets"]]) == (None, [1, 2, 3])
    for packet in told["packets"]:
        assert packet["time_ns"] > 0, "in the lab's time"
        texts = [step["text"] for step in packet["steps"]]
        table = next(at for at, text in enumerate(texts) if "table ingress.forward.ipv4_lpm" in text)
        assert re.search(r": hit  \(\w+\.p4:\d+\)$", texts[table]), "where it is declared"
        assert texts[table + 1].startswith("entry "), "the one that matched"
        assert any(text.startswith("hdr.ipv4.ttl ") for text in texts), "what changed"


def _repeats(folder: Path, lab: Lab, request: LabRequest, at_ns: int) -> None:
    """What was done stands in a scenario that a lab takes, and no controller is in its log."""
    file = folder.with_name(f"{folder.name}.yaml")
    again = plan_lab(LabRequest(str(file), grpc_base=request.grpc_base, thrift_base=request.thrift_base))
    planned = again.planned(lab.pipelines)
    assert planned is not None
    assert [(one.at_ns, one.switch) for one in planned.changes] == [(at_ns, "s1")]
    assert again.has_own_control
    sent = (folder / "logs" / "s1-page-requests.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(sent) == 1, "what the page wrote"
    assert '"lost"' not in (folder / "logs" / "controller.log").read_text(encoding="utf-8")


def _nothing_is_left(folder: Path, page: LabPage) -> None:
    assert page.server is not None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", page.server.port)) != 0, "nobody serves the page"
    assert "live page" not in [thread.name for thread in threading.enumerate()]
    assert not (folder / "sockets").exists()


def test_a_switch_that_is_killed_is_not_known_until_it_is_back(own: str, tmp_path: Path) -> None:
    assert own == "p4cc"
    with lab_with_page(tmp_path / "lab", small(tmp_path, controller=False)) as (lab, page, client):
        lab.begin(time.time_ns())
        client.post("/api/thresholds", {"switch": "s1", "port": 1, "k_pkts": 3})
        lab.programs["s1"].kill()
        look_until(client, lambda one: one["depth_pkts"] is None)
        look_until(client, lambda one: one["depth_pkts"] is not None)
        deadline = time.monotonic() + PATIENCE_S
        while client.ask("/api/ports")[1].get("ports", [{}])[0].get("k_pkts") != 20:
            assert time.monotonic() < deadline, "its controller installs it again"
            time.sleep(0.1)
    assert lab.report.restarts
    _nothing_is_left(tmp_path / "lab", page)


def test_a_port_that_is_taken_is_said_and_the_lab_is_taken_down(own: str, tmp_path: Path) -> None:
    assert own == "p4cc"
    request = small(tmp_path, controller=False)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        page = LabPage(request, held.getsockname()[1])
        options = LabOptions(tmp_path / "lab", cli=False, agents=False, say=lambda _: None, beside=page.beside)
        with pytest.raises(UserError, match="cannot be used"):
            run_lab(request, options)
    assert not (tmp_path / "lab" / "sockets").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["lab/incast", "--compare"], "leave out one of them"),
        (["--import", "topology.json"], "an import has no scenario"),
    ],
)
def test_what_has_no_page_is_refused_before_anything_is_built(words: list[str], why: str) -> None:
    done = CliRunner().invoke(app, ["lab", *words, "--live"])
    assert isinstance(done.exception, UserError)
    assert why in str(done.exception)
