"""Small scenarios written by tests and run through the whole path: controller, P4 program, network, results."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from p4cc.analysis.recorded import read_table
from p4cc.analysis.tables import table
from p4cc.running.outcome import RunOutcome
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario

ROOT = Path(__file__).resolve().parents[2]

RENO = {"name": "Reno", "congestion_avoidance": {"name": "reno"}}


def scenario(**changes: Any) -> dict[str, Any]:
    """A star of four senders with short timeouts; `changes` replace whole sections."""
    return {
        "name": "small",
        "title": "small",
        "topology": {"kind": "star", "senders": 4, "queue_capacity_pkts": 100},
        "switch": {"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 20}},
        "traffic": {"kind": "incast", "sru_bytes": 20_000},
        "transport": {"recovery": "newreno", "iw": 2, "rwnd": 64, "rto_min_ns": 2_000_000, "rto_init_ns": 2_000_000},
        "variants": [RENO],
        "seeds": [1],
        "stop_ns": 1_000_000_000,
        "record": {"windows_interval_ns": None, "queues_interval_ns": None},
        **changes,
    }


@dataclass(frozen=True)
class Ran:
    """A run's outcome and where its tables are."""

    outcome: RunOutcome

    @property
    def runs(self) -> list[dict[str, Any]]:
        """One row per run."""
        return self.outcome.summary["runs"]

    def table(self, name: str) -> pl.DataFrame:
        """One table; without rows where the run left none."""
        found = read_table(self.outcome.folder, name)
        return pl.DataFrame({column.name: [] for column in table(name).columns}) if found is None else found

    def bytes(self) -> dict[str, bytes]:
        """All tables as they are on disk."""
        return {path.name: path.read_bytes() for path in sorted(self.outcome.folder.glob("*.parquet"))}


def write(folder: Path, data: dict[str, Any]) -> Path:
    """The scenario as a file; JSON is YAML."""
    path = folder / "scenario.yaml"
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return path


def run(
    folder: Path,
    data: dict[str, Any],
    *overrides: str,
    figures: bool = False,
    use_cache: bool = True,
    threads: int = 1,
) -> Ran:
    """Writes a scenario and runs it, in place of what ran before; without figures unless asked for."""
    request = RunRequest(
        scenario=write(folder, data),
        out=folder / "out",
        overrides=overrides,
        jobs=2,
        threads=threads,
        figures=figures,
        quiet=True,
        use_cache=use_cache,
        force=True,
    )
    return Ran(run_scenario(request))


def skewed(**changes: Any) -> dict[str, Any]:
    """Eight hosts on two leaves, lossless, with uniform and skewed traffic of small flows; `changes` as above."""
    size = {"kind": "uniform", "min_bytes": 1_000, "max_bytes": 60_000}
    return scenario(
        **{
            "topology": {
                "kind": "leaf_spine",
                "leaves": 2,
                "spines": 2,
                "hosts_per_leaf": 4,
                "host_rate_bps": 100_000_000_000,
                "fabric_rate_bps": 100_000_000_000,
                "queue_capacity_pkts": 100_000,
            },
            "switch": {
                "program": "p4src/v1model/int_hpcc.p4",
                "ecn_profile": "rfc3168",
                "timestamp_unit": "ns",
                "qdepth_unit": "cells_80B",
                "buffer": {"bytes": 4_000_000},
            },
            "traffic": {
                "kind": "pairs",
                "pattern": "uniform",
                "load": 0.3,
                "end_ns": 200_000,
                "priority": 3,
                "matrix": {"kind": "drawn", "empty_share": [0.0, 1.0], "classes": [{"share": 1, "size": size}]},
            },
            "transport": {"kind": "rdma"},
            "variants": [
                {"name": "HPCC", "rate_control": {"name": "hpcc"}},
                {"name": "DCQCN", "program": "p4src/v1model/ecn_red.p4", "rate_control": {"name": "dcqcn"}},
            ],
            "sweep": {"traffic.pattern": ["uniform", "skewed"]},
            "seeds": [1, 2],
            "stop_ns": 50_000_000,
            "measure": [{"name": "generation", "end_ns": 200_000}],
            **changes,
        }
    )
