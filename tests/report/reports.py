"""Results that reports are made of, as `p4cc run` and the writer of `lab.json` leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from controller.install import PortState
from p4cc.lab.agent_run import AgentRun
from p4cc.lab.plan import LabRequest
from p4cc.lab.report import LabReport, Notes, SwitchReport
from p4cc.report.write import write_report
from tests.p4cc.scenarios import RENO, Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<script>document.title='taken'</script><b>&amp;</b>"
IMAGE = "<img src=x onerror=\"document.title='taken'\">"
GST = {"name": IMAGE, "congestion_avoidance": {"name": "reno"}, "slow_start": {"name": "gst"}}
GOODPUT = {"y": "goodput_bps", "scale": 1.0e-9, "label": f"goodput {HOSTILE}"}
FIGURES: list[dict[str, Any]] = [
    {"kind": "over_sweep", "file": "sweep.png", "title": HOSTILE, "x": "senders", "panels": [GOODPUT]},
    {"kind": "bar", "file": "bar.png", "x": "senders", "panels": [GOODPUT]},
    {"kind": "cdf", "file": "cdf.png", "panels": [{"y": "fct_ns", "scale": 1.0e-6}]},
    {"kind": "heatmap", "file": "map.png", "x": ["senders"], "y": ["k_pkts"], "value": "goodput_bps"},
    {"kind": "over_time", "file": "time.png", "panels": [{"y": "rate_bps"}, {"y": "depth_pkts"}]},
    {"kind": "traces", "file": "traces.png", "panels": [{"y": "cwnd_segments"}]},
    {"kind": "by_size", "file": "size.pdf", "bins": 2},
]


def swept(folder: Path, *overrides: str) -> Ran:
    """Two variants with names of an attacker, four points, two seeds; queues that fill and drop."""
    data = scenario(
        title=HOSTILE,
        topology={"kind": "star", "senders": 4, "queue_capacity_pkts": 30},
        transport={"recovery": "newreno", "iw": 20, "rwnd": 64, "rto_min_ns": 2_000_000, "rto_init_ns": 2_000_000},
        variants=[RENO, GST],
        sweep={"topology.senders": [2, 4], "switch.thresholds.k_pkts": [5, 15]},
        seeds=[1, 2],
        record={"windows_interval_ns": 20_000, "queues_interval_ns": 20_000, "drops": {}},
        figures=FIGURES,
    )
    return run(folder, data, *overrides, figures=True)


def without_flows(folder: Path) -> Ran:
    """A run in which nothing is sent before it ends."""
    traffic = {"kind": "incast", "sru_bytes": 20_000, "start_ns": 2_000_000}
    return run(folder, scenario(traffic=traffic, stop_ns=1_000_000))


def lab(folder: Path, flows: pl.DataFrame, ended: str | None) -> Path:
    """A lab's folder by the writer of labs; its agents' flows are those of a run in virtual time."""
    folder.mkdir()
    entry: SwitchReport = {
        "switch": "s1",
        "program": None,
        "address": "127.0.0.1:9559",
        "thrift_port": 9090,
        "device_id": 1,
        "log": "",
    }
    report = LabReport(
        switches=[entry],
        commands=[{"host": "h1", "command": HOSTILE, "status": 0, "output": IMAGE, "log": "logs/run/1-h1.log"}],
        warnings=[f"a warning {HOSTILE}"],
        agents=AgentRun(flows, pl.DataFrame(), pl.DataFrame(), {"goodput_bps": 9.1e8, "timeouts": 2}),
        ports=[PortState("s1", 1, "h1", 20, 40, 10, 3, 0)],
        up_s=1.25,
    )
    Notes(folder, LabRequest("incast.yaml", variant=IMAGE), report).write(ended)
    return folder


def report_of(*folders: Path) -> str:
    """Writes the report where nobody else looks, and gives its address."""
    return write_report(folders, folders[0].parent / f"{folders[0].name}.html").as_uri()
