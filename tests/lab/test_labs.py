"""Labs with real packets: what forwards, what survives a kill, what is left behind."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from p4cc.lab.agents import run_agents
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.lab.processes import events
from p4cc.lab.report import LabReport
from p4cc.lab.run import Lab, LabOptions, clean, open_lab, run_lab
from p4cc.lab.state import bears, processes
from p4cc.lab.switches import kind_named, own_program
from tests.lab.ports import GRPC, THRIFT

FILES = Path(__file__).parent / "files"
SCENARIO = Path(__file__).parents[2] / "experiments" / "lab" / "incast.yaml"
CYCLES = int(os.environ.get("P4CC_LAB_CYCLES", "2"))
"""Starts and stops in a row; 50 for the figure in docs/how-to/lab.md."""


def imported(kind: str) -> LabRequest:
    return LabRequest(
        str(FILES / "topology.json"),
        is_import=True,
        switch=kind,
        programs=(str(FILES / "route.p4"),),
        grpc_base=GRPC,
        thrift_base=THRIFT,
    )


def star(kind: str) -> LabRequest:
    overrides = ("topology.senders=2", "topology.rtt_ns=4000000")
    return LabRequest(str(SCENARIO), switch=kind, overrides=overrides, grpc_base=GRPC, thrift_base=THRIFT)


def options(folder: Path, *commands: str) -> LabOptions:
    return LabOptions(folder, cli=False, commands=commands, say=lambda _: None)


def interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").glob("p4cc*")}


def namespaces() -> set[str]:
    """Network namespaces that a process is in."""
    found: set[str] = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):  # The process has ended meanwhile.
            found.add(str(path.readlink()))
    return found


def assert_nothing_is_left(before: tuple[set[str], set[str]]) -> None:
    """No interface is left, and no namespace once those that others make for a moment have gone."""
    assert interfaces() == before[0]
    wait_for("no namespace is left", lambda: namespaces() <= before[1], patience_s=10.0)


@contextlib.contextmanager
def started(words: list[str]) -> Generator[subprocess.Popen[str]]:
    """A lab in a process of its own, which a test that fails does not leave behind."""
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True) as lab:
        try:
            yield lab
        finally:
            if lab.poll() is None:
                lab.terminate()


def wait_for(what: str, happened: Any, patience_s: float = 30.0) -> None:
    deadline = time.monotonic() + patience_s
    while not happened():
        assert time.monotonic() < deadline, f"{what} within {patience_s} s"
        time.sleep(0.05)


def test_an_imported_lab_forwards_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    before = (interfaces(), namespaces())
    report = run_lab(
        imported(kind),
        options(
            tmp_path / "lab",
            "h1 ping -c 3 -i 0.2 -W 2 10.7.2.2",
            # By ARP, over the multicast group.
            "h3 ping -c 1 -W 2 10.7.1.1",
            "h1 cat /proc/sys/net/ipv6/conf/eth0/disable_ipv6",
            "h1 ethtool -k eth0",
        ),
    )
    assert report.ok, report
    assert report.commands[2]["output"].strip() == "1"
    offloads = report.commands[3]["output"]
    for name in ("rx-checksumming", "tx-checksumming", "tcp-segmentation-offload", "generic-receive-offload"):
        assert f"{name}: off" in offloads
    assert [entry.get("pipeline_pushed") for entry in report.switches] == [True, True]
    for switch in ("s1", "s2"):
        path = tmp_path / "lab" / "logs" / f"{switch}-p4runtime-requests.jsonl"
        sent = [json.loads(line)["request"] for line in path.read_text().splitlines()]
        assert {"StreamMessageRequest", "SetForwardingPipelineConfigRequest", "WriteRequest"} <= set(sent)
    assert (tmp_path / "lab" / "logs" / "s2-commands.txt").is_file(), "what is not P4Runtime's went over Thrift"
    pcaps = {path.name: path.stat().st_size for path in (tmp_path / "lab" / "pcaps").iterdir()}
    assert pcaps["p4cc-s1-7_out.pcap"] > 24
    assert_nothing_is_left(before)


def test_lines_are_the_shells_and_hosts_have_names(own: str, tmp_path: Path) -> None:
    lines = (
        "h1 iperf3 -s & iperf3 -s -D -p 5202; sleep 0.3",
        "h2 iperf3 -c h1 -n 20K -b 1M && iperf3 -c h1 -p 5202 -n 20K -b 1M >/dev/null && echo both",
        # A host's name is a command too; what follows runs there.
        "h3 ping -c 1 -W 2 h1 | tail -2; h1 sh -c 'getent hosts h3; hostname -I'",
        "h1 for n in 2 3; do echo $n; done | tac; exit 7",
        "h1 sleep 60",
    )
    before = (interfaces(), namespaces())
    with open_lab(imported(own), options(tmp_path / "lab", *lines), kind_named(own)) as lab:
        for line in lab.lines[:-1]:
            lab.shells.run(line)
        lab.shells.run(lab.lines[-1], timeout_s=0.2)
    served, client, named, loop, late = lab.report.commands
    assert [command["status"] for command in lab.report.commands] == [0, 0, 0, 7, None], lab.report.commands
    assert "Accepted connection from 10.7.2.2" in served["output"], "what went on in the background is in the log"
    assert client["output"].endswith("both\n")
    assert "10.7.1.1" in client["output"]
    assert "1 packets transmitted, 1 received" in named["output"]
    assert "h3" in named["output"]
    assert named["output"].endswith("10.7.1.1 \n"), "in h1, not in h3"
    assert loop["output"] == "3\n2\n"
    assert late["output"] == "not finished within 0.2 s\n"
    assert not lab.report.ok
    assert (tmp_path / "lab" / loop["log"]).read_text() == loop["output"]
    assert_nothing_is_left(before)


def test_what_runs_is_said_before_the_prompt_and_kept(own: str, tmp_path: Path) -> None:
    exercises = [tmp_path / name / "pod-topo" for name in ("basic", "ecn")]
    words = [word for word in command_line(own, tmp_path, "h1 ping -c 1 -W 2 h2") if word != "--no-cli"]
    del words[words.index("--out") : words.index("--out") + 2]
    printed: list[str] = []
    for exercise in exercises:
        shutil.copytree(FILES, exercise)
        words[words.index("--import") + 1] = str(exercise / "topology.json")
        done = subprocess.run(words, cwd=tmp_path, input="exit\n", capture_output=True, text=True, check=True)
        printed.append(done.stdout)
    folders = sorted((tmp_path / "results" / "lab").iterdir())
    assert [folder.name.split("-")[0] for folder in folders] == ["basic", "ecn"], "each exercise has its own"
    above, _, below = printed[-1].partition("hosts h1")
    rows = {line.split()[1]: line for line in above.splitlines() if ".log" in line}
    for number, (switch, line) in enumerate(rows.items(), start=0):
        shown = (switch, "route.p4", f"127.0.0.1:{GRPC + number}", f"{THRIFT + number}", f"logs/{switch}.log")
        assert all(part in line for part in shown)
        assert len(line) <= 80
    assert list(rows) == ["s1", "s2"]
    program = FILES / "route.p4"
    sha256 = hashlib.sha256(program.read_bytes()).hexdigest()
    assert f"{program}\n  SHA-256 {sha256}" in above
    assert " 0% packet loss" in below
    for folder in folders:
        kept = json.loads((folder / "lab.json").read_text())
        assert kept["ended"] == "done"
        assert [entry["program"]["sha256"] for entry in kept["switches"]] == [sha256] * 2
        for entry in kept["switches"]:
            assert (folder / entry["log"]).stat().st_size > 0
            pushed = (folder / entry["program"]["pushed"]).read_bytes()
            assert hashlib.sha256(pushed).hexdigest() == entry["program"]["pushed_sha256"]
        (command,) = kept["commands"]
        assert (folder / command["log"]).read_text() == command["output"]


def test_ctrl_c_ends_background_jobs_too(own: str, tmp_path: Path, lab_state: Path) -> None:
    before = (interfaces(), namespaces())
    marks = [f"{os.getpid()}7{number}" for number in range(3)]
    # Neither of the first two bears the lab's token; the second does not end when it is asked to.
    stubborn = f"env -i sh -c 'trap : TERM; while :; do sleep 0.1; done' {marks[1]}"
    jobs = f"env -i sleep {marks[0]} & {stubborn} & sleep {marks[2]}"
    # A shell starts its background jobs, and so perhaps this test, with Ctrl-C ignored.
    with started(["env", "--default-signal=INT", *command_line(own, tmp_path, f"h1 {jobs}")]) as lab:
        wait_for("the jobs run", lambda: sorted(running(*marks)) == marks)
        lab.send_signal(signal.SIGINT)
        time.sleep(0.3)
        # Whoever is impatient presses it again: the lab is taken down all the same.
        lab.send_signal(signal.SIGINT)
        output, _ = lab.communicate(timeout=60)
    assert lab.returncode == 130
    assert "the lab was taken down" in output
    assert running(*marks) == []
    assert list(lab_state.glob("*.json")) == []
    assert_nothing_is_left(before)
    kept = json.loads((tmp_path / "lab.json").read_text())
    assert kept["ended"] == "interrupted"
    assert [entry["switch"] for entry in kept["switches"]] == ["s1", "s2"]


def test_a_scenarios_lab_has_its_rtt_and_stays_planned_when_things_are_killed(own: str, tmp_path: Path) -> None:
    with open_lab(star(own), options(tmp_path), kind_named(own)) as lab:
        (rtt_ms,) = ping(lab, "h1", "10.0.0.3", count=5)[1:2]
        assert 4.0 <= rtt_ms < 14.0, "two ways of twice 1 ms, and what a busy machine adds"
        log = tmp_path / "logs" / "controller.log"
        lost: list[float] = []
        pings = threading.Thread(target=lambda: lost.append(ping(lab, "h1", "10.0.0.3", count=100)[0]))
        pings.start()
        kill(lab, "controller")
        wait_for("the controller is back", lambda: installed(log) == 2)
        pings.join()
        assert lost == [0.0], "a controller that comes back takes nothing away"
        assert events(log)[-1] == {"event": "installed", "switch": "s1", "pushed": False, "updates": 0}
        kill(lab, "s1")
        wait_for("the switch holds everything again", lambda: installed(log) == 3)
        assert ping(lab, "h1", "10.0.0.3", count=3)[0] == 0.0
        assert lab.supervisor.restarts == ["controller", "s1"]
    assert interfaces() == set()


def flows(kind: str, *more: str) -> LabRequest:
    changes = (
        "topology.senders=3",
        "switch.thresholds.k_rule=fixed",
        "switch.thresholds.k_pkts=5",
        "switch.thresholds.k_dc_pkts=20",
        "topology.rtt_ns=4000000",
        "traffic.sru_bytes=100000",
        "stop_ns=4000000000",
        *more,
    )
    return LabRequest(str(SCENARIO), switch=kind, overrides=changes, grpc_base=GRPC, thrift_base=THRIFT)


def test_the_plan_says_that_no_switch_watches_its_queues() -> None:
    def told(buffer: str) -> list[str]:
        return [said for said in plan_lab(flows("p4cc", f"switch.buffer={buffer}")).warnings if "watchdog" in said]

    assert told("{}") == []
    assert len(told("{watchdog: {}}")) == 1


def test_links_lose_packets_and_ports_share_a_buffer(own: str, tmp_path: Path) -> None:
    more = ("topology.loss=0.02", "switch.buffer={bytes: 60000, lossless_priorities: [], alpha_log2: -1}")
    with open_lab(flows(own, *more), options(tmp_path), kind_named(own)) as lab:
        assert not any("buffer" in said or "loss" in said for said in lab.report.warnings), "nothing of it is left out"
        # Each packet passes two links on either way.
        assert 0 < ping(lab, "h1", "10.0.0.4", count=150)[0] < 30


def test_a_scenarios_flows_run_in_a_lab(kind: str, tmp_path: Path) -> None:
    if why := missing_agent():
        pytest.skip(why)
    marked_flows(run_lab(flows(kind, "record.windows_interval_ns=5000000"), options(tmp_path)))


def test_a_program_for_tofino_runs_in_a_lab(own: str, tmp_path: Path) -> None:
    if why := missing_agent():
        pytest.skip(why)
    more = ("record.windows_interval_ns=5000000", "switch.program=p4src/tna/ecn_dual.p4")
    report = run_lab(flows(own, *more), options(tmp_path))
    marked_flows(report)
    # Installed in cells, shown in packets.
    assert {(port.k_pkts, port.k_dc_pkts) for port in report.ports} == {(5, 20)}


def marked_flows(report: LabReport) -> None:
    """Three flows ended, and each packet that the switch counted at a level came with that level's mark."""
    assert report.ok, report
    run = report.agents
    assert run is not None
    assert run.summary["flows_completed"] == 3
    # 300 kB at 50 Mb/s take 50 ms with their headers, and no
    # retransmission timeout of 200 ms is needed for them.
    assert 50e6 < (run.summary["finish_ns"] or 0) < 2e9
    assert run.flows["acked_bytes"].to_list() == [100_000] * 3
    assert run.windows["cwnd_segments"].max() > 2  # pyright: ignore[reportOperatorIssue]
    assert 1 <= (run.summary["peak_queue_pkts"] or 0) <= 210
    (bottleneck,) = [port for port in report.ports if port.peer == "aggregator"]
    assert (run.summary["marks_level1"] or 0) > 0
    assert bottleneck.level1_pkts == run.summary["marks_level1"]
    assert bottleneck.level2_pkts == run.summary["marks_level2"]


def test_an_agent_that_was_killed_is_named_and_the_others_end(own: str, tmp_path: Path) -> None:
    if why := missing_agent():
        pytest.skip(why)
    with open_lab(flows(own), options(tmp_path), kind_named(own)) as lab:

        def end_one() -> None:
            wait_for("the agent runs", lambda: "agent of h2" in lab.programs)
            kill(lab, "agent of h2")

        killer = threading.Thread(target=end_one)
        killer.start()
        assert lab.planned is not None
        run = run_agents(lab, lab.planned.spec_json)
        killer.join()
    assert run.flows.filter(run.flows["fct_ns"].is_not_null())["src"].to_list() == ["h1", "h3"]
    assert any("agent of h2 was ended by SIGKILL" in failure for failure in run.failed)


def test_an_imported_switch_that_was_killed_is_installed_again(own: str, tmp_path: Path) -> None:
    with open_lab(imported(own), options(tmp_path), kind_named(own)) as lab:
        kill(lab, "s2")
        again = tmp_path / "logs" / "controller-s2.log"
        wait_for("the switch holds everything again", lambda: installed(again) == 1)
        assert ping(lab, "h1", "10.7.2.2", count=3)[0] == 0.0


def test_the_next_start_cleans_up_after_a_lab_that_was_killed(own: str, tmp_path: Path, lab_state: Path) -> None:
    with interface("p4cc-other") as foreign:
        with started(command_line(own, tmp_path, "h1 sleep 600")) as lab:
            wait_for("the lab stands", lambda: any("sleep" in command for command in commands(lab_state)))
            with pytest.raises(UserError, match=f"process {lab.pid}"):
                clean()
            lab.kill()
        assert interfaces() > {foreign}
        assert "cleaned 1 labs" in clean()
        assert interfaces() == {foreign}
        assert commands(lab_state) == []
        assert clean() == "nothing to clean"


def test_the_command_line_reads_its_commands_and_a_signal_ends_it(own: str, tmp_path: Path) -> None:
    words = [word for word in command_line(own, tmp_path, "h1 true") if word != "--no-cli"]
    piped = subprocess.run(words, input="h1 ping -c 1 -W 2 h2\nexit\n", capture_output=True, text=True, check=True)
    # Mininet writes what its commands print to the standard error.
    assert " 0% packet loss" in piped.stderr
    with started(words) as lab:
        assert lab.stdout is not None
        assert any("hosts h1" in line for line in lab.stdout), "the command line is open"
        lab.terminate()
        output, _ = lab.communicate(timeout=60)
    assert lab.returncode == 130
    assert "the lab was taken down" in output
    assert interfaces() == set()


def test_a_switch_that_does_not_start_is_said_at_once(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del own
    broken = tmp_path / "p4cc-switch"
    broken.write_text("#!/bin/sh\necho this switch is broken\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setenv("P4CC_SWITCH", str(broken))
    started = time.monotonic()
    with pytest.raises(UserError, match=r"ended with status 2\nthis switch is broken"):
        run_lab(imported("p4cc"), options(tmp_path / "lab"))
    assert time.monotonic() - started < 20.0
    assert interfaces() == set()


def test_labs_leak_nothing(own: str, tmp_path: Path) -> None:
    before, files = (interfaces(), namespaces()), open_files()
    for _ in range(CYCLES):
        assert run_lab(imported(own), options(tmp_path, "h1 ping -c 1 -W 2 10.7.2.2")).ok
    assert_nothing_is_left(before)
    assert open_files() <= files + 2


def test_what_stands_in_the_way_is_said_before_anything_is_built(own: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no host 'h9'"):
        run_lab(imported(own), options(tmp_path, "h9 true"))
    with interface("p4cc-s1-1") as foreign:
        with pytest.raises(UserError, match="p4cc-s1-1"):
            run_lab(imported(own), options(tmp_path))
        assert interfaces() == {foreign}
    assert interfaces() == set()


def command_line(kind: str, folder: Path, command: str) -> list[str]:
    words = [sys.executable, "-m", "p4cc.cli", "lab", "--import", str(FILES / "topology.json"), "--no-cli"]
    words += ["--program", str(FILES / "route.p4"), "--grpc-port", str(GRPC), "--thrift-port", str(THRIFT)]
    return [*words, "--out", str(folder), "--switch", kind, "--run", command]


@contextlib.contextmanager
def interface(name: str) -> Generator[str]:
    """An interface with our prefix that no lab made; it must be there at the end."""
    subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", "other-end"], check=True)
    try:
        yield name
    finally:
        subprocess.run(["ip", "link", "delete", name], check=True)


def missing_agent() -> str:
    try:
        own_program("p4cc-agent")
    except UserError as error:
        return f"no flows: {error}"
    return ""


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def ping(lab: Lab, host: str, address: str, count: int) -> tuple[float, float]:
    """Share lost, and the shortest round trip in ms."""
    done = lab.run_in(host, f"ping -q -i 0.05 -W 2 -c {count} {address}")
    output = done["output"]
    lost = float(output.split("% packet loss")[0].rsplit(" ", 1)[1])
    shortest = float(output.rsplit("= ", 1)[1].split("/")[0]) if "rtt" in output else 0.0
    return lost, shortest


def kill(lab: Lab, name: str) -> None:
    process = lab.programs[name].process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)


def running(*last_words: str) -> list[str]:
    """Processes whose command ends with one of these."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_text(errors="replace").rstrip("\0").split("\0")
            found += [words[-1]] if words[-1] in last_words else []
    return found


def installed(log: Path) -> int:
    return sum(event.get("event") == "installed" for event in events(log))


def commands(state: Path) -> list[str]:
    """What runs for the labs that are written down."""
    found: list[str] = []
    for path in state.glob("*.json"):
        for pid in processes(bears(json.loads(path.read_text())["token"])):
            try:
                found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
    return found
