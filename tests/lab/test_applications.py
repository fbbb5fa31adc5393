"""Unmodified applications over p4cc's senders in the kernel, with the P4 switch marking."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from experiments.linux.web import CLIENT, SERVERS, Load, measured
from p4cc.errors import UserError
from p4cc.lab.lab import Lab
from p4cc.lab.linux_senders import LinuxSenders
from p4cc.lab.plan import LabRequest
from p4cc.lab.run import LabOptions, run_lab
from tests.lab.test_kernel_tcp import own_senders, request
from tests.linux.kernel import needs_senders

TOOLS = ("nginx", "wrk", "curl")
SERVE = "h1 python3 -m http.server 8000 & sleep 3"
#: Prints the first line of an answer.
FETCH = """
import socket, sys
with socket.create_connection((sys.argv[1], 8000), timeout=20) as connection:
    connection.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print(connection.makefile().readline().strip())
"""


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


def star(folder: Path) -> LabRequest:
    gst = {"congestion_avoidance": {"name": "dctcp"}, "slow_start": {"name": "gst", "k": 4, "k_dc": 8}}
    return replace(request(folder, gst, profile="sce"), hosts="linux")


def options(folder: Path, *lines: str) -> LabOptions:
    return LabOptions(folder / "lab", cli=False, agents=False, commands=lines, say=lambda _: None)


def test_servers_of_lines_serve_the_command_line(own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del own
    needs_senders()
    served: list[str] = []

    def typed(lab: Lab) -> None:
        server = next(host.ipv4.partition("/")[0] for host in lab.plan.network.hosts if host.name == "h1")
        command = [*lab.built.enter("h2"), "python3", "-c", FETCH, server]
        served.append(subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout)

    monkeypatch.setattr("p4cc.lab.run._command_line", typed)
    report = run_lab(star(tmp_path), replace(options(tmp_path, SERVE), cli=True))
    assert report.ok, report
    assert served == ["HTTP/1.0 200 OK\n"]


def test_a_failed_end_is_a_warning_and_the_rest_is_written(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del own
    needs_senders()

    def fails(_: LinuxSenders) -> list[dict[str, Any]]:
        raise UserError("no answer", place="here", remedy="none")

    monkeypatch.setattr(LinuxSenders, "closed", fails)
    (tmp_path / "fetch.py").write_text(FETCH, encoding="utf-8")
    report = run_lab(star(tmp_path), options(tmp_path, SERVE, f"h2 python3 {tmp_path}/fetch.py h1"))
    assert "connections are unknown: no answer" in report.warnings
    assert len(pl.read_parquet(tmp_path / "lab" / "logs" / "run" / "acks.parquet"))
    assert not own_senders()
