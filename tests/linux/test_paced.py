"""Swift, TIMELY and HyStart++ in the kernel: rates, windows and phases that TCP_INFO and records show."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.linux.kernel import SERVER, Senders, senders, transfer
from tests.linux.test_marks import RATE_BPS, marking
from tests.linux.test_watch import watching
from tests.switchd.namespaces import PATIENCE_S, Host

SIZE = 400_000
#: Of IP, by which a window is a rate.
PACKET_BYTES = 1_500
LINK = ("--line-mbps", str(RATE_BPS // 1_000_000), "--base-rtt-us", "1000")

#: Sends by a sender and prints what TCP_INFO says: window and pacing rate in bytes a second before the end,
#: and the smoothed round trip in us after the handshake, after the first byte and before the end.
INFORMED = """
import socket, struct, sys, time
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[4].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    info = lambda: connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    u32 = lambda data, at: struct.unpack_from("=I", data, at)[0]
    opened = info()
    connection.sendall(b"?")
    while u32(first := info(), 24):  # packets in flight
        time.sleep(0.001)
    connection.sendall(bytes(int(sys.argv[3]) - 1))
    assert connection.recv(1) == b"!"
    while u32(last := info(), 24):
        time.sleep(0.001)
    print(u32(last, 80), struct.unpack_from("=Q", last, 104)[0], *(u32(one, 68) for one in (opened, first, last)))
"""


def inform(it: Senders, name: str, ends: tuple[Host, Host], size: int) -> list[int]:
    """Sends data; window, pacing rate and three smoothed round-trip times by the kernel."""
    server = it.python(ends[1], SERVER, "5301", str(size))
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(ends[0], INFORMED, ends[1].ipv4, "5301", str(size), name)
        output, errors = client.communicate(timeout=3 * PATIENCE_S)
        assert client.returncode == 0, errors
        server.wait(PATIENCE_S)
        return [int(word) for word in output.split()]
    finally:
        server.kill()
        server.communicate()


def test_timely_s_rate_is_the_kernel_s_pacing_rate(tmp_path: Path) -> None:
    with senders() as it, marking(tmp_path) as (net, _):
        slow = ("--set", "t_low_ns=1", "--set", "t_high_ns=2", "--set", "r_min_mbps=4")
        name = it.load("timely", "--sender", "timely", *LINK, *slow, option=False)
        assert f"{name}: timely\n" in it.call("status")
        cwnd, rate, *_ = inform(it, name, (net.hosts[0], net.hosts[1]), SIZE)
        counters = it.stats()["senders"][name]["counters"]
    # Each sample is above t_high: the rate falls to its minimum, and no window holds it.
    assert rate == 4_000_000 // 8
    assert cwnd == 1 << 20
    assert counters["flows"] == 1
    assert counters["segments"] >= SIZE // 1448


@pytest.mark.parametrize(("window", "cwnd"), [("3", 3), ("0.5", 1)])
def test_swift_s_window_is_the_kernel_s(tmp_path: Path, window: str, cwnd: int) -> None:
    with senders() as it, marking(tmp_path) as (net, _):
        # The target is above any round-trip time, so that the window stays at its maximum.
        high = ("--set", "base_target_ns=1e12", "--set", f"max_cwnd={window}")
        name = it.load("swift", "--sender", "swift", *LINK, *high, option=False)
        got, rate, opened_us, first_us, last_us = inform(it, name, (net.hosts[0], net.hosts[1]), SIZE // 10)
        acks = it.stats()["senders"][name]["counters"]["acks"]
    assert got == cwnd
    if cwnd == 3:
        assert rate == RATE_BPS // 8
    else:
        # Half a packet a round trip. The kernel smooths the same samples in the same way, from the
        # handshake's on.
        srtt_us = last_us + 7 * (first_us - opened_us) * (7 / 8) ** (acks - 1)
        assert rate == pytest.approx(0.5 * PACKET_BYTES * 1e6 / srtt_us, rel=0.05)


def test_a_sender_by_rate_knows_its_link_and_has_no_slow_start() -> None:
    with senders() as it:
        for words, message in (
            ((), "a sender by rate must know its link; give --line-mbps and --base-rtt-us"),
            ((*LINK, "--slow-start", "gst"), "has no slow start, first window, threshold, growth or records"),
            ((*LINK, "--growth-by-ack"), "has no slow start, first window, threshold, growth or records"),
            ((*LINK, "--set", "beta=7"), "rate_control.beta: 7 is out of range"),
        ):
            done = it.attempt("load", "--sender", "swift", "--name", it.name("swift"), *words)
            assert (done.returncode, message in done.stderr) == (1, True), done.stderr
        name = it.load("swift", "--sender", "swift", *LINK, option=False)
        done = it.attempt("set", name, "--cgroup", str(it.cgroup))
        assert (done.returncode, "a sender by rate has one set of parameters" in done.stderr) == (1, True)


def test_hystart_leaves_slow_start_as_the_queue_grows(tmp_path: Path) -> None:
    # 200 packets of room are 120 ms at this rate, far above RFC 9406's least rise of 4 ms.
    with senders() as it, marking(tmp_path, {}) as (net, _):
        name = it.load("hystart", "--sender", "reno_ecn", "--slow-start", "hystart", "--watch", option=False)
        with watching(it, tmp_path / "records") as seen:
            transfer(it, name, (net.hosts[0], net.hosts[1]), 4 * SIZE)
    phases = list(dict.fromkeys(one["phase"] for one in seen.records))
    assert phases[:2] == ["slow_start", "smoothing"]
    # RFC 9406: a quarter of slow start's growth, and of at most eight segments an ACK.
    steps = [
        (after["cwnd_segments"] - before["cwnd_segments"], after["new_segments"])
        for before, after in pairwise(seen.acks())
        if before["phase"] == after["phase"] == "smoothing"
    ]
    assert steps
    assert all(step <= min(new, 8) / 4 + 1e-6 for step, new in steps), steps
