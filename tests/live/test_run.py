"""A watched run without a browser: what leads its time, what changes its tables, who is let in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import p4cc
from p4cc.errors import UserError
from p4cc.running.request import RunRequest
from p4cc.running.rerun import rerun
from p4cc.running.runner import run_scenario
from tests.live.client import watched
from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
RECORD = {"windows_interval_ns": 5_000, "queues_interval_ns": 5_000, "events": True}
CONTROLLER = """
import p4cc


class Follows(p4cc.Controller):
    async def start(self):
        self.every(50_000, self.look)

    async def look(self):
        self.record("looks", self.now_ns)
"""


def _scenario(**of: Any) -> dict[str, Any]:
    return scenario(
        variants=[DCTCP], traffic={"kind": "incast", "sru_bytes": 200_000}, record=RECORD, stop_ns=20_000_000, **of
    )


def _aggregator(network: dict[str, Any]) -> dict[str, Any]:
    return next(port for port in network["ports"] if port["peer"] == "aggregator")


def test_a_run_that_is_only_watched_has_the_tables_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    plain = run(tmp_path / "plain", _scenario())
    with watched(tmp_path, _scenario()) as here:
        assert here.client.control(do="step", span_ns=123_457)["time_ns"] == 123_457
        here.client.control(do="jump", to="mark")
        here.client.post("/api/trace", {"switch": "s1", "packets": 2})
        here.client.get("/api/switch/s1")
        outcome = here.finish()
    tables = {path.name: path.read_bytes() for path in sorted(outcome.folder.glob("*.parquet"))}
    assert tables == plain.bytes()
    assert not (tmp_path / "out.yaml").exists(), "nothing was changed"


@pytest.mark.parametrize("controller", [False, True])
def test_what_is_changed_is_written_down_and_repeats_the_run(tmp_path: Path, controller: bool) -> None:
    data = _scenario()
    if controller:
        (tmp_path / "follows.py").write_text(CONTROLLER, encoding="utf-8")
        data["switch"]["controller"] = "follows.py:Follows"
    with watched(tmp_path, data) as here:
        client = here.client
        port = _aggregator(client.get("/api/network"))
        assert (port["k_pkts"], port["k_dc_pkts"]) == (20, 65)
        client.control(do="step", span_ns=150_000)
        changed = client.post("/api/thresholds", {"switch": "s1", "port": port["port"], "k_pkts": 2})
        assert changed["at_ns"] == 150_001
        now = client.get("/api/ports")["ports"]
        assert now.count({"k_pkts": 2, "k_dc_pkts": 65}) == 1
        client.control(do="step", span_ns=80_000)
        tables = client.get("/api/switch/s1")["tables"]
        (thresholds,) = [one for one in tables if one["name"].endswith("thresholds")]
        entry = next(one for one in thresholds["entries"] if one["params"]["k"] == "2")
        asked = {"switch": "s1", "entry": entry["entry"], "action": entry["action"], "params": {"k": "7", "k_dc": "9"}}
        client.post("/api/change", asked)
        told = client.get("/api/changes")
        assert [one["at_ns"] for one in told["changes"]] == [150_001, 230_002]
        outcome = here.finish()
    first = {path.name: path.read_bytes() for path in sorted(outcome.folder.glob("*.parquet"))}
    file = tmp_path / "out.yaml"
    assert file.read_text(encoding="utf-8") == told["scenario"]
    again = run_scenario(RunRequest(file, out=tmp_path / "again", quiet=True))
    assert {path.name: path.read_bytes() for path in sorted(again.folder.glob("*.parquet"))} == first
    assert not rerun(outcome.folder, RunRequest(file, quiet=True)).differing
    assert p4cc.load(outcome.folder).scenario["changes"][1]["params"] == {"k": "7", "k_dc": "9"}


def test_a_jump_stops_at_the_instant(tmp_path: Path) -> None:
    tight = {"kind": "star", "senders": 4, "queue_capacity_pkts": 12}
    data = _scenario(topology=tight)
    data["switch"]["thresholds"]["k_pkts"] = 3
    with watched(tmp_path, data) as here:
        marked = here.client.control(do="jump", to="mark")
        assert marked["totals"]["marks_level1"] + marked["totals"]["marks_level2"] == 1
        dropped = here.client.control(do="jump", to="drop")
        assert dropped["totals"]["drops"] >= 1
        assert sum(count for _, count in dropped["drops"]) == dropped["totals"]["drops"]
        assert dropped["time_ns"] > marked["time_ns"]
        over = here.client.control(do="jump", to="pause")
        assert (over["state"], over["totals"]["pauses"]) == ("ended", 0)


def test_what_is_watched_is_sent_over_time(tmp_path: Path) -> None:
    with watched(tmp_path, _scenario()) as here:
        client = here.client
        port = client.get("/api/network")["ports"].index(_aggregator(client.get("/api/network")))
        assert client.post("/api/watch", {"ports": [port], "flows": [2]}) == {"ports": [port], "flows": [2]}
        client.control(do="step", span_ns=100_000)
        look = client.control(do="step", span_ns=200_000)
        (queue,), (flow,) = look["watched"]["ports"], look["watched"]["flows"]
        assert queue["port"] == port
        assert (flow["flow_id"], flow["dst"]) == (2, "aggregator")
        assert flow["cwnd_segments"][-1] > 2
        assert flow["rate_bps"][-1] is None
        listed = client.get("/api/flows?search=h3&limit=1")
        assert (listed["total"], listed["flows"][0]["src"]) == (1, "h3")


def test_packets_are_told_step_by_step(tmp_path: Path) -> None:
    with watched(tmp_path, _scenario()) as here:
        here.client.control(do="step", span_ns=150_000)
        told = here.client.post("/api/trace", {"switch": "s1", "packets": 3})
        assert [one["number"] for one in told["packets"]] == [1, 2, 3]
        texts = [step["text"] for step in told["packets"][0]["steps"]]
        (table,) = [at for at, text in enumerate(texts) if "table ingress.forward.ipv4_lpm" in text]
        assert "hit" in texts[table]
        assert re.search(r"\(\w+\.p4:\d+\)$", texts[table]), "where it is declared"
        assert texts[table + 1].startswith("entry "), "the one that matched"
        assert any(text.startswith("hdr.ipv4.ttl ") for text in texts), "what changed"
        assert here.client.get("/api/network")["can"]["trace"]


def test_only_who_has_the_token_is_let_in(tmp_path: Path) -> None:
    with watched(tmp_path, _scenario()) as here:
        client = here.client
        port = client.base.rpartition(":")[2]
        stranger = type(client)(client.run)
        assert stranger.ask("/api/network")[0] == 401
        assert stranger.ask("/?token=wrong")[0] == 401
        assert client.ask("/api/network", Host=f"attacker.example:{port}")[0] == 403
        refused, told = client.ask("/api/control", {"do": "pause"}, Origin="http://attacker.example")
        assert (refused, "attacker.example" in told["cause"]) == (403, True)
        assert client.ask("/api/control", b"{}", **{"Content-Type": "text/plain"})[0] == 415
        assert client.ask("/api/control", b"x" * 100_000)[0] == 413


HOSTILE: list[tuple[str, Any]] = [
    ("/api/control", {"do": "fly"}),
    ("/api/control", {"do": "step", "span_ns": 0}),
    ("/api/control", {"do": "step", "span_ns": "1"}),
    ("/api/control", {"do": "speed", "speed": 1e300}),
    ("/api/control", {"do": "jump", "to": ["drop"]}),
    ("/api/watch", {"ports": [0] * 9}),
    ("/api/watch", {"ports": [99]}),
    ("/api/watch", {"flows": 5}),
    ("/api/change", {"switch": "s1", "entry": "0", "action": "a", "params": {}}),
    ("/api/change", {"switch": "s9", "entry": "0", "action": "a", "params": {}}),
    ("/api/change", {"switch": {"a": 1}}),
    ("/api/thresholds", {"switch": "s1", "port": 99, "k_pkts": 1}),
    ("/api/thresholds", {"switch": "s1", "port": [1], "k_pkts": 1}),
    ("/api/thresholds", {"switch": "s1", "port": 1, "k_pkts": 1 << 40}),
    ("/api/thresholds", {"switch": "s1", "port": 1, "k_pkts": "x"}),
    ("/api/thresholds", {"switch": "s1", "port": 1, "k_pkts": {"k": 1}}),
    ("/api/trace", {"switch": "s1", "packets": 1 << 40}),
    ("/api/nothing", {}),
    ("/api/control", b"\xff"),
    ("/api/control", b"[" * 60_000),
    ("/api/control", b"[]"),
    ("/api/switch/%2e%2e", None),
    ("/api/flows?limit=99999999999&search=%00", None),
    ("/static/..%2frun.py", None),
    ("/static/run.py", None),
    ("/assets/secret", None),
]


def test_what_makes_no_sense_is_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    with watched(tmp_path, _scenario()) as here:
        for path, body in HOSTILE:
            status, told = here.client.ask(path, body)
            assert status in (200, 400, 404), (path, body, status, told)
            if status == 400:
                assert all(told[key] for key in ("cause", "remedy")), (path, told)
        assert here.client.control(do="step", span_ns=10_000)["time_ns"] == 10_000
        assert here.client.get("/api/changes")["changes"] == []
        here.finish()


def test_more_than_one_run_is_refused(tmp_path: Path) -> None:
    with watched(tmp_path, _scenario(seeds=[1, 2])) as here, pytest.raises(UserError, match="shows one run"):
        here.finish()
