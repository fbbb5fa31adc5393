"""The state of ports follows the links of their interfaces, and interfaces that come again are attached again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.switchd.namespaces import IO, PAIR, Host, Switch, both_ways, lab, make_link, run, wait_for
from tests.switchd.test_daemon import round_trip_s
from tests.switchd.test_thrift import free_port
from tests.switchd.thrift_client import Client


def ports_told(switch: Switch) -> list[tuple[str, str]]:
    """Ports that the log says went up or down, in order."""
    lines = [line for line in switch.log.read_text().splitlines() if " port down " in line or " port up " in line]
    return [
        ("down" if " port down " in line else "up", word)
        for line in lines
        for word in line.split()
        if word.startswith("port=")
    ]


@both_ways
def test_a_port_goes_down_and_up_with_its_link(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR))
        far_end = it.hosts[1].namespace
        for count, state in enumerate(("down", "up", "down"), start=1):
            run("ip", "-n", far_end, "link", "set", "eth0", state if state == "up" else "down")
            wait_for(lambda count=count: len(ports_told(switch)) == count, f"port 2 to be {state}")
            assert ports_told(switch)[-1] == (state, "port=2")
        assert "has no link: its peer is down" in switch.log.read_text()
        assert switch.stop() == 0


def shown(client: Client, number: int) -> tuple[bool, str]:
    """Whether `show_ports` says that a port is up, and its remark."""
    port: dict[int, Any] = next(one for one in client.call("bm_dev_mgr_show_ports") if one[1] == number)
    return port[3], port[4].get(b"remark", b"").decode()


def index_of(host: Host) -> int:
    """The kernel's number of the switch's end of a host's link."""
    return int(json.loads(run("ip", "-j", "link", "show", host.port_interface))[0]["ifindex"])


def attached_again(switch: Switch) -> int:
    """How often the log says that a port was attached again."""
    return switch.log.read_text().count("port attached again")


@both_ways
def test_an_interface_that_is_deleted_and_made_again_is_attached_again(tmp_path: Path) -> None:
    port = free_port()
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), "--thrift-port", str(port))
        second = it.hosts[1]
        with Client(port) as client:
            assert shown(client, 2) == (True, "")
            run("ip", "link", "del", second.port_interface)
            wait_for(lambda: not shown(client, 2)[0], "the port to be down")
            assert f"interface {second.port_interface} is gone" in shown(client, 2)[1]
            assert ports_told(switch) == [("down", "port=2")]
            make_link(second)
            wait_for(lambda: shown(client, 2) == (True, ""), "the port to be up")
            assert round_trip_s(*it.hosts) < 1
            # Made again at once, with the number that it had.
            again, number = attached_again(switch), index_of(second)
            run("ip", "link", "del", second.port_interface)
            make_link(second, "index", str(number))
            wait_for(lambda: attached_again(switch) > again and shown(client, 2) == (True, ""), "the port to be up")
            assert round_trip_s(*it.hosts) < 1
        assert switch.stop() == 0


SENDER = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
link.send(bytes.fromhex("ffffffffffff") + bytes({count} - 6))
"""
RECEIVER = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
link.bind(("eth0", 0))
link.settimeout(20)
print("ready", flush=True)
while len(link.recv(1 << 16)) != {count}:
    pass
print("here", flush=True)
"""


@both_ways
def test_a_larger_mtu_is_followed_or_the_port_says_what_to_do(tmp_path: Path) -> None:
    port, mtu = free_port(), 3_000
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR), "--thrift-port", str(port))
        for host in it.hosts:
            run("ip", "link", "set", host.port_interface, "mtu", str(mtu))
            run("ip", "-n", host.namespace, "link", "set", "eth0", "mtu", str(mtu))
        wait_for(lambda: attached_again(switch) == 2, "both ports to be attached again")
        count = mtu + 14
        receiver = it.hosts[1].python(RECEIVER.format(count=count))
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        run(*it.hosts[0].command("python3", "-c", SENDER.format(count=count)))
        assert receiver.stdout.readline() == "here\n"
        receiver.wait()
        run("ip", "link", "set", it.hosts[0].port_interface, "mtu", "9000")
        with Client(port) as client:
            if IO["way"] == "af_xdp":
                wait_for(lambda: "longer packets are lost" in shown(client, 1)[1], "the remark")
                assert f"ip link set dev {it.hosts[0].port_interface} mtu" in shown(client, 1)[1]
            else:
                wait_for(lambda: attached_again(switch) == 3, "the port to be attached again")
            assert shown(client, 1)[0]
        assert round_trip_s(*it.hosts) < 1
        assert switch.stop() == 0
