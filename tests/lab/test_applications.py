"""Unmodified applications over p4cc's senders in the kernel, with the P4 switch marking."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from experiments.linux.web import CLIENT, SERVERS, Load, measured
from tests.lab.test_kernel_tcp import own_senders
from tests.linux.kernel import needs_senders

TOOLS = ("nginx", "wrk", "curl")


def test_nginx_serves_through_gst(own: str, tmp_path: Path) -> None:
    del own
    needs_senders()
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian packages of these names)")
    report, row = measured("GST-DCTCP", tmp_path, Load(wrk_s=1, curls=2, rounds=2))
    assert [command["status"] for command in report.commands] == [0] * (len(SERVERS) + 3), report.commands
    assert report.ok
    assert not own_senders()
    for value in row.values():
        assert value, row
    (port,) = [one for one in report.ports if one.peer == CLIENT]
    # wrk closes in the middle of answers: the switch marks what then finds no connection.
    client = [one for one in report.connections if one["remote"].endswith(":80")]
    assert len(client) >= 4 * 2 + 2 + 2 * 4
    assert 0 < sum(one["received_k"] for one in client) <= port.level1_pkts
    assert 0 < sum(one["received_kdc"] for one in client) <= port.level2_pkts
    acks = pl.read_parquet(tmp_path / "lab" / "logs" / "run" / "acks.parquet")
    served = acks.filter(pl.col("local").str.ends_with(":80"))
    assert {"slow_start", "smoothing", "avoidance"} <= set(served["phase"])
    assert served["cwnd_segments"].n_unique() > 10
    rounds = pl.read_csv(tmp_path / "rounds.csv")
    assert rounds["bytes"].to_list() == [4 * 200_000] * 2
