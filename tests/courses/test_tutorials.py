"""The exercises of p4lang/tutorials, by the commands of their READMEs: solutions work, skeletons fail as they should.

`P4CC_TUTORIALS` names a copy. The scripts of the exercises send by scapy, flowcache's controller needs p4runtime-shell.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.courses.console import PROMPT, Console, Course, copy_of, course, needs

REACHED = "0% dropped"


@pytest.fixture
def tutorials(tmp_path: Path) -> Course:
    """A copy to work in."""
    source = copy_of("P4CC_TUTORIALS", "the P4 tutorials")
    needs("mn", "make", "iperf", "unshare")
    return course(source, tmp_path)


def solve(at: Course, exercise: str) -> None:
    """Puts the solution in the place of the skeleton."""
    folder = at.folder / "exercises" / exercise
    for file in sorted((folder / "solution").iterdir()):
        (folder / file.name).write_bytes(file.read_bytes())
        (folder / file.name).chmod(0o755)


@contextmanager
def running(at: Course, exercise: str, *, solved: bool, words: str = "make run") -> Generator[Console]:
    """The exercise at Mininet's prompt."""
    if solved:
        solve(at, exercise)
    with at.start(*words.split(), under=f"exercises/{exercise}") as console:
        console.until(PROMPT)
        yield console


def receive(console: Console, *hosts: str) -> None:
    """Starts the exercise's receiver in hosts."""
    for host in hosts:
        console.ask(f"{host} python3 -u ./receive.py > /tmp/{host}.log 2>&1 &")
    for host in hosts:
        console.ask(f"sh timeout 60 sh -c 'until grep -q sniffing /tmp/{host}.log; do sleep 0.2; done'")
    # It says so before it does.
    console.ask("sh sleep 1")


def slow_down(console: Console) -> None:
    """Lets a queue grow at s1: the topology limits its link by the kernel's netem, which not every machine has."""
    for command in ("set_queue_depth 100", "set_queue_rate 50"):
        console.ask(f"sh echo {command} | simple_switch_CLI --thrift-port 9090")


def test_hosts_reach_each_other_with_the_solution(tutorials: Course, exercise: str, words: str) -> None:
    with running(tutorials, exercise, solved=True, words=words) as console:
        assert REACHED in console.ask("pingall")
        code, said = console.end()
    assert (code, "Traceback" in said) == (0, False), said


def test_the_skeleton_drops_all(tutorials: Course, exercise: str, words: str) -> None:
    with running(tutorials, exercise, solved=False, words=words) as console:
        assert "100% dropped" in console.ask("pingall")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Exercises of the two tests that only ping."""
    triangle = ("basic", "make run TOPO=triangle-topo/topology.json")
    solved = [(name, "make run") for name in ("basic", "basic_tunnel", "ecn", "link_monitor", "mri", "qos")]
    cases = {
        "test_hosts_reach_each_other_with_the_solution": [*solved, triangle],
        "test_the_skeleton_drops_all": [("basic", "make run"), ("multicast", "make run")],
    }
    if metafunc.function.__name__ in cases:
        metafunc.parametrize(("exercise", "words"), cases[metafunc.function.__name__])


@pytest.mark.parametrize("exercise", ["basic", "basic_tunnel"])
def test_the_packet_tests_pass(tutorials: Course, exercise: str) -> None:
    needs("ptf", "pkill")
    # Its tests write to logs/, which `make` makes; only one of the two scripts does.
    script = "make dirs && exec bash ./runptf.sh"
    code, said = tutorials.run("bash", "-c", script, under=f"exercises/{exercise}")
    assert re.search(r"Ran [1-9]\d* tests? in", said), said
    assert "\nOK\n" in said, said
    assert "FAILED" not in said, said
    # The script ends by listing what its `pkill simple_switch` has left: nothing but the search itself.
    left = [line for line in said.rpartition("Verifying")[2].splitlines() if line.rstrip().endswith("simple_switch")]
    assert (code, len(left)) == (0, 2), said


def test_basic_tunnel(tutorials: Course) -> None:
    with running(tutorials, "basic_tunnel", solved=True) as console:
        receive(console, "h2", "h3")
        console.ask("h1 ./send.py 10.0.2.2 'plain message'")
        console.ask("h1 ./send.py 10.0.3.3 --dst_id 2 'tunnelled message'")
        console.ask("sh sleep 2")
    assert "plain message" in tutorials.log("h2.log")
    assert "tunnelled message" in tutorials.log("h2.log")
    assert "tunnelled message" not in tutorials.log("h3.log")


@pytest.mark.parametrize("solved", [True, False])
def test_calc(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "calc", solved=solved) as console:
        said = console.ask(r"h1 printf '1+2\n70-23\n12&10\n12|3\n6^3\nquit\n' | python3 calc.py")
    answers = ["3", "47", "8", "15", "5"]
    assert [line for line in said.split() if line in answers] == (answers if solved else [])
    assert ("Didn't receive response" in said) != solved


@pytest.mark.parametrize("solved", [True, False])
def test_ecn(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "ecn", solved=solved) as console:
        slow_down(console)
        receive(console, "h2")
        console.ask("h22 iperf -s -u > /tmp/h22.log &")
        console.ask("h11 iperf -c 10.0.2.22 -t 12 -u > /tmp/h11.log &")
        console.ask("h1 ./send.py 10.0.2.2 'P4 is cool' 10")
    marks = re.findall(r"tos\s*= (0x\w+)", tutorials.log("h2.log"))
    assert len(marks) >= 4
    assert ("0x3" in marks) == solved, marks


@pytest.mark.parametrize("solved", [True, False])
def test_firewall(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "firewall", solved=solved) as console:
        for host in ("h1", "h2", "h3"):
            console.ask(f"{host} iperf -s > /tmp/{host}.log &")
        console.ask("sh sleep 1")
        works = {
            pair: "bits/sec"
            in console.ask(f"{pair[0]} timeout 8 iperf -t 1 -c {{}}".format(f"10.0.{pair[1]}.{pair[1]}"))
            for pair in (("h1", 2), ("h1", 3), ("h3", 1))
        }
    assert works == {("h1", 2): True, ("h1", 3): True, ("h3", 1): not solved}


@pytest.mark.parametrize("solved", [True, False])
def test_flowcache(tutorials: Course, solved: bool) -> None:
    if not solved:
        code, said = tutorials.run("make", "build", under="exercises/flowcache")
        assert (code, "flowcache.p4" in said, "error" in said) == (2, True, True), said
        return
    if find_spec("p4runtime_sh") is None:
        pytest.skip("the controller needs p4runtime-shell: pip install --no-deps p4runtime-shell ipython")
    with running(tutorials, "flowcache", solved=True) as console:
        console.ask("sh python3 -u ./mycontroller.py > /tmp/controller.log 2>&1 &")
        console.ask("sh timeout 60 sh -c 'until grep -q serializableEnumDict /tmp/controller.log; do sleep 0.2; done'")
        console.ask("sh sleep 2")
        # The controller sends packets on with the gateway's address: hosts drop the first in each direction.
        assert " 8 received" in console.ask("h1 ping -c 10 -i 0.5 -W 2 h2")
        # Idle entries are reported after 3 s; the controller deletes them after 10 s.
        console.ask("sh sleep 16")
        assert " 8 received" in console.ask("h1 ping -c 10 -i 0.5 -W 2 h2")
        console.ask("sh sleep 2")
    said = tutorials.log("controller.log")
    assert "Traceback" not in said, said
    # Both switches ask for both directions, and once more after they forgot the idle flows.
    assert said.count("Received PacketIn message") == 8, said


@pytest.mark.parametrize("solved", [True, False])
def test_link_monitor(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "link_monitor", solved=solved) as console:
        receive(console, "h1")
        console.ask("h1 ./send.py > /tmp/send.log 2>&1 &")
        console.ask("h4 iperf -s > /tmp/h4.log &")
        console.ask("h1 iperf -t 6 -c 10.0.4.4")
    rates = [float(rate) for rate in re.findall(r"Port \d+: ([\d.]+) Mbps", tutorials.log("h1.log"))]
    assert (max(rates, default=0) > 1) == solved, rates


@pytest.mark.parametrize("solved", [True, False])
def test_load_balance(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "load_balance", solved=solved) as console:
        receive(console, "h2", "h3")
        for number in range(16):
            console.ask(f"h1 ./send.py 10.0.0.1 'message {number:02}'")
        console.ask("sh sleep 2")
    got = [len(set(re.findall(r"message \d\d", tutorials.log(f"{host}.log")))) for host in ("h2", "h3")]
    if solved:
        assert sum(got) == 16, got
        assert min(got) >= 2, got
    else:
        assert got == [16, 0]


@pytest.mark.parametrize("solved", [True, False])
def test_mri(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "mri", solved=solved) as console:
        slow_down(console)
        receive(console, "h2")
        console.ask("h22 iperf -s -u > /tmp/h22.log &")
        console.ask("h11 iperf -c 10.0.2.22 -t 10 -u > /tmp/h11.log &")
        console.ask("h1 ./send.py 10.0.2.2 'P4 is cool' 8")
    log = tutorials.log("h2.log")
    assert set(re.findall(r"swid\s*= (\d+)", log)) == ({"1", "2"} if solved else set()), log
    queues = [int(depth) for depth in re.findall(r"qdepth\s*= (\d+)", log)]
    assert (max(queues, default=0) > 0) == solved, queues


def test_multicast(tutorials: Course) -> None:
    folder = tutorials.folder / "exercises/multicast"
    with running(tutorials, "multicast", solved=True) as console:
        said = console.ask("pingall")
    # The exercise's group has no port 4, so nobody's ARP request reaches h4; h4's own find all.
    lines = [line.strip() for line in said.splitlines() if "->" in line]
    assert lines == ["h1 -> h2 h3 X", "h2 -> h1 h3 X", "h3 -> h1 h2 X", "h4 -> h1 h2 h3"]
    (folder / "sig-topo/s1-runtime.json").write_bytes((folder / "solution/s1-runtime.json").read_bytes())
    with running(tutorials, "multicast", solved=True) as console:
        assert REACHED in console.ask("pingall")


@pytest.mark.parametrize("solved", [True, False])
def test_p4runtime(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "p4runtime", solved=solved) as console:
        console.ask("sh python3 -u ./mycontroller.py > /tmp/controller.log 2>&1 &")
        console.ask("sh timeout 60 sh -c 'until grep -q Reading /tmp/controller.log; do sleep 0.2; done'")
        said = console.ask("h1 ping -c 5 -i 0.5 -W 2 h2")
        console.ask("sh sleep 4")
    assert (", 0% packet loss" in said) == solved
    log = tutorials.log("controller.log")
    assert "Installed P4 Program using SetForwardingPipelineConfig on s2" in log, log
    assert ("egressTunnelCounter 200: 5 packets" in log) == solved, log


@pytest.mark.parametrize("solved", [True, False])
def test_qos(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "qos", solved=solved) as console:
        receive(console, "h2")
        for protocol in ("UDP", "TCP"):
            console.ask(f"h1 ./send.py --p={protocol} --des=10.0.2.2 --m='P4 is cool' --dur=2")
        console.ask("sh sleep 2")
    marks = set(re.findall(r"tos\s*= (0x\w+)", tutorials.log("h2.log")))
    assert (marks >= {"0xb9", "0xb1"}, "0x1" in marks) == (solved, not solved)


@pytest.mark.parametrize("solved", [True, False])
def test_source_routing(tutorials: Course, solved: bool) -> None:
    with running(tutorials, "source_routing", solved=solved) as console:
        receive(console, "h2")
        console.ask(r"h1 printf '2 3 2 2 1\nq\n' | ./send.py 10.0.2.2")
        console.ask("sh sleep 2")
    assert ("ttl       = 59" in tutorials.log("h2.log")) == solved
