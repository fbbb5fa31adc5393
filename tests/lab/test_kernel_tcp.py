"""Flows of the kernel's TCP in a lab, and what of a scenario the kernel has not."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from math import log
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import pytest

from p4cc.dissector.generate import transport_dissector
from p4cc.errors import UserError
from p4cc.lab import linux_senders
from p4cc.lab.kernel_tcp import PORT, Hosts
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.run import LabOptions, run_lab
from tests.lab.ports import GRPC, THRIFT
from tests.linux.kernel import needs_senders, registered
from tests.p4cc.scenarios import scenario, write

STAR = {"kind": "star", "senders": 2, "rate_bps": 50_000_000, "rtt_ns": 4_000_000, "queue_capacity_pkts": 100}


def own_senders() -> list[str]:
    """Senders that labs of this process have in the kernel; other tests have theirs."""
    return [name for name in registered() if name.startswith(f"p4cc{os.getpid()}_")]


def request(folder: Path, algorithm: dict[str, Any], *, profile: str = "rfc3168", **transport: Any) -> LabRequest:
    data = scenario(
        topology=STAR,
        switch={"ecn_profile": profile, "thresholds": {"k_rule": "fixed", "k_pkts": 4, "k_dc_pkts": 8}},
        traffic={"kind": "incast", "sru_bytes": 300_000},
        transport={"packets": "tcp", "iw": 2, "rwnd": 40, "rto_min_ns": 200_000_000, **transport},
        variants=[{"name": "one", **algorithm}],
        stop_ns=5_000_000_000,
        record={"windows_interval_ns": 5_000_000},
    )
    return LabRequest(str(write(folder, data)), grpc_base=GRPC, thrift_base=THRIFT)


def test_the_kernel_sends_and_reacts_to_marks(own: str, tmp_path: Path) -> None:
    del own
    asked = request(tmp_path, {"congestion_avoidance": {"name": "reno_ecn"}})
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, commands=("h1 tc qdisc show",), say=lambda _: None))
    assert report.ok, report
    assert "tbf" in report.commands[0]["output"], "a host sends at its link's rate"
    assert "rate 50Mbit" in report.commands[0]["output"]
    run = report.agents
    assert run is not None
    assert any("the kernel's TCP" in remark for remark in run.remarks)
    assert run.flows["acked_bytes"].to_list() == [300_000, 300_000]
    # 600 kB at 50 Mb/s, headers included.
    assert 100e6 < (run.summary["finish_ns"] or 0) < 4e9
    windows = run.windows.filter(pl.col("srtt_ns") > 0)
    assert windows["flight_segments"].to_list(), "samples by TCP_INFO"
    assert all(flight <= 41 for flight in windows["flight_segments"].to_list()), (
        "the receiver's window is the scenario's"
    )
    (bottleneck,) = [port for port in report.ports if port.peer == "aggregator"]
    assert bottleneck.level2_pkts > 0, "packets are capable of ECN, and the program marks them"
    assert windows["ssthresh_segments"].drop_nulls().len() > 0, "a mark ends slow start"
    assert run.summary["marks_level1"] is None
    assert (run.summary["peak_queue_pkts"] or 0) >= 4


def test_flows_without_an_end_send_until_the_scenarios(own: str, tmp_path: Path) -> None:
    del own
    data = scenario(
        topology=STAR,
        switch={"ecn_profile": "rfc3168", "thresholds": {"k_rule": "fixed", "k_pkts": 4, "k_dc_pkts": 8}},
        traffic=[
            {"kind": "bulk", "name": "endless", "sources": ["h1"], "destinations": ["aggregator"]},
            {"kind": "bulk", "name": "ends", "sources": ["h2"], "destinations": ["aggregator"], "size_bytes": 300_000},
        ],
        transport={"packets": "tcp", "iw": 2, "rwnd": 40, "rto_min_ns": 200_000_000},
        variants=[{"name": "one", "congestion_avoidance": {"name": "reno_ecn"}}],
        stop_ns=1_500_000_000,
        record={"windows_interval_ns": 5_000_000},
    )
    asked = LabRequest(str(write(tmp_path, data)), grpc_base=GRPC, thrift_base=THRIFT)
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    run = report.agents
    assert run is not None
    endless, ending = run.flows.sort("src").iter_rows(named=True)
    assert (endless["finish_ns"], ending["acked_bytes"]) == (None, 300_000)
    # 50 Mb/s for a second at least.
    assert endless["acked_bytes"] > 1_000_000


def test_agents_whose_flows_have_no_end_have_not_failed(own: str, tmp_path: Path) -> None:
    del own
    data = scenario(
        topology=STAR,
        switch={"ecn_profile": "rfc3168", "thresholds": {"k_rule": "fixed", "k_pkts": 4, "k_dc_pkts": 8}},
        traffic={"kind": "bulk", "name": "endless", "sources": ["h1"], "destinations": ["aggregator"]},
        transport={"iw": 2, "rwnd": 40, "rto_min_ns": 200_000_000},
        variants=[{"name": "one", "congestion_avoidance": {"name": "reno_ecn"}}],
        stop_ns=1_000_000_000,
    )
    asked = LabRequest(str(write(tmp_path, data)), grpc_base=GRPC, thrift_base=THRIFT)
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report.failed
    assert report.agents is not None
    (flow,) = report.agents.flows.iter_rows(named=True)
    assert flow["finish_ns"] is None
    assert flow["acked_bytes"] > 500_000


def beside(folder: Path, *labels: str) -> LabRequest:
    data = scenario(
        topology=STAR,
        switch={"ecn_profile": "rfc3168", "thresholds": {"k_rule": "fixed", "k_pkts": 4, "k_dc_pkts": 8}},
        traffic=[
            {"kind": "bulk", "name": name, "sources": [host], "destinations": ["aggregator"], "size_bytes": 300_000}
            for name, host in (("linux", "h1"), ("agent", "h2"))
        ],
        transport={"mss_bytes": 1_400, "iw": 2, "rwnd": 40, "rto_min_ns": 200_000_000},
        variants=[{"name": "one", "congestion_avoidance": {"name": "reno_ecn"}}],
        stop_ns=5_000_000_000,
        record={"windows_interval_ns": 5_000_000},
    )
    return LabRequest(str(write(folder, data)), grpc_base=GRPC, thrift_base=THRIFT, kernel_tcp=labels)


def test_the_kernel_and_an_agent_share_a_port(own: str, tmp_path: Path) -> None:
    del own
    report = run_lab(beside(tmp_path, "linux"), LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    run = report.agents
    assert run is not None
    assert any("flows of linux are the kernel's TCP" in remark for remark in run.remarks)
    kernel, agent = run.flows.sort("src").iter_rows(named=True)
    assert kernel["acked_bytes"] == agent["acked_bytes"] == 300_000
    assert kernel["marks_level2"] is None, "the kernel does not tell"
    assert agent["marks_level2"] > 0, "both have made the queue that one of them alone feels"
    assert set(run.windows["flow_id"]) == {kernel["flow_id"], agent["flow_id"]}


@pytest.mark.parametrize("hosts", ["agents", "linux"])
def test_deadlines_reach_d2tcp(own: str, tmp_path: Path, hosts: Hosts) -> None:
    del own
    if hosts == "linux":
        needs_senders()
    data = scenario(
        topology=STAR,
        switch={"ecn_profile": "sce", "thresholds": {"k_rule": "fixed", "k_pkts": 4, "k_dc_pkts": 8}},
        traffic=[
            {"kind": "bulk", "name": name, "sources": [host], "destinations": ["aggregator"], "size_bytes": 1_500_000,
             "deadline": {"offset_ns": deadline_ns}}
            for name, host, deadline_ns in (("near", "h1", 450_000_000), ("far", "h2", 60_000_000_000))
        ],
        transport={"iw": 2, "rwnd": 40, "rto_min_ns": 200_000_000},
        variants=[{"name": "one", "congestion_avoidance": {"name": "d2tcp"}}],
        stop_ns=8_000_000_000,
        record={"windows_interval_ns": 5_000_000},
    )  # fmt: skip
    asked = LabRequest(str(write(tmp_path, data)), grpc_base=GRPC, thrift_base=THRIFT, hosts=hosts)
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    run = report.agents
    assert run is not None
    near, far = run.flows.sort("src").iter_rows(named=True)
    assert (near["deadline_ns"], far["deadline_ns"]) == (450_000_000, 60_000_000_000)
    assert near["deadline_met"] == int(near["fct_ns"] <= 450_000_000)
    assert (far["deadline_met"], run.summary["deadline_flows"]) == (1, 2)
    # Time enough halves the exponent of alpha, whose part of the window a cut takes; too little raises it
    # up to 2.
    patient, pressed = (exponents(run.windows, flow["flow_id"]) for flow in (far, near))
    assert len(patient) > 5
    assert min(len(patient), len(pressed)) > 5
    assert 0.45 < median(patient) < median(pressed) - 0.2, (patient, pressed)
    # There each ACK has its record.
    assert hosts == "agents" or max(patient) < 0.55, patient


def exponents(windows: pl.DataFrame, flow: int) -> list[float]:
    """Of D2TCP's penalty, by each cut of a window that is far from the least: `cwnd *= 1 - alpha^d / 2`.

    The threshold is the window after the cut; that before it grows by at most a segment in a round between samples.
    """
    rows = windows.filter((pl.col("flow_id") == flow) & pl.col("alpha").is_between(0.001, 0.999)).sort("time_ns")
    found: list[float] = []
    for before, after in pairwise(rows.drop_nulls("ssthresh_segments").iter_rows(named=True)):
        window, cut = before["cwnd_segments"], after["ssthresh_segments"]
        if cut != before["ssthresh_segments"] and cut < window and window > 6:
            found.append(log(2 * (1 - cut / window)) / log(after["alpha"]))
    return found


def test_labels_that_no_flows_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no flows have the label 'lunix'") as caught:
        plan_lab(beside(tmp_path, "lunix"))
    assert "agent, linux" in str(caught.value)


@pytest.mark.parametrize(
    ("algorithm", "transport", "cause"),
    [
        ({"congestion_avoidance": {"name": "l2tcp"}}, {}, "cannot load p4cc's senders: there is no BTF"),
        ({"congestion_avoidance": {"name": "prague"}}, {}, "no congestion control for prague"),
        (
            {"congestion_avoidance": {"name": "reno"}, "slow_start": {"name": "gst"}},
            {"profile": "gst"},
            "no slow start gst",
        ),
        ({"congestion_avoidance": {"name": "reno"}}, {"ip": 6}, "IPv4 only"),
    ],
)
def test_what_the_kernel_has_not_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: dict[str, Any],
    transport: dict[str, Any],
    cause: str,
) -> None:
    monkeypatch.setattr("p4cc.lab.linux_senders.lacks", lambda: ("there is no BTF",))
    with pytest.raises(UserError, match=cause) as caught:
        plan_lab(request(tmp_path, algorithm, **transport))
    assert "p4cc run" in str(caught.value)


def test_an_algorithm_without_its_module_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kernel_has(name: str) -> bool:
        return name != "dctcp"

    monkeypatch.setattr("p4cc.lab.kernel_tcp.kernel_has", kernel_has)
    monkeypatch.setattr("p4cc.lab.linux_senders.lacks", lambda: ("there is no BTF",))
    with pytest.raises(UserError, match="cannot load p4cc's senders: there is no BTF"):
        plan_lab(request(tmp_path, {"congestion_avoidance": {"name": "dctcp"}}))
    monkeypatch.setattr("p4cc.lab.linux_senders.lacks", lambda: ())
    assert plan_lab(request(tmp_path, {"congestion_avoidance": {"name": "dctcp"}})).kernel_tcp == {"incast"}


@pytest.mark.parametrize(
    ("slow_start", "profile", "readable"),
    [("gst", "gst", "sce"), ("standard", "gst", "sce or rfc3168"), ("gst", "sce", None)],
)
def test_the_kernel_reads_the_code_points_that_rfc_3168_leaves_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_start: str, profile: str, readable: str | None
) -> None:
    monkeypatch.setattr("p4cc.lab.linux_senders.lacks", lambda: ())
    algorithm = {"congestion_avoidance": {"name": "d2tcp"}, "slow_start": {"name": slow_start}}
    if readable is None:
        plan_lab(request(tmp_path, algorithm, profile=profile))
        return
    with pytest.raises(UserError, match=f"cannot read the code points of {profile}") as caught:
        plan_lab(request(tmp_path, algorithm, profile=profile))
    assert f"--set switch.ecn_profile={readable}:" in str(caught.value)


def test_the_command_line_says_what_sends_all_flows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p4cc.lab.linux_senders.lacks", lambda: ())
    udp = replace(beside(tmp_path), hosts="linux")
    assert plan_lab(udp).kernel_tcp == {"agent", "linux"}
    tcp = replace(request(tmp_path, {"congestion_avoidance": {"name": "reno_ecn"}}), hosts="agents")
    assert plan_lab(tcp).kernel_tcp == frozenset()
    assert tcp.settings != replace(tcp, hosts=None).settings


def test_two_answers_to_what_sends_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="give --hosts or --kernel-tcp"):
        plan_lab(replace(beside(tmp_path, "linux"), hosts="agents"))


def test_what_linux_cannot_send_names_the_option(tmp_path: Path) -> None:
    prague = request(tmp_path, {"congestion_avoidance": {"name": "prague"}})
    with pytest.raises(UserError, match="no congestion control for prague") as caught:
        plan_lab(replace(prague, hosts="linux"))
    assert caught.value.place == "--hosts"
    assert caught.value.remedy == "--hosts agents, or p4cc run"


def test_a_load_that_is_interrupted_leaves_nothing(own: str, tmp_path: Path) -> None:
    del own, tmp_path
    needs_senders()
    cc = {"congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "standard"}}
    broken = {**cc, "slow_start": {"name": "standard", "no-such-parameter": 1}}
    with linux_senders.linux_senders("test") as senders:
        senders.load({"cc": cc, "iw": 10})
        with pytest.raises(UserError, match="no-such-parameter"):
            senders.load({"cc": broken, "iw": 10})
    assert not own_senders()
    assert not senders.pins.exists()
    assert not senders.cgroup.exists()


def test_gst_in_the_kernel_meets_the_marks_that_the_switch_sets(own: str, tmp_path: Path) -> None:
    del own
    needs_senders()
    gst = {"congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst", "k": 4, "k_dc": 8}}
    asked = request(tmp_path, gst, profile="sce")
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    assert not own_senders()
    assert not (linux_senders.PINS / f"{linux_senders.PREFIX}{os.getpid()}").exists()
    run = report.agents
    assert run is not None
    assert run.flows["acked_bytes"].to_list() == [300_000, 300_000]
    (bottleneck,) = [port for port in report.ports if port.peer == "aggregator"]
    assert bottleneck.level1_pkts > 0
    assert run.summary["marks_level1"] == bottleneck.level1_pkts
    assert run.summary["marks_level2"] == bottleneck.level2_pkts
    windows = run.windows.sort("time_ns")
    last = windows.group_by("flow_id").last()
    assert last["k_marks"].sum() == bottleneck.level1_pkts, "the last record of a flow has all its marks"
    assert last["kdc_marks"].sum() == bottleneck.level2_pkts
    assert last["acked_bytes"].to_list() == [300_000, 300_000]
    # Delayed ACKs acknowledge two segments; a sample each 5 ms would be some 30 rows.
    assert len(windows) > 600_000 / 1_448 / 2
    assert {"slow_start", "smoothing", "avoidance"} <= set(windows["phase"])
    assert windows["alpha"].drop_nulls().is_between(0, 1).all()
    assert windows["delta"].drop_nulls().len() > 0
    assert pl.read_parquet(tmp_path / "lab" / "agents" / "windows.parquet").shape == windows.shape
    reported = reported_marks(tmp_path)
    assert sum(k for k, _ in reported) == bottleneck.level1_pkts
    assert sum(kdc for _, kdc in reported) == bottleneck.level2_pkts


def acks(folder: Path, *fields: str) -> list[list[str]]:
    """Fields of tshark of the aggregator's segments in order, as they enter the switch; the client's port first."""
    if (tshark := shutil.which("tshark")) is None:
        return pytest.skip("tshark is not installed (Debian package tshark)")
    dissector = folder / "p4cc.lua"
    dissector.write_text(transport_dissector(), encoding="utf-8")
    words = [tshark, "-X", f"lua_script:{dissector}", "-T", "fields", "-Y", f"tcp.srcport == {PORT}"]
    words += [word for name in ("tcp.dstport", *fields) for word in ("-e", name)]
    rows: list[list[str]] = []
    for capture in sorted((folder / "lab" / "pcaps").glob("*_in.pcap")):
        done = subprocess.run([*words, "-r", str(capture)], capture_output=True, text=True, timeout=60, check=True)
        rows += [line.split("\t") for line in done.stdout.splitlines()]
    return rows


def reported_marks(folder: Path) -> list[tuple[int, int]]:
    """The last counters of each connection."""
    last: dict[str, tuple[int, int]] = {}
    for port, k, kdc in acks(folder, "p4cc_feedback.k", "p4cc_feedback.kdc"):
        if k:
            last[port] = max(last.get(port, (0, 0)), (int(k), int(kdc)))
    return list(last.values())


def test_the_receiver_offers_the_scenarios_window(own: str, tmp_path: Path) -> None:
    del own
    asked = request(tmp_path, {"congestion_avoidance": {"name": "reno_ecn"}}, rwnd=32)
    report = run_lab(asked, LabOptions(tmp_path / "lab", cli=False, say=lambda _: None))
    assert report.ok, report
    offered: dict[str, list[int]] = {}
    for port, window in acks(tmp_path, "tcp.window_size"):
        offered.setdefault(port, []).append(int(window))
    assert len(offered) == 2
    # The kernel replaces the window once, and the host's program sets it again when it reads.
    assert {max(windows[-20:]) for windows in offered.values()} == {32 * 1_448}
