"""p4-utils with p4-learning, p4-guide, ngsdn-tutorial and labs of universities, by the commands of their READMEs.

`P4CC_P4UTILS`, `P4CC_P4_LEARNING`, `P4CC_P4_GUIDE`, `P4CC_NGSDN`, `P4CC_SCC333` and `P4CC_P4INT` name copies. What
they import has to be installed: p4-utils wants networkx, ipaddr, psutil, scapy and thrift, its controllers of digests
nnpy, p4-guide's packet tests and ngsdn-tutorial p4runtime-shell. Lancaster's controller wants flask, grpcio, protobuf 6
and scapy in the Python that `P4CC_SCC333_PYTHON` names, Toulouse's scapy and PyYAML.
"""

from __future__ import annotations

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.courses.console import PROMPT, Course, copy_of, course, needs

REACHED = "Results: 0% dropped"

BRIDGE = """#!/bin/sh
case "$1" in
    addbr) exec ip link add "$2" type bridge ;;
    delbr) exec ip link del "$2" ;;
    addif) exec ip link set "$3" master "$2" ;;
esac
"""

#: Of p4-learning: folder, network, what is run before hosts ping each other.
EXERCISES = [
    ("exercises/02-Repeater/p4runtime/solution", "p4app.json", "controller.py"),
    ("exercises/02-Repeater/thrift/solution", "p4app.json", ""),
    ("exercises/02-Repeater/thrift/solution", "p4app_table.json", ""),
    ("exercises/03-L2_Basic_forwarding/p4runtime/solution", "p4app.json", ""),
    ("exercises/03-L2_Basic_forwarding/thrift/solution", "p4app.json", ""),
    ("exercises/03-L2_Flooding/p4runtime/solution", "p4app-all-ports.json", ""),
    ("exercises/03-L2_Flooding/thrift/solution", "p4app-other-ports.json", ""),
    ("exercises/04-MPLS/thrift/mpls_basics/solution", "p4app.json", ""),
    ("exercises/04-MPLS/thrift/mpls_stacked/solution", "p4app.json", ""),
    ("exercises/05-ECMP/solution", "p4app.json", ""),
    ("exercises/05-Flowlet_Switching/solution", "p4app.json", ""),
    ("exercises/06-Heavy_Hitter_Detector/solution", "p4app.json", ""),
    ("exercises/08-Simple_Routing/thrift/solution", "p4app.json", "routing-controller.py"),
    ("exercises/09-Traceroutable/solution", "p4app.json", "routing-controller.py"),
    ("examples/copy_to_cpu", "p4app.json", ""),
    ("examples/digest_messages", "p4app.json", ""),
    ("examples/multicast", "p4app.json", ""),
    ("examples/simple_int", "p4app.json", ""),
    ("examples/stateful_firewall", "p4app.json", ""),
]


def library(at: Course, *folders: Path) -> None:
    """Lets Python find these folders, as an installed package's."""
    before = at.environment["PYTHONPATH"]
    at.environment["PYTHONPATH"] = os.pathsep.join([before, *map(str, folders)])


def tool(at: Course, name: str, text: str) -> None:
    """Puts a program onto PATH."""
    path = at.folder.parent / "tools" / name
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def learning(tmp_path: Path, request: pytest.FixtureRequest) -> Course:
    """p4-learning to work in, with p4-utils."""
    utils = copy_of("P4CC_P4UTILS", "p4-utils")
    source = copy_of("P4CC_P4_LEARNING", "p4-learning")
    needs("mn", "unshare")
    missing = [name for name in ("networkx", "ipaddr", "psutil", "scapy", "thrift") if find_spec(name) is None]
    if missing:
        pytest.skip(f"p4-utils imports {', '.join(missing)}")
    folder = request.node.callspec.params["folder"]
    at = course(source / folder, tmp_path)
    library(at, utils)
    # An installed p4-utils is found by every Python, below sudo, too.
    tool(at, "sudo", '#!/bin/bash\nexec "$@"\n')
    tool(at, "p4run", '#!/bin/sh\nexec python3 -m p4utils.p4run "$@"\n')
    if shutil.which("brctl") is None:
        tool(at, "brctl", BRIDGE)
    return at


@pytest.mark.parametrize(("folder", "network", "controller"), EXERCISES)
def test_p4_learning(learning: Course, folder: str, network: str, controller: str) -> None:
    with learning.start("p4run", "--config", network) as console:
        console.until(PROMPT)
        if controller:
            console.ask(f"sh python3 {controller} > /tmp/controller.log 2>&1")
        # Hosts have no ARP entries in some networks.
        console.ask("sh sleep 3")
        assert REACHED in console.ask("pingall 3"), f"{folder}: {console.said}"
        console.end()


GUIDE = """
set -e
bash ../bin/veth_setup.sh
p4c --target bmv2 --arch v1model {demo}.p4_16.p4
ports=$(for port in 0 1 2 3 4 5 6 7; do echo -n "-i $port@veth$((2 * port)) "; done)
sudo simple_switch --log-console --dump-packet-data 10000 $ports {demo}.p4_16.json > switch.log 2>&1 &
timeout 60 sh -c 'until simple_switch_CLI < /dev/null > /dev/null; do sleep 0.2; done'
simple_switch_CLI <<'COMMANDS'
table_set_default ipv4_da_lpm ingressImpl.{drop}
table_set_default mac_da ingressImpl.my_drop
table_set_default send_frame egressImpl.my_drop
table_add ipv4_da_lpm set_l2ptr 10.1.0.1/32 => 58
table_add mac_da set_bd_dmac_intf 58 => 9 02:13:57:ab:cd:ef 2
table_add send_frame rewrite_mac 9 => 00:11:22:33:44:55
table_dump ipv4_da_lpm
COMMANDS
python3 send.py
simple_switch_CLI <<'COMMANDS'
show_ports
counter_read ipv4_da_lpm_stats 0
COMMANDS
"""

SEND = """
import time
from scapy.all import IP, TCP, AsyncSniffer, Ether, sendp
sniffer = AsyncSniffer(iface="veth5")
sniffer.start()
time.sleep(2)
sendp(Ether() / IP(dst="10.1.0.1") / TCP(sport=5793, dport=80), iface="veth1")
sendp(Ether() / IP(dst="10.1.0.34") / TCP(sport=5793, dport=80), iface="veth1")
time.sleep(2)
for packet in sniffer.stop():
    print("came", packet.src, packet.dst, packet[IP].dst, packet[IP].ttl)
"""

DUMP = """TABLE ENTRIES
**********
Dumping entry 0x0
Match key:
* ipv4.dstAddr        : LPM       0a010001/32
Action entry: ingressImpl.set_l2ptr - 3a
==========
Dumping default entry
Action entry: ingressImpl.{drop} - \n"""


@pytest.fixture
def guide(tmp_path: Path) -> Course:
    """p4-guide's demos to work in."""
    source = copy_of("P4CC_P4_GUIDE", "p4-guide")
    needs("unshare", "ptf", "pkill")
    at = course(source / "bin", tmp_path)
    for name in ("demo1", "demo2", "testlib", "bin"):
        shutil.copytree(source / name, at.folder / name)
    return at


@pytest.mark.parametrize(("demo", "drop"), [("demo1", "my_drop"), ("demo2", "drop_with_count")])
def test_p4_guide_by_its_readme(guide: Course, demo: str, drop: str) -> None:
    (guide.folder / demo / "send.py").write_text(SEND)
    code, said = guide.run("bash", "-c", GUIDE.format(demo=demo, drop=drop), under=demo)
    assert code == 0, said
    assert DUMP.format(drop=drop) in said, said
    assert [line for line in said.splitlines() if line.startswith("came")] == [
        "came 00:11:22:33:44:55 02:13:57:ab:cd:ef 10.1.0.1 63"
    ], said
    assert ("ipv4_da_lpm_stats[0]= (54 bytes, 1 packets)" in said) == (demo == "demo2"), said


@pytest.mark.parametrize("demo", ["demo1", "demo2"])
def test_p4_guides_packet_tests(guide: Course, demo: str) -> None:
    if find_spec("p4runtime_sh") is None:
        pytest.skip("the tests need p4runtime-shell: pip install --no-deps p4runtime-shell ipython")
    # The script hands PYTHONPATH to ptf as the name of one folder; sudo's options have it all the same.
    script = "bash ../bin/veth_setup.sh && PYTHONPATH= exec bash ./runptf.sh"
    code, said = guide.run("bash", "-c", script, under=demo)
    assert (code, "\nOK\n" in said, "FAILED" in said) == (0, True, False), said


#: Stratum's class for Mininet, of simple_switch_grpc: the tutorial's image has Stratum, which p4cc is not.
STRATUM = """
from mininet.node import Switch

class StratumBmv2Switch(Switch):
    made = 0

    def __init__(self, name, cpuport=255, **settings):
        super().__init__(name, **settings)
        StratumBmv2Switch.made += 1
        self.number, self.cpu_port = StratumBmv2Switch.made, cpuport

    def start(self, controllers):
        ports = " ".join(f"-i {number}@{port.name}" for number, port in self.intfs.items() if port.name != "lo")
        own = f"--device-id 1 --no-p4 --thrift-port {9090 + self.number} --log-file /tmp/{self.name}"
        target = f"--grpc-server-addr 0.0.0.0:{50000 + self.number} --cpu-port {self.cpu_port}"
        self.cmd(f"simple_switch_grpc {ports} {own} -- {target} &")

    def stop(self, deleteIntfs=True):
        self.cmd("kill %1")
        super().stop(deleteIntfs)
"""

ENTRIES = """
for address, port in (("00:00:00:00:00:1B", "4"), ("00:00:00:00:00:1A", "3")):
    te = table_entry["IngressPipeImpl.l2_exact_table"](action = "IngressPipeImpl.set_egress_port")
    te.match["hdr.ethernet.dst_addr"] = (address)
    te.action["port_num"] = (port)
    te.insert()

exit
"""


def test_ngsdn_exercise_1(tmp_path: Path) -> None:
    source = copy_of("P4CC_NGSDN", "ngsdn-tutorial")
    needs("mn", "unshare")
    if find_spec("p4runtime_sh") is None:
        pytest.skip("the exercise needs p4runtime-shell: pip install --no-deps p4runtime-shell ipython")
    at = course(source, tmp_path)
    build = at.folder / "p4src/build"
    build.mkdir()
    files = ["-o", "p4src/build/bmv2.json", "--p4runtime-files", "p4src/build/p4info.txt"]
    words = ["p4c-bm2-ss", "--arch", "v1model", *files, "--Wdisable=unsupported", "p4src/main.p4"]
    code, said = at.run(*words)
    assert code == 0, said
    # The tutorial's script is Python 2.
    script = (at.folder / "mininet/topo-v6.py").read_text()
    lines = [
        f"{line[: line.index('print')]}pass" if line.strip().startswith("print '") else line
        for line in script.splitlines()
    ]
    (at.folder / "mininet/topo.py").write_text("\n".join(lines) + "\n")
    (at.folder / "mininet/stratum.py").write_text(STRATUM)
    (at.folder / "entries.py").write_text(ENTRIES)
    with at.start("python3", "mininet/topo.py") as console:
        console.until(PROMPT)
        console.ask("h1a ip -6 neigh replace 2001:1:1::B lladdr 00:00:00:00:00:1B dev h1a-eth0")
        console.ask("h1b ip -6 neigh replace 2001:1:1::A lladdr 00:00:00:00:00:1A dev h1b-eth0")
        assert " 0 received" in console.ask("h1a ping -c 1 -W 1 h1b")
        config = "--config p4src/build/p4info.txt,p4src/build/bmv2.json --election-id 0,1"
        console.ask(f"sh p4runtime-sh --grpc-addr localhost:50001 {config} < entries.py > /tmp/shell.log 2>&1")
        assert " 3 received" in console.ask("h1a ping -c 3 -W 2 h1b"), at.log("shell.log")
        console.end()


def test_lancasters_introduction_to_p4runtime(tmp_path: Path) -> None:
    """Hosts are learned by packet-in: the third task's program and controller."""
    source = copy_of("P4CC_SCC333", "week3-intro-to-p4runtime")
    python = os.environ.get("P4CC_SCC333_PYTHON", "python3")
    needs("mn", "unshare", "curl")
    at = course(source, tmp_path)
    (at.folder / "p4src/build").mkdir(exist_ok=True)
    info = at.folder / "p4src/build/p4info.txt"
    files = ["-o", "p4src/build/bmv2.json", "--p4runtime-files", "p4src/build/p4info.txt"]
    words = ["p4c-bm2-ss", "--arch", "v1model", *files, "--Wdisable=unsupported", "--Wdisable=unused"]
    for program in ("p4src/main.p4", "solution/main-task3.p4"):
        code, said = at.run(*words, program)
        assert code == 0, said
    # The course's messages are of a P4Runtime before this field, which p4c writes, too.
    info.write_text(re.sub(r"  initial_default_action \{\n(?:    .*\n)*  \}\n", "", info.read_text()))
    (at.folder / "mininet/stratum.py").write_text(f"{STRATUM}\nfrom mininet.node import Host as NoIpv6OffloadHost\n")
    with at.start("python3", "mininet/topo.py") as console:
        console.until(PROMPT)
        console.ask(f"sh {python} solution/controller-task3.py > /tmp/controller.log 2>&1 &")
        console.ask("sh for i in $(seq 60); do grep -q Multicast /tmp/controller.log && break; sleep 1; done")
        # Each host's first packet goes to the controller.
        console.ask("homePC ping -c 3 -W 2 tablet")
        assert " 3 received" in console.ask("homePC ping -c 3 -W 2 tablet"), at.log("controller.log")
        hosts = console.ask("sh curl -s http://127.0.0.1:8080/api/get_hosts")
        assert '"count":2' in hosts, hosts
        console.end()


def test_toulouses_telemetry_lab(tmp_path: Path) -> None:
    """INT-MD of three switches: the sink takes the telemetry out of the packet and reports it by a digest."""
    source = copy_of("P4CC_P4INT", "p4-int")
    needs("mn", "make", "unshare")
    at = course(source, tmp_path)
    # The lab was written for a machine whose every Python has P4Runtime's messages, below sudo, too.
    tool(at, "sudo", '#!/bin/bash\n[ "$1" = -E ] && shift\nexec "$@"\n')
    # It adds entries to tables without a key, which BMv2 refuses since August 2023, too.
    config = at.folder / "controller" / "config_int.py"
    keyless = re.compile(r'(action_name="(?:SwitchEgress.add_node_id|SwitchIngress.(?:set_int_role|trgh_digest))",)')
    config.write_text(keyless.sub(r"\1 default_action=True,", config.read_text()))
    with at.start("make", "s01-run") as console:
        console.until(PROMPT)
        console.ask("sh make s01-int > /tmp/config.log 2>&1")
        assert REACHED in console.ask("pingall"), at.log("config.log")
        console.ask("sh python3 -u collector/receive_int.py --s 3 > /tmp/collector.log 2>&1 &")
        console.ask("h3 python3 -u receive.py > /tmp/h3.log 2>&1 &")
        for log, word in (("collector", "Attente"), ("h3", "sniffing")):
            console.ask(f"sh timeout 60 sh -c 'until grep -q {word} /tmp/{log}.log; do sleep 0.2; done'")
        console.ask("sh sleep 1")
        console.ask("h1 python3 send.py --ip 10.0.3.3 --l4 udp --port 55555 --m telemetry --c 3")
        report = at.folder / "collector" / "export.csv"
        console.ask(f"sh timeout 60 sh -c 'until [ $(grep -c HOP_LATENCY {report}) -ge 6 ]; do sleep 0.2; done'")
        lines = [line.split(",")[1:] for line in report.read_text().splitlines()]
        assert [line[1] for line in lines if line[0] == "node_id"] == ["2", "1"] * 3, at.log("collector.log")
        # The text without what was added, in bytes: the lab's sums of lengths are off, so scapy splits it.
        assert at.log("h3.log").count("74 65 6C 65 6D 65") == 3, at.log("h3.log")
        console.end()
