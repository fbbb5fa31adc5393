"""Builds a lab with Debian's Mininet: a network namespace per host and a veth pair per link.

Mininet comes from the system (`apt-get install mininet`, 2.3.0): the system's packages are appended to the search path,
so that ours come first. Nodes and command line are Mininet's; links and addresses are made here, because Mininet
deletes interfaces of the same name first, and leaves offloads and IPv6 on. Switch ports stay in the root namespace
under names with our prefix; a host's end is created in its namespace. Every interface of the root namespace has an
alias with the lab's token, which distinguishes it from others of the same name.
"""

import importlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Interface
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Protocol

from topos.errors import fail
from topos.lab import LabEnd, LabHost, LabNetwork

SYSTEM_PACKAGES = Path("/usr/lib/python3/dist-packages")
PREFIX = "p4cc"
ALIAS = "p4cc-lab"
# IFNAMSIZ - 1.
MAX_INTERFACE_CHARS = 15
# Room for a full packet of 1500 B and what switches push into it (docs/reference/wire-format.md).
MTU_BYTES = 1600
# The MTU of hosts, which leaves that room free.
ROUTE_MTU_BYTES = 1500
# All that a veth would leave to a network card which is
# not there; a switch must see real packets and checksums.
HOSTS_FILE = "/etc/hosts"
OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro", "rxvlan", "txvlan")

# Tools of this module and of Mininet, with Debian's packages.
TOOLS = {
    "mnexec": "mininet",
    "ip": "iproute2",
    "ethtool": "ethtool",
    "ifconfig": "net-tools",
    "sysctl": "procps",
    "mount": "mount",
    "bash": "bash",
}
_COMMAND_TIMEOUT_S = 60


def load() -> SimpleNamespace:
    """Mininet's classes; raises TopologyError that says what to install."""
    if str(SYSTEM_PACKAGES) not in sys.path:
        sys.path.append(str(SYSTEM_PACKAGES))
    try:
        modules = {name: importlib.import_module(f"mininet.{name}") for name in ("net", "node", "link", "cli", "log")}
    except ImportError as error:
        cause = (
            f"Debian's mininet cannot be used from Python {sys.version_info.major}.{sys.version_info.minor}: {error}"
        )
        raise fail("mininet", cause, "apt-get install mininet (2.3.0), and use Python 3.11") from None
    # What a command of its command line prints is of level `output`; below come its own doings.
    modules["log"].setLogLevel("output")
    # It would raise kernel limits of the whole machine (mininet.util.fixLimits), which outlive the lab.
    modules["net"].Mininet.inited = True
    return SimpleNamespace(
        Mininet=modules["net"].Mininet,
        Host=modules["node"].Host,
        Switch=modules["node"].Switch,
        Link=modules["link"].Link,
        Intf=modules["link"].Intf,
        CLI=modules["cli"].CLI,
    )


def interface_names(lab: LabNetwork) -> dict[LabEnd, str]:
    """Name of every switch port's interface: `p4cc-s1-2`, or by numbers where that is too long."""
    names: dict[LabEnd, str] = {}
    for index, switch in enumerate(lab.switches):
        for port in lab.ports[switch.name]:
            name = f"{PREFIX}-{switch.name}-{port.number}"
            if len(name) > MAX_INTERFACE_CHARS:
                name = f"{PREFIX}.{index}.{port.number}"
            names[LabEnd(switch.name, port.number)] = name
    if len(set(names.values())) != len(names):
        raise fail("switches", "two ports would get the same interface name", "rename a switch")
    return names


class Node(Protocol):
    """What is used of Mininet's nodes."""

    pid: int
    params: Mapping[str, str | None]
    inNamespace: bool  # noqa: N815 - Mininet's name

    def terminate(self) -> None:
        """Ends its shell."""
        ...


class Network(Protocol):
    """What is used of Mininet's network."""

    hosts: Sequence[Node]
    switches: Sequence[Node]
    links: list[object]

    def get(self, name: str, /) -> Node:
        """A node."""
        ...


@dataclass
class Built:
    """A lab that is up: Mininet's network, and the interface of every switch port."""

    net: Network
    lab: LabNetwork
    interfaces: dict[LabEnd, str]
    problems: list[str] = field(default_factory=list[str])
    """Errors of hosts' commands."""

    def enter(self, host: str) -> list[str]:
        """The words before a command that run it in a host's namespace."""
        return ["mnexec", "-a", str(self.net.get(host).pid)]

    def release(self) -> None:
        """End Mininet's shells and close their terminals; the namespaces go with them."""
        for node in (*self.net.hosts, *self.net.switches):
            try:
                node.terminate()
            except (OSError, ValueError):
                continue


def build(lab: LabNetwork, token: str) -> Built:
    """Makes every node and link, with the token as the links' alias; raises TopologyError."""
    mininet = load()
    kinds = _kinds(mininet)
    names = interface_names(lab)
    net = mininet.Mininet(topo=None, controller=None, build=False, waitConnected=False)
    built = Built(net, lab, names)
    hosts = {host.name: host for host in lab.hosts}
    try:
        for host in lab.hosts:
            node = net.addHost(host.name, cls=kinds.Host, ip=host.ipv4, mac=host.mac)
            _in_namespace(node.pid, ["sysctl", "-qw", *(f"net.ipv6.conf.{part}.disable_ipv6=1" for part in _IPV6)])
        for index, switch in enumerate(lab.switches):
            net.addSwitch(switch.name, cls=kinds.Switch, dpid=f"{index + 1:x}", inNamespace=False)
        _make_links(built, hosts, token)
        for link in lab.links:
            ends = [(end, net.get(end.node), _end_name(end, names, hosts)) for end in (link.a, link.b)]
            kinds.join(net, ends)
        for host in lab.hosts:
            _configure(built, host)
        net.build()
    except BaseException:
        built.release()
        raise
    return built


_IPV6 = ("all", "default", "lo")


def _kinds(mininet: SimpleNamespace) -> SimpleNamespace:
    """Subclasses of Mininet's for interfaces and addresses that exist already."""

    class Quiet(mininet.Intf):  # pyright: ignore[reportUntypedBaseClass]
        """An interface that exists and is configured."""

        def config(self, **_params: object) -> dict[str, object]:
            return {}

    class QuietHost(mininet.Host):  # pyright: ignore[reportUntypedBaseClass]
        """A host whose interface is configured by `_configure`."""

        def config(self, **_params: object) -> dict[str, object]:
            return {}

    class Idle(mininet.Switch):  # pyright: ignore[reportUntypedBaseClass]
        """A switch whose program the lab starts."""

        def start(self, _controllers: object) -> None:
            """Nothing: the lab starts it."""

    class Join(mininet.Link):  # pyright: ignore[reportUntypedBaseClass]
        """A link whose two interfaces exist."""

        @classmethod
        def makeIntfPair(cls, *_names: object, **_where: object) -> None:  # noqa: N802 - Mininet's name
            """Nothing: `_make_links` made them."""

    def join(net: Network, ends: Sequence[tuple[LabEnd, Node, str]]) -> None:
        (a, node_a, name_a), (b, node_b, name_b) = ends
        link = Join(
            node_a, node_b, port1=a.port or 0, port2=b.port or 0, intfName1=name_a, intfName2=name_b, intf=Quiet
        )
        net.links.append(link)
        for intf, node in ((link.intf1, node_a), (link.intf2, node_b)):
            if (ip := node.params.get("ip")) and node.inNamespace:
                intf.ip, intf.prefixLen = ip.split("/")
                intf.mac = node.params.get("mac")

    return SimpleNamespace(Host=QuietHost, Switch=Idle, join=join)


def _end_name(end: LabEnd, names: dict[LabEnd, str], hosts: dict[str, LabHost]) -> str:
    return hosts[end.node].interface if end.node in hosts else names[end]


def _make_links(built: Built, hosts: dict[str, LabHost], token: str) -> None:
    """Makes every veth pair: with an alias, offloads and IPv6 off, then up."""
    lines: list[str] = []
    for link in built.lab.links:
        # The end in the root namespace first; at least one is a switch's.
        near, far = (link.a, link.b) if link.a.port is not None else (link.b, link.a)
        peer = f"peer name {_end_name(far, built.interfaces, hosts)} mtu {MTU_BYTES}"
        if far.node in hosts:
            host = hosts[far.node]
            peer += f" address {host.mac} netns {built.net.get(host.name).pid}"
        lines.append(f"link add name {built.interfaces[near]} mtu {MTU_BYTES} type veth {peer}")
    lines += [f"link set dev {name} alias {ALIAS}:{token}" for name in built.interfaces.values()]
    _run(["ip", "-batch", "-"], "\n".join(lines) + "\n")
    for name in built.interfaces.values():
        Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1", encoding="ascii")
        _run(["ethtool", "-K", name, *(word for offload in OFFLOADS for word in (offload, "off"))])
    _run(["ip", "-batch", "-"], "".join(f"link set dev {name} up\n" for name in built.interfaces.values()))


def _configure(built: Built, host: LabHost) -> None:
    """A host's address, neighbours and route; offloads off."""
    pid = built.net.get(host.name).pid
    name = host.interface
    _in_namespace(pid, ["ethtool", "-K", name, *(word for offload in OFFLOADS for word in (offload, "off"))])
    lines = [f"link set dev lo up\nlink set dev {name} up\naddr add {host.ipv4} brd + dev {name}"]
    network = IPv4Interface(host.ipv4).network
    if network.prefixlen < 32:
        lines.append(f"route change {network} dev {name} src {IPv4Interface(host.ipv4).ip} mtu {ROUTE_MTU_BYTES}")
    if host.gateway is not None:
        lines.append(f"route add default via {host.gateway} dev {name} mtu {ROUTE_MTU_BYTES}")
    lines += [f"neigh replace {address} lladdr {mac} dev {name} nud permanent" for address, mac in host.neighbours]
    _run(["mnexec", "-a", str(pid), "ip", "-batch", "-"], "\n".join(lines) + "\n")


def name_hosts(built: Built, file: Path) -> None:
    """Writes an `/etc/hosts` with every host and mounts it over the machine's in each host's namespace."""
    lines = ["127.0.0.1 localhost", f"127.0.1.1 {gethostname()}"]
    lines += [f"{IPv4Interface(host.ipv4).ip} {host.name}" for host in built.lab.hosts]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for host in built.lab.hosts:
        words = [*built.enter(host.name), "mount", "--bind", str(file), HOSTS_FILE]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            built.problems.append(f"{host.name} cannot resolve the names of other hosts: {done.stderr.strip()}")


def run_host_commands(built: Built) -> None:
    """Runs the topology's commands for hosts, in their namespaces; failures go into `problems`."""
    for host in built.lab.hosts:
        for command in host.commands:
            status, output = _host_command([*built.enter(host.name), "sh", "-c", command])
            # The address has added this route already.
            if status != 0 and "File exists" not in output:
                first = (output.strip().splitlines() or [f"status {status}"])[0]
                built.problems.append(f"{host.name}: `{command}` failed: {first}")
        if host.commands:
            _limit_routes(built, host.name)


def _host_command(words: Sequence[str]) -> tuple[int, str]:
    """A command's status and output; background processes may continue, without output."""
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            done = subprocess.run(
                list(words),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_COMMAND_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"not finished within {_COMMAND_TIMEOUT_S} s; append `&` to commands that run in the background"
        output.seek(0)
        return done.returncode, output.read()


def _limit_routes(built: Built, host: str) -> None:
    """Sets the MTU of routes that a host's commands made."""
    enter = built.enter(host)
    shown = subprocess.run([*enter, "ip", "route", "show"], capture_output=True, text=True, check=False).stdout
    lines = [line.strip() for line in shown.splitlines() if " mtu " not in line]
    change = "".join(f"route change {line} mtu {ROUTE_MTU_BYTES}\n" for line in lines)
    done = subprocess.run([*enter, "ip", "-batch", "-"], input=change, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        built.problems.append(f"{host}: a route still allows packets of {MTU_BYTES} bytes: {done.stderr.strip()}")


def _in_namespace(pid: int, command: Sequence[str]) -> None:
    _run(["mnexec", "-a", str(pid), *command])


def _run(command: Sequence[str], text: str | None = None) -> None:
    """Runs a command; raises TopologyError with its output where it fails."""
    try:
        done = subprocess.run(
            list(command), input=text, capture_output=True, text=True, timeout=_COMMAND_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise fail(" ".join(command), f"not finished within {_COMMAND_TIMEOUT_S} s", "see `p4cc lab --clean`") from None
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip()
        raise fail(" ".join(command), output or f"exited with code {done.returncode}", "see `p4cc lab --clean`")


def which(tool: str) -> str | None:
    """The path of a tool; also root's tools, which may not be on a user's path."""
    folders = [*os.get_exec_path(), "/usr/sbin", "/sbin"]
    return next((str(Path(folder) / tool) for folder in folders if (Path(folder) / tool).is_file()), None)
