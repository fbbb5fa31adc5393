"""`p4cc import` of topologies and flows: a scenario that runs, or one error with tool, line and cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from p4cc.files import MAX_TEXT_BYTES
from p4cc.planning.foreign import ImportOptions, identify, import_foreign
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.command_line import BARE, p4cc
from tests.p4cc.scenario.test_read_files import CM, TABLE, TOPO
from tests.p4cc.scenarios import Ran

NS3 = "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n"
SIMAI = (
    "6 2 1 1 6 A100\n4 5\n0 4 2880Gbps 25ns 0\n1 4 2880Gbps 25ns 0\n"
    "0 5 200Gbps 1us 0\n1 5 200Gbps 1us 0\n2 5 200Gbps 1us 0\n3 5 200Gbps 1us 0\n"
)
GOAL = (
    "num_ranks 2\nrank 0 {\nl1: calc 900 cpu 0\nl2: send 50000b to 1 tag 3\nl2 requires l1\n}\n"
    "rank 1 {\nl1: recv 50000b from 0 tag 3\n}\n"
)
WORKLOAD = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 checkpoints: 0 "
    "checkpoint_initiates: 0\n1\nmlp -1 1000 ALLGATHER 40960 900 REDUCESCATTER 40960 800 ALLREDUCE 81920 100\n"
)
FLOWS = "2\n0 1 3 100 5000 2\n1 0 3 100 5000 2.000001\n"


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("a.txt", TOPO, "a topology of htsim"),
        ("a.txt", CM, "a connection matrix of htsim"),
        ("a.cm", b"", ""),
        ("a.txt", TABLE, "a table of flows"),
        ("a.txt", NS3, "a topology of HPCC's ns-3"),
        ("a.txt", NS3.replace("3 1 2", "3 1 1 2"), "a topology of ns3-datacenter"),
        ("a.txt", SIMAI, "a topology of SimAI"),
        ("a.txt", FLOWS, "a flow file of HPCC's ns-3"),
        ("a.txt", WORKLOAD, "a workload of SimAI or ASTRA-sim"),
        ("a.txt", GOAL, "a GOAL schedule (LogGOPSim, ATLAHS)"),
        ("a.txt", "TOPOLOGY_FILE mix/fat.txt\n", "a configuration of HPCC's ns-3"),
    ],
)
def test_files_are_known_by_their_text(tmp_path: Path, name: str, data: bytes | str, what: str) -> None:
    file = written(tmp_path, name, data)
    if what:
        assert identify(file).what == what
    else:
        with pytest.raises(UserError, match="the file is empty"):
            identify(file)


@pytest.mark.parametrize(
    ("name", "text", "place", "cause"),
    [
        ("a.txt", "# x\n0 0.0\n10000 0.15\n", ":2", "seems to be a distribution"),
        ("a.goal", "\nnum_ranks 8\n\nrank 0 {\n", ":5", "the block of rank 0 has no end (a GOAL schedule"),
        ("a.txt", GOAL.replace("calc 900", "calc x"), ":3", "is not an operation (a GOAL schedule"),
        ("a.bin", "num_ranks 2\0", "", "it seems to be GOAL's binary form"),
        ("a.txt", "HYBRID_TRANSFORMER model_parallel_NPU_group: 8\n52\n", ":2", "0 of the 52 layers that it promi"),
        ("a.txt", "HYBRID_DLRM\n1\n", ":1", "HYBRID_DLRM overlaps layers in an order of its own"),
        ("a.txt", WORKLOAD.replace(" all_gpus: 4", ""), ":1", "the file has no all_gpus (a workload of SimAI"),
        ("a.et", "\x08\x01", "", "does not end in .0.et (an execution trace of Chakra (ASTRA-sim))"),
        ("a.0.et", "\x08\x01", "", "message 0 goes on beyond the end of the file (an execution trace of Chakra"),
        ("a.txt", "hello\n", ":1", "'hello' begins no file that p4cc reads"),
        ("a.txt", NS3.replace("1 2 25Gbps", "1 2 25Gb"), ":4", "the rate is '25Gb' (a topology of HPCC's ns-3)"),
        ("a.txt", NS3.replace("1 2 25", "0 2 25"), "", "'h1' has 0 links (a topology of HPCC's ns-3)"),
        ("a.txt", FLOWS.replace("0 1 3", "0 1 9"), ":2", "the priority is '9' (a flow file of HPCC's ns-3)"),
        ("a.cm", CM.replace(b"size 0", b"size x").decode(), ":5", "size is 'x' (a connection matrix of htsim)"),
        ("a.topo", TOPO.replace(b"Tiers 3", b"Tiers 9").decode(), ":2", "tiers is '9' (a topology of htsim)"),
        ("a.csv", TABLE.replace(b"7000", b"-1").decode(), ":3", "size_bytes is '-1' (a table of flows)"),
        ("a.csv", TABLE.replace(b"h0", b"9" * 5_000).decode(), ":2", "src is '99"),
        ("a.txt", f"9 8 {'9' * 5_000} 1 9 A100\n0 1\n", ":1", "(a topology of SimAI)"),
        ("a.csv", "from,to\n1,2\n", ":1", "there is no column 'from', 'to' (a table of flows)"),
        ("a.txt", FLOWS, "", "a flow file of HPCC's ns-3 has no network"),
        ("a.txt", "1\n0 1 3 5000 2\n", "", "a flow file of ConWeave's ns-3 has no network"),
        ("a.cm", CM.replace(b"16", b"17").decode(), "", "no fat tree has 17 hosts, and a connection matrix"),
    ],
)
def test_what_is_not_understood_is_one_error(tmp_path: Path, name: str, text: str, place: str, cause: str) -> None:
    file = written(tmp_path, name, text)
    with pytest.raises(UserError) as caught:
        import_foreign(file, None, str)
    assert caught.value.place == f"{file}{place}"
    assert cause in caught.value.cause
    assert str(caught.value).count("\n") == 1


@pytest.mark.parametrize("name", ["x.goal", "x.0.et", "x.cm"])
def test_a_device_without_an_end_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.symlink_to("/dev/zero")
    with pytest.raises(UserError, match=f"exceeds {MAX_TEXT_BYTES} bytes"):
        import_foreign(file, None, str)


def test_names_are_sorted_by_their_numbers_whatever_digits_they_have(tmp_path: Path) -> None:
    names = ["h" + "9" * 60, "h010", "h2", "h10", "h0"]
    rows = [f"{name},to,5000,0" for name in names]
    file = written(tmp_path, "a.csv", "\n".join(["src,dst,size_bytes,start_ns", *rows]))
    made = import_foreign(file, None, str).document
    hosts: Any = made["topology"]
    order = ["h0", "h2", "h010", "h10", "h" + "9" * 60, "to"]
    assert [one["name"] for one in hosts["hosts"]] == order


@pytest.mark.parametrize("name", ["\u00b2", "h\u0663", "7"])
def test_names_that_no_network_has_are_one_error(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, "a.csv", f"src,dst,size_bytes,start_ns\n{name},h1,5000,0\n")
    with pytest.raises(UserError, match="should match pattern"):
        import_foreign(file, None, str)


def test_a_network_in_parts_is_one_error(tmp_path: Path) -> None:
    """Each GPU of a server at a switch of its own, and no switch joins them: hundreds of pairs without a path."""
    lines = ["40 8 2 8 30 A100", " ".join(str(30 + node) for node in range(10))]
    lines += [f"{host} {32 + host % 8} 200Gbps 1us 0" for host in range(30)]
    file = written(tmp_path, "a.txt", "\n".join(lines))
    with pytest.raises(UserError) as caught:
        import_foreign(file, None, str)
    assert caught.value.place == str(file)
    assert "cannot reach host 'h0', nor do 269 other pairs" in caught.value.cause
    assert str(caught.value).count("\n") == 1


def test_an_imported_matrix_runs_on_an_imported_tree(tmp_path: Path) -> None:
    written(tmp_path, "x.topo", TOPO)
    written(tmp_path, "x.cm", "Nodes 8\nConnections 2\n0->7 start 0 size 200000\n7->0 start 0 size 200000\n")
    made = p4cc("import", "x.cm", "mine.yaml", "--topology", "x.topo", folder=tmp_path, env=BARE)
    assert made.returncode == 0, made.stderr
    said = (tmp_path / "mine.yaml").read_text(encoding="utf-8")
    assert said.startswith("# x.cm, a connection matrix of htsim.\n")
    assert "file: x.topo" in said
    ran = Ran(run_scenario(RunRequest(tmp_path / "mine.yaml", out=tmp_path / "out", figures=False)))
    flows = ran.table("flows")
    assert flows.select("src", "dst").rows() == [("h0", "h7"), ("h7", "h0")]
    # 200 kB take 8 us at 200 Gb/s and 16 us at a core link of 100 Gb/s; the way takes 6 us.
    assert all(14_000 < fct < 40_000 for fct in flows["fct_ns"])


@pytest.mark.parametrize(
    ("name", "data", "topology"),
    [
        ("x.topo", TOPO, None),
        ("x.cm", CM, None),
        ("x.csv", TABLE, None),
        ("ns3.txt", NS3, None),
        ("simai.txt", SIMAI, None),
        ("flow.txt", FLOWS, NS3),
        ("x.goal", GOAL, None),
        ("x.txt", WORKLOAD, None),
        ("x.txt", WORKLOAD.replace(" all_gpus: 4", ""), TOPO),
        ("x.goal", GOAL, TOPO),
        ("x.csv", TABLE, TOPO),
    ],
)
def test_what_is_imported_is_a_scenario_that_runs(
    tmp_path: Path, name: str, data: bytes | str, topology: bytes | str | None
) -> None:
    written(tmp_path, name, data)
    named: list[str] = []
    if topology is not None:
        named = ["--topology", str(written(tmp_path, "network.txt", topology))]
    made = p4cc("import", name, "mine.yaml", *named, folder=tmp_path, env=BARE)
    assert made.returncode == 0, made.stderr
    run_scenario(RunRequest(tmp_path / "mine.yaml", out=tmp_path / "out", figures=False))


def test_an_imported_matrix_with_triggers_runs_to_its_end(tmp_path: Path) -> None:
    chain = [f"{n}->{n + 1} id {n + 1} {'start 0' if n == 0 else f'trigger {n}'} size 3000000" for n in range(15)]
    lines = [line + (f" send_done_trigger {n + 1}" if n < 14 else "") for n, line in enumerate(chain)]
    triggers = [f"trigger id {n + 1} oneshot" for n in range(14)]
    text = "\n".join(["Nodes 16", "Connections 15", "Triggers 14", *lines, *triggers])
    written(tmp_path, "x.cm", text)
    made = import_foreign(tmp_path / "x.cm", None, str)
    (tmp_path / "mine.yaml").write_text(made.text(), encoding="utf-8")
    ran = Ran(run_scenario(RunRequest(tmp_path / "mine.yaml", out=tmp_path / "out", figures=False)))
    assert ran.table("jobs").select("operations", "ended").row(0) == (15, 15)


def test_a_wrong_topology_is_named(tmp_path: Path) -> None:
    flows = written(tmp_path, "x.cm", CM)
    wrong: list[tuple[Any, str]] = [
        (written(tmp_path, "small.topo", TOPO), "x.cm needs host 15, counted from 0"),
        (flows, "is a connection matrix of htsim"),
        (written(tmp_path, "x.csv", TABLE), "is a table of flows"),
    ]
    for topology, cause in wrong:
        with pytest.raises(UserError, match=cause):
            import_foreign(flows, ImportOptions(topology), str)
    with pytest.raises(UserError, match="is for flow files"):
        import_foreign(tmp_path / "small.topo", ImportOptions(flows), str)


def test_hosts_by_rank_are_those_that_are_named(tmp_path: Path) -> None:
    goal = written(tmp_path, "x.goal", GOAL)
    written(
        tmp_path,
        "net.txt",
        NS3.replace("3 1 2", "4 1 3").replace("\n2\n", "\n3\n").replace("2 25", "3 25") + "2 3 25Gbps 1us 0\n",
    )
    made = p4cc(
        "import", "x.goal", "--topology", "net.txt", "--ranks", "h2", "--ranks", "h0", folder=tmp_path, env=BARE
    )
    assert made.returncode == 0, made.stderr
    ran = Ran(run_scenario(RunRequest(tmp_path / "x.yaml", out=tmp_path / "out", figures=False)))
    assert ran.table("flows").select("src", "dst").rows() == [("h2", "h0")]
    network = tmp_path / "net.txt"
    wrong: list[tuple[Path, ImportOptions, str]] = [
        (goal, ImportOptions(ranks=("h*",)), "names hosts of a network, and there is none"),
        (goal, ImportOptions(network, ("h1",)), r"x\.goal needs host 1, counted from 0"),
        (goal, ImportOptions(network, ("y*",)), r"--ranks: no host matches 'y\*'"),
        (goal, ImportOptions(groups=network), "is for execution traces of Chakra, and .* is a GOAL schedule"),
        (written(tmp_path, "x.csv", TABLE), ImportOptions(network, ("h1",)), "is for files of operations"),
    ]
    for file, options, cause in wrong:
        with pytest.raises(UserError, match=cause):
            import_foreign(file, options, str)
    config = written(tmp_path, "config.txt", "TOPOLOGY_FILE mix/fat.txt\n")
    for option in ("--ranks", "--groups"):
        refused = p4cc("import", str(config), option, "x.goal", folder=tmp_path, env=BARE)
        assert f"{option}: is for flow files" in refused.stderr


def test_a_workload_without_a_number_of_gpus_is_for_the_hosts_that_are_named(tmp_path: Path) -> None:
    workload = written(tmp_path, "w.txt", WORKLOAD.replace(" all_gpus: 4", ""))
    options = ImportOptions(written(tmp_path, "net.txt", SIMAI), ("h0", "h1"))
    traffic = {"kind": "simai", "file": str(workload), "ranks": ["h0", "h1"]}
    assert import_foreign(workload, options, str).document["traffic"] == traffic
