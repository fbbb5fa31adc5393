"""The program that sends and receives flows of the kernel's TCP at one host."""

from __future__ import annotations

import io
import json
import os
import socket
import time

import pytest

from p4cc.lab.tcp_host import FlowPlan, Host, TcpPlan, TcpSettings
from p4cc.scenario.schema import MAX_RWND

SIZE = 100_000


@pytest.mark.parametrize("mss_bytes", [1_448, 9_000])
def test_the_largest_receiver_s_window_is_what_the_kernel_can_hold(mss_bytes: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("a receive buffer above the machine's limit needs root")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = TcpSettings(
        start_ns=time.time_ns(), stop_ns=30_000_000_000, sample_ns=None, port=port, window_bytes=MAX_RWND * mss_bytes
    )
    flow = FlowPlan(
        id=0, src="h1", dst="h1", start_ns=0, size_bytes=SIZE, congestion="reno", mss_bytes=1_448, deadline_ns=None
    )
    metrics = io.StringIO()
    assert Host(TcpPlan(hosts={"h1": "127.0.0.1"}, flows=[flow], tcp=settings), "h1", metrics).run()
    assert json.loads(metrics.getvalue())["acked_bytes"] == SIZE
