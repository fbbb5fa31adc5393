"""`p4cc-switch` between hosts in namespaces: forwarding, links, start and stop."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.switchd.namespaces import (
    PAIR,
    PATIENCE_S,
    Host,
    Switch,
    both_ways,
    lab,
    listening,
    run,
    switch_program,
    wait_for,
)

ECHO = """
import os
import re
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", 5000))
print("ready", flush=True)
while True:
    data, sender = server.recvfrom(2000)
    server.sendto(data, sender)
"""

ASK = """
import socket, sys, time
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(10)
times_s = []
for length in [1, 100, 1400] * 5:
    start = time.monotonic()
    client.sendto(bytes(length), ("{to}", 5000))
    client.recv(2000)
    times_s.append(time.monotonic() - start)
print(min(times_s))
"""


def round_trip_s(client: Host, server: Host) -> float:
    """Shortest of fifteen round trips of UDP between two hosts."""
    echo = server.python(ECHO)
    try:
        assert echo.stdout is not None
        assert echo.stdout.readline() == "ready\n"
        ask = client.python(ASK.replace("{to}", server.ipv4))
        out, err = ask.communicate(timeout=PATIENCE_S)
        assert ask.returncode == 0, err
        return float(out)
    finally:
        echo.kill()
        echo.wait()


def refused(*options: str, address: str = "127.0.0.1:0") -> str:
    """What a switch says that does not start."""
    command = [switch_program(), *options, "--", "--grpc-server-addr", address]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 2, done.stderr
    return done.stderr


@both_ways
def test_hosts_reach_each_other_and_a_signal_ends_the_switch(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR))
        assert round_trip_s(*it.hosts) < 1
        assert switch.stop() == 0
        assert "switch stopped" in switch.log.read_text()


@both_ways
def test_a_links_delay_and_rate_are_the_switchs(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        it.switch(str(PAIR), "--delay-ns", "30000000", "--delay-ns", "1@50000000")
        # 30 ms there, 50 ms back.
        assert 0.080 <= round_trip_s(*it.hosts) < 0.5
    with lab(tmp_path) as it:
        # The shortest packet has 29 bytes of IP: 23.2 ms at 10 kbit/s.
        it.switch(str(PAIR), "--rate-bps", "2@10000", "--queue-pkts", "1000")
        assert 0.0232 <= round_trip_s(*it.hosts) < 5


@both_ways
def test_a_link_loses_what_it_is_asked_to_in_each_direction(tmp_path: Path) -> None:
    if shutil.which("ping") is None:
        pytest.skip("ping is missing: apt-get install iputils-ping")
    for option in ("--loss", "--loss-in"):
        with lab(tmp_path) as it:
            switch = it.switch(str(PAIR), option, "2@0.3", "--seed", "7", "--log-console")
            ping = it.hosts[0].command("ping", "-q", "-c", "200", "-i", "0.005", "-W", "1", it.hosts[1].ipv4)
            said = subprocess.run(ping, capture_output=True, text=True, check=False, timeout=PATIENCE_S).stdout
            received = re.search(r"200 packets transmitted, (\d+) received", said)
            assert received is not None, said
            # 30 % of 200, five standard deviations to either side.
            assert 107 <= int(received[1]) <= 173, said
            assert switch.stop() == 0
            assert re.search(r"by_chance=[1-9]", switch.log.read_text())


def processor_s(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@both_ways
def test_an_interface_may_go_down_and_come_up_again(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR))
        interface = it.hosts[0].port_interface
        run("ip", "link", "set", interface, "down")
        wait_for(lambda: "the interface reports an error" in switch.log.read_text() or None, "the log to say so")
        before = processor_s(switch.process.pid)
        time.sleep(1)
        assert processor_s(switch.process.pid) - before < 0.3, "it waits rather than asks again and again"
        run("ip", "link", "set", interface, "up")
        assert round_trip_s(*it.hosts) < 1
        assert switch.stop() == 0


@both_ways
def test_packets_are_captured_in_both_directions(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), f"--pcap={tmp_path}")
        round_trip_s(*it.hosts)
        assert switch.stop() == 0
        first = it.hosts[0].port_interface
        sizes = [(tmp_path / f"{first}_{direction}.pcap").stat().st_size for direction in ("in", "out")]
        # Fifteen datagrams, more than 8 kB of payload, and their headers.
        assert all(size > 8_000 for size in sizes), sizes


@both_ways
def test_the_log_says_what_each_packet_did(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), log_level="debug")
        round_trip_s(*it.hosts)
        assert switch.stop() == 0
    lines = [line.split(" DEBUG ")[1] for line in switch.log.read_text().splitlines() if " DEBUG " in line]
    steps = [re.sub(r" ?at_us=\d+", "", line) for line in lines]
    start = next(at for at, step in enumerate(steps) if step.startswith("packet received port=1"))
    assert steps[start + 1 : start + 7] == [
        'parser state state="start"',
        'table applied table="ingress.pairs" key="standard_metadata.ingress_port=9w0x1" outcome="hit"',
        'action action="ingress.forward" args="port=9w0x2"',
        "enqueued port=2 priority=0",
        "dequeued port=2 priority=0 enq_qdepth=0 deq_qdepth=0",
        steps[start].replace("received port=1", "sent port=2"),
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--no-p4", "-i", "1@nosuch0"], "no interface nosuch0"),
        (["no-such-program.json"], "no-such-program.json"),
        (["--no-p4", "-i", "511@lo"], "port 511 is used twice"),
        ([], "--no-p4"),
        (["--no-p4", "-i", "lo"], "PORT@INTERFACE"),
    ],
)
def test_a_start_that_fails_says_why(options: list[str], words: str) -> None:
    assert words in refused(*options)


def test_a_bad_program_is_shown_with_its_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.p4"
    bad.write_text(PAIR.read_text().replace("egress_spec = port", "egress_spec = prot"))
    shown = refused(str(bad))
    assert "bad.p4:22" in shown
    assert "prot" in shown


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert address in refused("--no-p4", address=address)


EVERY = "0.0.0.0"  # noqa: S104 - what is tested is the warning


@pytest.mark.parametrize("host", ["127.0.0.1", EVERY])
def test_a_listener_that_others_reach_is_one_warning(tmp_path: Path, host: str) -> None:
    log = tmp_path / "log"
    servers = ["--thrift-port", "0", "--thrift-addr", host, "--packet-in", f"tcp://{host}:0"]
    command = [switch_program(), "--no-p4", *servers, "--log-file", str(log), "-L", "info"]
    process = subprocess.Popen([*command, "--", "--grpc-server-addr", f"{host}:0"], stderr=subprocess.PIPE, text=True)
    switch = Switch(process, "", log.with_suffix(".txt"))
    try:
        thrift = wait_for(lambda: listening(switch, "Thrift server listening on "), "Thrift to start")
        wait_for(lambda: "switch runs" in switch.log.read_text(), "the switch to run")
        assert switch.stop() == 0
    finally:
        process.kill()
    assert thrift.startswith(host)
    warnings = [line.split(" WARN ")[1] for line in switch.log.read_text().splitlines() if " WARN " in line]
    named = [line.split(" is open to all")[0].rpartition(":")[0] for line in warnings if " is open to all" in line]
    reached = [f"{server} on {EVERY}" for server in ("--packet-in", "P4Runtime", "Thrift")]
    assert named == (reached if host == EVERY else [])


def test_assertions_that_do_not_hold_are_named_once_in_a_while(tmp_path: Path) -> None:
    program = tmp_path / "asserts.p4"
    check = "assert(standard_metadata.egress_spec != 0);"
    text = PAIR.read_text().replace("        pairs.apply();", f"        {check}\n        pairs.apply();")
    program.write_text(text)
    line = 1 + next(at for at, line in enumerate(text.splitlines()) if "assert(" in line)
    with lab(tmp_path) as it:
        switch = it.switch(str(program))
        assert round_trip_s(*it.hosts) < 1, "packets are processed further"
        wait_for(lambda: "did not hold" in switch.log.read_text(), "the warning")
        assert switch.stop() == 0
    warnings = [one for one in switch.log.read_text().splitlines() if "did not hold" in one]
    assert f"assert at {program}:{line} did not hold" in warnings[0]
    assert len(warnings) < 15, "packets were more"


@both_ways
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        it.switch("--no-p4")
        made = [name for host in it.hosts for name in (host.namespace, host.port_interface)]
    there = run("ip", "-br", "link") + run("ip", "netns", "list")
    assert [name for name in made if name in there] == []
