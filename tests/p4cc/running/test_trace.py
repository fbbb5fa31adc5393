"""`p4cc run --trace` through the command line: every hop of a packet, bounds, and results as without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.errors import UserError
from p4cc.running.packet_trace import MAX_CHOICES, PacketChoice, TraceRequest
from p4cc.running.trace_text import step_text
from tests.command_line import p4cc
from tests.p4cc.commands.test_mistakes import RUN, Mistake, ends_as_said
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from pathlib import Path


def traced(folder: Path, *words: str, out: str = "out", **changes: Any) -> str:
    """What a run of the small scenario prints."""
    write(folder, scenario(**changes))
    done = p4cc("run", "scenario.yaml", "--out", out, "--force", *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_packet_is_told_hop_by_hop(tmp_path: Path) -> None:
    lines = traced(tmp_path, "--trace", "1:2").splitlines()
    hops = [line.split()[-1] for line in lines if line.startswith("packet 1 ")]
    assert list(dict.fromkeys(hops)) == ["h1", "s1", "aggregator"]
    told = "\n".join(line.strip() for line in lines)
    assert "sends data packet 2 of flow 1, 1514 bytes" in told
    for line in (
        "received on port 1, 1514 bytes",
        "parser state parse_ipv4",
        "table ingress.forward.ipv4_lpm (hdr.ipv4.dst_addr=0xa000005): hit",
        "action ingress.forward.set_next_hop(port=0x5, dst_mac=0x20000000005)",
        "table egress.ecn.thresholds (egress_port=0x5): hit",
        "action egress.ecn.set_thresholds(k=0x14, k_dc=",
        "sent out of port 5, 1514 bytes",
        "delivered",
    ):
        assert line in told
    assert "enq_qdepth " in told


@pytest.mark.parametrize("packets", ["p4cc", "tcp"])
def test_results_have_the_same_bytes_and_json_has_the_steps(tmp_path: Path, packets: str) -> None:
    transport = {"recovery": "newreno", "packets": "udp" if packets == "p4cc" else packets}
    plain = json.loads(traced(tmp_path, "--json", "--no-cache", out="plain", transport=transport))
    words = ("--json", "--trace", "2", "--trace", "2:acks:1", "--trace", "h3:2-3", "--threads", "2")
    found = json.loads(traced(tmp_path, *words, out="traced", transport=transport))
    trace = found.pop("trace")
    for summary in (plain, found):
        for run in summary["runs"]:
            del run["wall_s"]
    assert found == plain
    for path in sorted((tmp_path / "plain").glob("*.parquet")):
        assert (tmp_path / "traced" / path.name).read_bytes() == path.read_bytes(), path.name
    leaves = {(step["node"], step["kind"], step["number"]) for step in trace["steps"] if step["step"] == "leaves_host"}
    of_flow = {("h2", "data", 1), ("h2", "data", 2), ("h2", "data", 3)}
    assert leaves == {*of_flow, ("aggregator", "ack", 1), ("h3", "data", 2), ("h3", "data", 3)}
    assert (trace["packets_left_out"], trace["steps_left_out"]) == (0, 0)


def test_steps_are_bounded_and_the_rest_is_counted(tmp_path: Path) -> None:
    every = json.loads(traced(tmp_path, "--trace", "1:1-9", "--json"))["trace"]
    few = json.loads(traced(tmp_path, "--trace", "1:1-9", "--trace-limit", "7", "--json"))["trace"]
    assert few["steps"] == every["steps"][:7]
    assert few["steps_left_out"] == len(every["steps"]) - 7
    said = traced(tmp_path, "--trace", "1:1-9", "--trace-limit", "7")
    assert f"... and {few['steps_left_out']} more steps; --trace-limit prints more" in said


def test_a_drop_names_its_cause(tmp_path: Path) -> None:
    small = {"kind": "star", "senders": 4, "queue_capacity_pkts": 3}
    traces = [word for flow in range(1, 5) for word in ("--trace", f"{flow}:1-9")]
    said = traced(tmp_path, *traces, topology=small)
    assert "tail drop, the queue is full (port 5, priority 0)" in said


def test_every_sender_is_read() -> None:
    assert PacketChoice.parse("7") == PacketChoice("7", 7, acks=False, first=1, last=3)
    assert PacketChoice.parse("7:acks:2") == PacketChoice("7:acks:2", 7, acks=True, first=2, last=2)
    assert PacketChoice.parse("h1:2-5") == PacketChoice("h1:2-5", "h1", acks=False, first=2, last=5)
    with pytest.raises(UserError, match="is given 65 times"):
        TraceRequest.parse(["1"] * (MAX_CHOICES + 1), 1)
    assert step_text({"packet": 1, "time_ns": 2, "node": "s1", "step": "new", "place": "x"}) == "new place=x"


MISTAKES = (
    Mistake("no such flow", (*RUN, "--trace", "9:1"), ("--trace 9:1", "there is no flow 9", "table `flows`")),
    Mistake(
        "no such packet", (*RUN, "--trace", "1:9999"), ("--trace 1:9999", "data packets, and no packet 9999", "1 to ")
    ),
    Mistake("no such host", (*RUN, "--trace", "h9"), ("--trace h9", "there is no such host", "h1, h2")),
    Mistake("a switch sends nothing", (*RUN, "--trace", "s1"), ("--trace s1", "'s1' is a switch", "h1, h2")),
    Mistake("packets by no number", (*RUN, "--trace", "1:x"), ("--trace 1:x", "names no packets", "1:acks:7")),
    Mistake("packet 0", (*RUN, "--trace", "1:0"), ("--trace 1:0", "numbered from 1")),
    Mistake("last before first", (*RUN, "--trace", "1:5-2"), ("--trace 1:5-2", "the first before the last")),
    Mistake("ACKs of a host", (*RUN, "--trace", "h1:acks"), ("--trace h1:acks", "data and ACKs alike")),
    Mistake("a flow beyond 32 bits", (*RUN, "--trace", "99999999999"), ("there is no flow 99999999999",)),
    Mistake(
        "two runs traced",
        (*RUN, "--trace", "1"),
        ("--trace: follows packets of one run, and there are 2", "--variant"),
        changes={"seeds": [1, 2]},
    ),
    Mistake("traced and served", (*RUN, "--trace", "1", "--serve", "0"), ("--trace: does not go with --serve",)),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes_of_traces(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
