"""`p4cc-hosts`: what it loads can be used, and nothing of it outlives its unloading."""

from __future__ import annotations

import errno
import signal
import subprocess
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.linux.kernel import COMMAND, needs_senders, registered, senders, transfer
from tests.switchd.namespaces import PATIENCE_S, Host, Lab, lab, run, wait_for

DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")
SIZE = 400_000

#: Opens a connection by a sender; for each line on its input sends 20,000 bytes and says which sender it has.
TALKER = """
import socket, sys
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    for line in sys.stdin:
        connection.sendall(bytes(20_000))
        assert connection.recv(1) == b"."
        name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        print(name.rstrip(b"\\0").decode(), flush=True)
"""
LISTENER = """
import socket
with socket.create_server(("", 5301)) as listening:
    print("listening", flush=True)
    connection, _ = listening.accept()
with connection:
    got = 0
    while data := connection.recv(1 << 16):
        got += len(data)
        while got >= 20_000:
            got -= 20_000
            connection.sendall(b".")
"""


def joined(net: Lab) -> tuple[Host, Host]:
    """Two hosts on one bridge: what is tested needs no switch of p4cc's."""
    bridge = net.hosts[0].port_interface + "b"
    run("ip", "link", "add", bridge, "type", "bridge")
    for host in net.hosts:
        run("ip", "link", "set", host.port_interface, "master", bridge)
    run("ip", "link", "set", bridge, "up")
    return net.hosts[0], net.hosts[1]


@pytest.fixture
def ends(tmp_path: Path) -> Generator[tuple[Host, Host]]:
    """Two hosts that reach each other."""
    with lab(tmp_path) as net:
        yield joined(net)
        run("ip", "link", "del", net.hosts[0].port_interface + "b")


def test_a_loaded_sender_carries_data_and_unloads(ends: tuple[Host, Host]) -> None:
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        assert name in registered()
        assert f"{name}: dctcp with slow start standard" in it.call("status")
        transfer(it, name, ends, SIZE)
        counters = it.stats()["senders"][name]["counters"]
        assert counters["segments"] >= SIZE // 1448
        assert counters["flows"] == 1
        it.call("unload")
        assert name not in registered()
        assert not it.pins.exists()


def test_sockets_of_an_unloaded_sender_change_to_the_default(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("l2tcp", "--sender", "l2tcp")
        server = it.python(receiver, LISTENER)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, TALKER, receiver.ipv4, "5301", name)
        assert client.stdin is not None
        assert client.stdout is not None
        names: list[str] = []
        for step in range(4):
            if step == 2:
                it.call("unload", name)
            client.stdin.write("go\n")
            client.stdin.flush()
            names.append(client.stdout.readline().strip())
        client.stdin.close()
        assert client.wait(PATIENCE_S) == 0
        server.wait(PATIENCE_S)
        default = DEFAULT.read_text().strip()
        # Names of both ends are of processes in the namespaces, whose default is the system's.
        assert names[:2] == [name, name]
        assert names[3] == default


#: Connects by a sender. "go" sends 20,000 bytes, any other line names another sender; each says which one the
#: connection has and its window.
SUCCESSION = """
import socket, struct, sys
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    for line in sys.stdin:
        if line == "go\\n":
            connection.sendall(bytes(20_000))
            assert connection.recv(1) == b"."
        else:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, line.strip().encode())
        name = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        window = struct.unpack_from("=I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 80)[0]
        print(name.rstrip(b"\\0").decode(), window, flush=True)
"""


@pytest.mark.parametrize("way", ["unload", "application"])
def test_a_sender_by_rate_leaves_a_window_behind(ends: tuple[Host, Host], way: str) -> None:
    sender, receiver = ends
    with senders() as it:
        link = ("--line-mbps", "1000", "--base-rtt-us", "100")
        name = it.load("timely", "--sender", "timely", *link, option=False)
        server = it.python(receiver, LISTENER)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, SUCCESSION, receiver.ipv4, "5301", name)
        assert client.stdin is not None
        assert client.stdout is not None
        lines: list[list[str]] = []
        for words in ("go", "go", "go") if way == "unload" else ("go", "reno"):
            if len(lines) == 1 and way == "unload":
                it.call("unload", name)
            client.stdin.write(f"{words}\n")
            client.stdin.flush()
            lines.append(client.stdout.readline().split())
        client.stdin.close()
        assert client.wait(PATIENCE_S) == 0
        server.wait(PATIENCE_S)
    # TIMELY has a rate and no window.
    assert lines[0] == [name, str(1 << 20)]
    if way == "application":
        # Nothing was in flight: the first window of TCP.
        assert lines[1] == ["reno", "10"]
    else:
        # Twenty-eight segments were sent since; slow start adds one for each.
        assert lines[2][0] == DEFAULT.read_text().strip()
        assert 10 <= int(lines[2][1]) <= 14 + 28


def test_a_peer_without_the_option_gets_the_plain_form(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        # A receiver outside the control group.
        server = receiver.python(LISTENER)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, TALKER, receiver.ipv4, "5301", name)
        output, errors = client.communicate("go\ngo\n", PATIENCE_S)
        assert client.returncode == 0, errors
        server.wait(PATIENCE_S)
        stats = it.stats()
        assert output.split() == [name, name]
        assert stats["option"]["plain"] == 1
        assert stats["option"]["negotiated"] == 0
        counters = stats["senders"][name]["counters"]
        assert counters["plain_acks"] == counters["acks"] > 0


def test_a_server_with_syn_cookies_is_plain_at_both_ends(ends: tuple[Host, Host]) -> None:
    _, receiver = ends
    # A cookie for each SYN, which the server does not keep.
    run(*receiver.command("sysctl", "-qw", "net.ipv4.tcp_syncookies=2"))
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        transfer(it, name, ends, SIZE)
        stats = it.stats()
    assert (stats["option"]["plain"], stats["option"]["negotiated"]) == (2, 0)
    counters = stats["senders"][name]["counters"]
    assert counters["plain_acks"] == counters["acks"] > 0


@pytest.mark.parametrize("delay_ms", [2, 30, 100, 250, 600])
def test_a_loader_that_is_killed_leaves_sockets_on_the_default(ends: tuple[Host, Host], delay_ms: int) -> None:
    with senders() as it:
        before = DEFAULT.read_text()
        name = it.name("dctcp")
        words = [str(COMMAND), "--pins", str(it.pins), "load", "--name", name, "--sender", "dctcp"]
        loader = subprocess.Popen([*words, "--cgroup", str(it.cgroup)], stdout=subprocess.DEVNULL)
        time.sleep(delay_ms / 1_000)
        loader.send_signal(signal.SIGKILL)
        loader.wait()
        assert DEFAULT.read_text() == before
        transfer(it, before.strip(), ends, SIZE)
        it.call("unload")
        assert name not in registered()
        assert not it.pins.exists()
        # It can be loaded as if nothing had been.
        it.load("dctcp", "--sender", "dctcp")


def test_a_route_names_the_sender_of_its_connections(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("reno", "--sender", "reno_ecn")
        run(*sender.command(str(COMMAND), "route", "10.9.0.0/24", name))
        assert f"congctl {name}" in run("ip", "-n", sender.namespace, "route", "show")
        server = it.python(receiver, LISTENER)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        # The application names no sender.
        plain = TALKER.replace("connection.setsockopt", "0 and connection.setsockopt")
        output, errors = it.python(sender, plain, receiver.ipv4, "5301").communicate("go\n", PATIENCE_S)
        server.wait(PATIENCE_S)
        assert output.strip() == name, errors
        run(*sender.command(str(COMMAND), "route", "10.9.0.0/24", "none"))
        assert "congctl" not in run("ip", "-n", sender.namespace, "route", "show")


def test_a_route_without_a_link_is_changed_too(ends: tuple[Host, Host]) -> None:
    sender, _ = ends
    with senders() as it:
        name = it.load("reno", "--sender", "reno_ecn", option=False)
        run("ip", "link", "set", sender.port_interface, "down")
        shown = ("ip", "-n", sender.namespace, "route", "show")
        wait_for(lambda: "linkdown" in run(*shown), "the route to lose its link")
        run(*sender.command(str(COMMAND), "route", "10.9.0.0/24", name))
        assert f"congctl {name}" in run(*shown)


@pytest.mark.parametrize(
    ("prefix", "message"), [("10.99.0.0/24", "there is no such route"), ("nowhere/24", "is expected rather than")]
)
def test_a_route_that_cannot_be_shown_has_its_own_message(ends: tuple[Host, Host], prefix: str, message: str) -> None:
    needs_senders()
    words = ends[0].command(str(COMMAND), "route", prefix, "reno")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sender", "cubic"], 'congestion_avoidance.name: the kernel\'s senders have no "cubic"'),
        (["--sender", "dctcp", "--slow-start", "gst"], "slow_start.k: "),
        (["--sender", "dctcp", "--set", "g=7"], "congestion_avoidance.g: 7 is out of range"),
        (["--sender", "dctcp", "--set", "g"], '--set: "g" has no value'),
        (["--sender", "dctcp", "--line-mbps", "1000"], "dctcp: a sender by window does not use its link's rate"),
        (["--base-rtt-us", "100"], "reno_ecn: a sender by window does not use its link's rate"),
        (["--name", "x" * 16, "--sender", "dctcp"], "has 16 characters; give 1 to 15 letters"),
        (["--name", "reno", "--sender", "dctcp"], '"reno" is a congestion control of this kernel already'),
    ],
)
def test_a_wrong_request_is_refused_and_loads_nothing(words: list[str], message: str) -> None:
    with senders() as it:
        done = it.attempt("load", *words)
        assert done.returncode == 1
        assert message in done.stderr
        # Without a name, one of p4cc's would have been loaded; other tests name theirs.
        assert not [name for name in registered() if name.startswith("p4cc_")]
        assert not it.pins.exists() or it.stats()["senders"] == {}


def test_own_parameters_are_of_the_loaded_sender() -> None:
    with senders() as it:
        name = it.load("l2tcp", "--sender", "l2tcp", "--slow-start", "gst", "--set", "k=25")
        assert f"{name}: l2tcp with slow start gst" in it.call("set", name, "--cgroup", str(it.cgroup), "--set", "k=9")
        refused = it.attempt("set", name, "--cgroup", str(it.cgroup))
        # The slow start is the sender's too, whose threshold has no default.
        assert (refused.returncode, "slow_start.k: " in refused.stderr) == (1, True), refused.stderr
        refused = it.attempt("set", name, "--cgroup", str(it.cgroup), "--set", "k=9", "--base-rtt-us", "100")
        assert (refused.returncode, "l2tcp: a sender by window" in refused.stderr) == (1, True), refused.stderr
        words = ("--sender", "dctcp", "--slow-start", "standard")
        assert "dctcp with slow start standard" in it.call("set", name, "--cgroup", str(it.cgroup), *words)


#: Becomes `nobody` and gives a socket its sender.
UNPRIVILEGED = """
import os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
"""


def test_an_application_without_rights_chooses_a_sender(ends: tuple[Host, Host]) -> None:
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        client = it.python(ends[0], UNPRIVILEGED, name)
        _, errors = client.communicate(timeout=PATIENCE_S)
        assert client.returncode == 0, errors


#: Connects by a sender and says its first window, of the kernel's TCP_INFO.
FIRST_WINDOW = """
import socket, struct, sys
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    print(struct.unpack_from("=I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 80)[0])
"""


def test_a_control_group_has_its_own_parameters(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        it.call("set", name, "--cgroup", str(it.cgroup), "--sender", "dctcp", "--iw", "3")
        windows: list[str] = []
        for in_group in (True, False):
            server = it.python(receiver, LISTENER)
            assert server.stdout is not None
            assert server.stdout.readline() == "listening\n"
            arguments = (receiver.ipv4, "5301", name)
            outside = f"import sys; sys.argv[1:] = {arguments!r}\n{FIRST_WINDOW}"
            client = it.python(sender, FIRST_WINDOW, *arguments) if in_group else sender.python(outside)
            output, errors = client.communicate(timeout=PATIENCE_S)
            assert client.returncode == 0, errors
            server.wait(PATIENCE_S)
            windows.append(output.strip())
        assert windows == ["3", "10"]


def test_groups_below_have_the_parameters_of_the_nearest(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("dctcp", "--sender", "dctcp")
        it.call("set", name, "--cgroup", str(it.cgroup), "--sender", "dctcp", "--iw", "3")
        # systemd puts a unit into a group of its own, below that of its slice.
        inner = replace(it, cgroup=it.cgroup / "unit")
        inner.cgroup.mkdir()
        windows: list[str] = []
        try:
            for _ in range(2):
                server = it.python(receiver, LISTENER)
                assert server.stdout is not None
                assert server.stdout.readline() == "listening\n"
                client = inner.python(sender, FIRST_WINDOW, receiver.ipv4, "5301", name)
                output, errors = client.communicate(timeout=PATIENCE_S)
                assert client.returncode == 0, errors
                server.wait(PATIENCE_S)
                windows.append(output.strip())
                it.call("set", name, "--cgroup", str(inner.cgroup), "--sender", "dctcp", "--iw", "5")
        finally:
            inner.cgroup.rmdir()
        assert windows == ["3", "5"]


#: Sets a deadline on a connected socket, as docs/how-to/linux-hosts.md shows.
DEADLINE = """
import socket, struct, sys
with socket.socket() as connection:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
    connection.connect((sys.argv[1], int(sys.argv[2])))
    connection.setsockopt(socket.IPPROTO_TCP, 0x7034, struct.pack("QQ", 20_000, 5_000_000))
    try:
        connection.setsockopt(socket.IPPROTO_TCP, 0x7034, b"short")
    except OSError as error:
        print(error.errno, flush=True)
    connection.sendall(bytes(20_000))
    assert connection.recv(1) == b"."
"""


def test_an_application_sets_its_deadline(ends: tuple[Host, Host]) -> None:
    sender, receiver = ends
    with senders() as it:
        name = it.load("d2tcp", "--sender", "d2tcp")
        server = it.python(receiver, LISTENER)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = it.python(sender, DEADLINE, receiver.ipv4, "5301", name)
        output, errors = client.communicate(timeout=PATIENCE_S)
        server.wait(PATIENCE_S)
        assert (client.returncode, output) == (0, f"{errno.EPERM}\n"), errors
